"""The user's own TensorFlow ops: functions over elements, traced once and then called per replica.

A `Mapper` turns the flat arrays of a slice into the flat tensors of the element that the user gets: it composes the
element, applies the functions one after another, and flattens the result. The trace is shared by all replicas, by the
eager way, by graphs and by tf.data.
"""

import inspect

import tensorflow as tf

from .errors import ArgumentError

_autograph = tf.__internal__.autograph


class MapFunction:
    """One function, with how it wants to be called (as tf.data's map does: tuples are spread over the arguments)."""

    def __init__(self, function):
        if not callable(function):
            raise ArgumentError(f"map: {function!r} is no function")
        # Python's `if` and `for` over tensors become ops, as in tf.data; only the user's own function needs that.
        self._function = _autograph.tf_convert(function, _autograph.control_status_ctx())
        self.takes_seed = _takes_seed(function)

    def __call__(self, element, seed):
        arguments = element if isinstance(element, tuple) else (element,)
        return self._function(*arguments, seed=seed) if self.takes_seed else self._function(*arguments)


class Mapper:
    """The functions of a dataset over elements of one spec.

    `parts` slices go in at once: 1 when rows are independent, the number of replicas when a function mixes rows. It then
    sees the rows of all slices as one batch; with `share` the result is shared out as the rows were, one element a slice.
    """

    def __init__(self, elements, functions, parts=1, share=True):
        self._elements = elements
        self._functions = [MapFunction(function) for function in functions]
        self._parts = parts
        self._share = share and parts > 1
        self.spec = None  # of one element that comes out; known from the trace
        self.takes_seed = any(function.takes_seed for function in self._functions)
        specs = [spec for _ in range(parts) for spec in elements.flat_specs]
        traced = tf.function(self._trace, input_signature=[*specs, tf.TensorSpec([2], tf.int32)], autograph=False)
        self._concrete = traced.get_concrete_function()
        self._output_dtypes = [output.dtype for output in self._concrete.outputs]
        self.has_composites = any(not isinstance(spec, tf.TensorSpec) for spec in tf.nest.flatten(self.spec))

    def __call__(self, arrays, seed):
        """The elements from the flat arrays of all parts, one after another: one list of flat tensors an element."""
        if tf.executing_eagerly():
            # The op behind the call: a third of the CPU time of calling the function, which binds and checks each argument.
            captured = self._concrete.captured_inputs
            flat = tf.raw_ops.StatefulPartitionedCall(
                args=[*arrays, seed, *captured], Tout=self._output_dtypes, f=self._concrete
            )
        else:
            flat = self._concrete(*arrays, seed)
        if not self._share:
            return [flat]
        count = len(flat) // self._parts
        return [flat[at : at + count] for at in range(0, len(flat), count)]

    def pack(self, flat):
        """The element from its flat tensors."""
        return tf.nest.pack_sequence_as(self.spec, flat, expand_composites=True)

    def _trace(self, *arrays_and_seed):
        *arrays, seed = arrays_and_seed
        count = len(self._elements.flat_specs)
        parts = [self._elements.compose(arrays[p * count : (p + 1) * count]) for p in range(self._parts)]
        element = parts[0] if self._parts == 1 else _join(parts)
        for place, function in enumerate(self._functions):
            element = function(element, seed if place == 0 else tf.random.experimental.stateless_fold_in(seed, place))
        element = tf.nest.map_structure(_as_tensor, element)
        results = _share(element, parts) if self._share else [element]
        self.spec = tf.nest.map_structure(tf.type_spec_from_value, results[0])
        return tf.nest.flatten(results, expand_composites=True)


def _takes_seed(function):
    try:
        return "seed" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _as_tensor(value):
    if isinstance(value, (tf.Tensor, tf.RaggedTensor, tf.SparseTensor)):
        return value
    return tf.convert_to_tensor(value)


def _rows(tensor):
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.nrows(tf.int64)
    if isinstance(tensor, tf.SparseTensor):
        return tensor.dense_shape[0]
    return tf.shape(tensor, tf.int64)[0]


def _join(elements):
    """The rows of several elements as one."""

    def join(*tensors):
        if isinstance(tensors[0], tf.SparseTensor):
            return tf.sparse.concat(0, list(tensors), expand_nonconcat_dims=True)
        return tf.concat(list(tensors), 0)

    return tf.nest.map_structure(join, *elements)


def _share(element, parts):
    """Rows of `element` in shares as large as those of `parts`."""
    sizes = [_rows(tf.nest.flatten(part)[0]) for part in parts]
    ends = tf.cumsum(tf.stack(sizes))
    shares = []
    for place, size in enumerate(sizes):
        end = ends[place]
        shares.append(tf.nest.map_structure(lambda tensor: _cut(tensor, end - size, size), element))
    return shares


def _cut(tensor, begin, size):
    if isinstance(tensor, tf.SparseTensor):
        rank = tensor.dense_shape.shape[0]
        start = tf.concat([[begin], tf.zeros([rank - 1], tf.int64)], 0)
        return tf.sparse.slice(tensor, start, tf.concat([[size], tensor.dense_shape[1:]], 0))
    return tensor[begin : begin + size]
