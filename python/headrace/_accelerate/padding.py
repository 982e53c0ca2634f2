"""Results of different lengths: rows of ragged tensors, which padded_batch makes dense."""

import tensorflow as tf


def row_spec(plan):
    """The spec of what one record gives, as tf.map_fn collects it: ragged where its length may vary under padded_batch."""
    if plan.batch.op != "PaddedBatch":
        return plan.sample_spec

    def ragged(spec):
        if spec.shape.rank is None or spec.shape.is_fully_defined():
            return spec
        last = max(axis for axis, size in enumerate(spec.shape) if size is None)
        return tf.RaggedTensorSpec(spec.shape, spec.dtype, ragged_rank=last, row_splits_dtype=tf.int64)

    return tf.nest.map_structure(ragged, plan.sample_spec)


def as_row(spec, value):
    """A result of one record in the form of its row_spec."""
    if isinstance(spec, tf.RaggedTensorSpec) and spec.ragged_rank > 0 and isinstance(value, tf.Tensor):
        return tf.RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank, row_splits_dtype=tf.int64)
    return value


def flat_batch(plan, leaves):
    """The flat components of a batch's spec from one tensor for each leaf, ragged where rows vary."""
    if plan.batch.op == "PaddedBatch":
        given = plan.batch.arguments
        return [_padded(*each) for each in zip(leaves, given["padded_shapes"], given["padding_values"], strict=True)]
    flat = []
    for leaf, spec in zip(leaves, tf.nest.flatten(plan.batch.spec), strict=True):
        if isinstance(spec, tf.RaggedTensorSpec):
            leaf = leaf.with_row_splits_dtype(spec.row_splits_dtype)
        flat += tf.nest.flatten(leaf, expand_composites=True)
    return flat


def _padded(tensor, shape, value):
    """Padded with `value` to `shape`, -1 in it for the longest of the batch. Longer ones are an error, as in tf.data."""
    if isinstance(tensor, tf.RaggedTensor):
        sizes = tensor.bounding_shape(out_type=tf.int64)[1:]
    else:
        sizes = tf.shape(tensor, tf.int64)[1:]
    wanted = tf.constant(shape, tf.int64)
    message = "padded_batch: a record is longer than its padded_shapes"
    with tf.control_dependencies([tf.debugging.assert_equal(tf.reduce_all((wanted < 0) | (sizes <= wanted)), True, message)]):
        wanted = tf.where(wanted < 0, sizes, wanted)
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.to_tensor(default_value=tf.constant(value, tensor.dtype), shape=tf.concat([[-1], wanted], 0))
    behind = tf.concat([[0], wanted - sizes], 0)
    return tf.pad(tensor, tf.stack([tf.zeros_like(behind), behind], 1), constant_values=tf.constant(value, tensor.dtype))
