"""Whether columns hold what TensorFlow's tensors hold, bit for bit."""

import numpy as np
import tensorflow as tf

from headrace.interchange import sparse_arrays


def assert_same_columns(ours, theirs):
    """Two dicts: the same names, the same values."""
    assert set(ours) == set(theirs)
    for name, column in ours.items():
        assert_same(column, theirs[name])


def assert_same(column, tensor):
    if isinstance(tensor, tf.SparseTensor):
        for found, wanted in zip(sparse_arrays(column), (tensor.indices, tensor.values, tensor.dense_shape)):
            assert_same_array(found, wanted.numpy())
    elif isinstance(tensor, tf.RaggedTensor):
        splits = [part.numpy() for part in column.nested_row_splits]
        wanted = [part.numpy().astype(np.int64) for part in tensor.nested_row_splits]
        assert [part.tolist() for part in splits] == [part.tolist() for part in wanted]
        assert_same_array(column.flat_values.numpy(), tensor.flat_values.numpy())
    else:
        assert_same_array(column.numpy(), tensor.numpy())


def assert_same_array(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if found.dtype == object:
        assert found.tolist() == wanted.tolist()
    else:
        np.testing.assert_array_equal(np.ascontiguousarray(found).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8))
