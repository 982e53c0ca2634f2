"""The tf.data route: a real tf.data.Dataset around the native op, without Python in the loop.

Every iterator of it opens a pipeline of its own in the engine (`HeadraceOpen`) and closes it when TensorFlow drops the
iterator (`HeadraceClose`). Where the op does not load, a Python generator does the same more slowly.
"""

import atexit

import tensorflow as tf

from . import _core, _tf_ops
from ._tf_elements import Elements
from ._tf_map import Mapper, MapFunction
from ._tf_recipe import batch_size, shuffle_seed
from .errors import ArgumentError
from .zipped import structures_of

# What is traced here has no control flow over tensors; to look for it took a second of the first dataset's making.
_as_written = tf.autograph.experimental.do_not_convert

# A dataset lives on in graphs and iterators that hold no Python reference, so what it opens from stays for good: a few
# hundred bytes each.
_sources = []


@atexit.register
def _close_all():
    _core.close_tensorflow_sources()


def make_dataset(dataset, structure, functions):
    """A tf.data.Dataset of global batches of a headrace Dataset."""
    replicas = dataset.replicas
    size, whole = batch_size(dataset)
    elements = Elements(dataset, structure, size // replicas if whole else None)
    mapper = None
    if functions or elements.has_weights or replicas > 1:
        mapper = Mapper(elements, functions, parts=replicas, share=False)
    build = _from_op if _tf_ops.load() is not None else _from_generator
    made = build(dataset, elements, mapper, replicas)
    batches = dataset._core.cardinality()
    if batches is None:
        return made
    return made.apply(tf.data.experimental.assert_cardinality(batches))


def make_zipped(zipped, structure, function):
    """A tf.data.Dataset of tuples of the global batches of a ZippedDataset; `function` is None or one of all of a tuple."""
    parts = []
    for part, own in zip(zipped.datasets, structures_of(structure, len(zipped.datasets))):
        part.refuse_cuda("dataset")
        parts.append(make_dataset(part, own, ()))
    made = tf.data.Dataset.zip(tuple(parts))
    if function is None:
        return made
    mapped = MapFunction(function)
    if mapped.takes_seed:
        raise ArgumentError("map: a function of zipped datasets takes no seed, for each has one of its own")
    return made.map(lambda *parts: mapped(parts, None))


def _finish(elements, mapper, arrays, seed):
    """The element from the flat arrays of all replicas, one after another."""
    if mapper is None:
        return elements.compose(arrays)
    return mapper.pack(mapper(arrays, seed)[0])


def _from_op(dataset, elements, mapper, replicas):
    from tensorflow.python.data.ops import from_generator_op

    ops = _tf_ops.load()
    source = _core.tensorflow_dataset_source(dataset._core, elements.plan)
    _sources.append(source)

    @_as_written
    def open_pipeline(address):
        return ops.headrace_open(dataset=address)

    @_as_written
    def next_element(opened):
        taken = [
            _tf_ops.next_arrays(opened, tf.constant(replica, tf.int64), elements.flat_specs) for replica in range(replicas)
        ]
        return _finish(elements, mapper, [array for _, arrays in taken for array in arrays], taken[0][0])

    @_as_written
    def close_pipeline(opened):
        return ops.headrace_close(source=opened)

    spec = mapper.spec if mapper is not None else elements.spec()
    address = tf.constant(source.address, tf.int64)
    return from_generator_op._GeneratorDataset(address, open_pipeline, next_element, close_pipeline, spec)


def _from_generator(dataset, elements, mapper, replicas):
    seed_spec = tf.TensorSpec([2], tf.int32)
    seed = shuffle_seed(dataset)

    def generate():
        with iter(dataset) as batches:
            for batch in batches:
                arrays = [array for part in batch.replicas for array in elements.host_arrays(part)]
                yield (*arrays, _core.tensorflow_seed(seed, batch.epoch, batch.number, 0))

    specs = [spec for _ in range(replicas) for spec in elements.flat_specs]
    flat = tf.data.Dataset.from_generator(generate, output_signature=(*specs, seed_spec))
    finish = _as_written(lambda *arrays: _finish(elements, mapper, list(arrays[:-1]), arrays[-1]))
    return flat.map(finish).prefetch(1)

