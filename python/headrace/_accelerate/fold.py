"""Ops on the values of a column that the engine's parser does with the same result: they become its transforms."""

import tensorflow as tf

from .. import transforms
from . import graph

# Bits of the largest value.
_INTEGERS = {
    **{tf.bool: 1, tf.uint8: 8, tf.uint16: 16, tf.uint32: 32, tf.uint64: 64},
    **{tf.int8: 7, tf.int16: 15, tf.int32: 31, tf.int64: 63},
}
_FLOATS = (tf.float32, tf.float64)


def densify(part, column):
    """Turns a sparse column that is only made dense into a dense one: padded in a batch, the values of one record."""
    if column.parsed.kind != "var" or column.parsed.in_list:
        return
    readers = [part.users.of(ref) for ref in column.parts.values()]
    node = readers[0][0] if readers[0] else None
    if node is None or node.op != "SparseToDense" or any(others != [node] for others in readers):
        return
    refs = [graph.key(ref) for ref in graph.data_inputs(node)]
    default = graph.constant(part.graph_def, refs[3])
    if refs[:3] != [column.parts[name] for name in ("indices", "shape", "values")] or default is None or default.ndim:
        return
    if any(graph.key(ref) in part.outputs for ref in refs):
        return
    column.parts = {"dense": graph.key(node.name)}
    column.parsed.default = default


def fold(part, column):
    """Moves the ops behind the column, as far as each has a single reader and is exact, into its transforms."""
    if column.parsed.in_list:
        return
    place = "dense" if "dense" in column.parts else "values"
    dtype = column.decode.dtype if column.decode is not None else column.parsed.dtype
    folded = []
    while True:
        ref = column.parts[place]
        user = part.users.only(ref, part.outputs)
        found = None if user is None else _transform(part, user, ref, dtype, _row_shape(part, column, ref), place == "dense")
        if found is None:
            break
        folded.append(found)
        column.parts = {**column.parts, place: graph.key(user.name)}
        if user.op == "OneHot":  # the last of a list
            break
        dtype = _result_dtype(user, dtype)
    column.transforms = _merged(folded)


def _row_shape(part, column, ref):
    """Static dimensions of one row, None when not known."""
    shape = graph.static_shape(graph.nodes_of(part.graph_def)[graph.name(ref)], int(ref.split(":")[1]))
    return None if shape is None else shape[1:] if column.batched else shape


def _result_dtype(node, dtype):
    if node.op == "Cast":
        return tf.as_dtype(node.attr["DstT"].type)
    return tf.int64 if node.op == "StringToHashBucketFast" else dtype


def _transform(part, node, ref, dtype, row_shape, dense):
    """The Transform that does what `node` does to the tensor `ref`, or None."""
    if node.op == "Cast":
        target = tf.as_dtype(node.attr["DstT"].type)
        return transforms.cast(target.name) if _fits_always(dtype, target) else None
    if node.op == "StringToHashBucketFast":
        return transforms.hash_bucket(node.attr["num_buckets"].i)
    if node.op == "OneHot":
        return _one_hot(part, node, ref, dtype) if dense else None
    if node.op in ("RealDiv", "Mul", "Sub", "AddV2") and dtype in _FLOATS:
        return _arithmetic(part, node, ref, row_shape)
    if node.op == "FloorMod" and dtype in (tf.int32, tf.int64) and graph.key(node.input[0]) == ref:
        number = graph.constant(part.graph_def, node.input[1])
        return transforms.mod(int(number)) if number is not None and number.ndim == 0 and number > 0 else None
    return None


def _fits_always(source, target):
    """Whether every value has its place in the other type, so that tf.cast and the engine agree."""
    if target in _FLOATS:
        return source in _INTEGERS or source in (tf.float16, tf.bfloat16) or (source, target) == (tf.float32, tf.float64)
    if source not in _INTEGERS or target not in _INTEGERS or target == tf.bool:
        return False
    signed = not source.is_unsigned and source != tf.bool
    return _INTEGERS[source] <= _INTEGERS[target] and not (signed and target.is_unsigned)


def _one_hot(part, node, ref, dtype):
    depth, on, off = (graph.constant(part.graph_def, other) for other in node.input[1:])
    known = depth is not None and on is not None and off is not None
    if not known or graph.key(node.input[0]) != ref or node.attr["axis"].i != -1 or dtype not in _INTEGERS or dtype == tf.bool:
        return None
    result = tf.as_dtype(node.attr["T"].type)
    if int(depth) < 1 or result not in (*_FLOATS, *_INTEGERS) or on != 1 or off != 0:
        return None
    return transforms.one_hot(int(depth), result.name)


def _arithmetic(part, node, ref, row_shape):
    left, right = (graph.key(other) for other in graph.data_inputs(node))
    if left == right or (right == ref and node.op in ("RealDiv", "Sub")):
        return None
    value = graph.constant(part.graph_def, right if left == ref else left)
    if value is None or not _is_per_channel(value, row_shape):
        return None
    numbers = value.ravel().tolist()
    makers = {
        "RealDiv": lambda: transforms.normalize(0.0, numbers),
        "Sub": lambda: transforms.normalize(numbers, 1.0),
        "Mul": lambda: transforms.scale(numbers, 0.0),
        "AddV2": lambda: transforms.scale(1.0, numbers),
    }
    return makers[node.op]()


def _is_per_channel(value, row_shape):
    """Whether broadcasting the constant gives every place of the last dimension one number, and no other shape."""
    if value.ndim == 0:
        return True
    if row_shape is None or value.ndim > len(row_shape) or value.size != value.shape[-1]:
        return False
    return value.shape[-1] in (1, row_shape[-1]) and row_shape[-1] > 0


def _merged(folded):
    """Pairs that one transform does: a product and a sum, a difference and a quotient."""
    made = []
    for transform in folded:
        before = dict(made[-1].arguments) if made else {}
        now = dict(transform.arguments)
        if made and made[-1].name == transform.name == "scale" and before["add"] == (0.0,) and now["mul"] == (1.0,):
            made[-1] = transforms.scale(before["mul"], now["add"])
        elif made and made[-1].name == transform.name == "normalize" and before["std"] == (1.0,) and now["mean"] == (0.0,):
            made[-1] = transforms.normalize(before["mean"], now["std"])
        else:
            made.append(transform)
    return made
