"""Delivery inside a tf.function: next() becomes ops of the graph, without Python in the loop."""

import tensorflow as tf
from tensorflow.python.distribute import values

from . import _core, _tf_ops, status_line


class GraphFeed:
    """Delivery inside tf.function: the native op once per replica, and the mapped function behind it."""

    def __init__(self, recipe, position):
        if _tf_ops.load() is None:
            raise RuntimeError("next() inside a tf.function needs the native op; call it outside and pass the batch")
        self._recipe = recipe
        self.pipeline = recipe.open(position)
        self._source = _core.tensorflow_source(self.pipeline, recipe.elements.plan)
        self._last = {}  # graph -> the ops emitted last, so that two next() in one function keep their order

    def emit(self):
        graph = tf.compat.v1.get_default_graph()
        with tf.control_dependencies(self._last.get(graph)):
            taken = [self._next(replica) for replica in range(self._recipe.replicas)]
        self._last = {graph: [arrays[0].op for _, arrays in taken]}
        return self._element(taken)

    def close(self):
        self._source.close()
        self.pipeline.close()
        status_line.end(self.pipeline)

    def _next(self, replica):
        device = self._recipe.devices[replica]
        with tf.device(device if ":CPU:" in device.upper() else "/CPU:0"):
            source = tf.constant(self._source.address, tf.int64)
            return _tf_ops.next_arrays(source, tf.constant(replica, tf.int64), self._recipe.elements.flat_specs)

    def _element(self, taken):
        recipe = self._recipe
        mapper = recipe.mapper
        if mapper is None:
            elements = []
            for device, (_, arrays) in zip(recipe.devices, taken):
                with tf.device(device):
                    elements.append(recipe.elements.compose([tf.identity(array) for array in arrays]))
        elif recipe.dependent:
            flats = mapper([array for _, arrays in taken for array in arrays], taken[0][0])
            elements = [mapper.pack(flat) for flat in flats]
        else:
            elements = []
            for device, (seed, arrays) in zip(recipe.devices, taken):
                with tf.device("/CPU:0" if recipe.map_device == "host" else device):
                    elements += [mapper.pack(flat) for flat in mapper(arrays, seed)]
        if len(elements) == 1:
            return elements[0]
        return tf.nest.map_structure(lambda *parts: values.PerReplica(parts), *elements)
