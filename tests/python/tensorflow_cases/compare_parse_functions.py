"""parse_example, parse_single_example, parse_tensor, decode_raw beside TensorFlow's: equal values, bit for bit."""

import numpy as np
import pytest
import tensorflow as tf
from conftest import example
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
    "missing": tf.io.FixedLenFeature([2], tf.float32, default_value=[1.5, 2.5]),
    "tags": tf.io.VarLenFeature(tf.int64),
    "words": tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64),
    "scores": tf.io.RaggedFeature(tf.float32, row_splits_dtype=tf.int64),
    "columns": tf.io.RaggedFeature(
        tf.float32, "scores", [tf.io.RaggedFeature.UniformRowLength(1)], row_splits_dtype=tf.int64
    ),
    "steps": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
}
RECORDS = [example(number) for number in range(40)]


def plain(value):
    """Rows as lists; a sparse tensor by its rows."""
    if isinstance(value, tf.SparseTensor):
        if value.dense_shape.shape[0] == 1:
            return value.values.numpy().tolist()
        return tf.RaggedTensor.from_sparse(value).to_list()
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, hr.Ragged):
        return value.tolist()
    return np.asarray(value.numpy()).tolist()


@pytest.mark.parametrize("count", [0, 1, 40])
def test_many_examples(count):
    records = RECORDS[:count]
    wanted = tf.io.parse_example(tf.constant(records, tf.string, [count]), FEATURES)
    for serialized in (records, np.array(records, dtype=object), tf.constant(records, tf.string, [count])):
        found = hr.parse_example(serialized, FEATURES, num_threads=2)
        for name in FEATURES:
            assert plain(found[name]) == plain(wanted[name]), name


@pytest.mark.parametrize("record", RECORDS[:6])
def test_one_example(record):
    wanted = tf.io.parse_single_example(record, FEATURES)
    by_scalar = tf.io.parse_example(record, FEATURES)
    for serialized in (record, tf.constant(record)):
        found = hr.parse_single_example(serialized, FEATURES)
        for name in FEATURES:
            assert plain(found[name]) == plain(wanted[name]) == plain(by_scalar[name]), name
            if not isinstance(found[name], hr.Ragged) and not isinstance(wanted[name], tf.SparseTensor):
                assert tuple(found[name].shape) == tuple(wanted[name].shape)


TENSORS = [
    *(
        np.arange(-3, 3).reshape(2, 3).astype(dtype)
        for dtype in ("int8", "int16", "int32", "int64", "float16", "float32")
    ),
    *(np.arange(6).reshape(3, 2).astype(dtype) for dtype in ("uint8", "uint16", "uint32", "uint64", "float64", "bool")),
    *(np.array([1 + 2j, -3.5j], dtype=dtype) for dtype in ("complex64", "complex128")),
    np.array([np.nan, -0.0, np.inf, 1e-45], dtype=np.float32),
    np.array([[b"a", b""], [b"\0\xff", b"long" * 100]], dtype=object),
    np.float32(1.5),
    np.zeros([0, 3], dtype=np.int64),
]


@pytest.mark.parametrize("array", TENSORS, ids=lambda array: f"{array.dtype}{list(array.shape)}")
def test_tensors(array):
    serialized = tf.io.serialize_tensor(array).numpy()
    dtype = tf.as_dtype(array.dtype)
    wanted = tf.io.parse_tensor(serialized, dtype).numpy()
    for found in (hr.parse_tensor(serialized, dtype), hr.parse_tensor(tf.constant(serialized), dtype)):
        assert found.shape == wanted.shape
        if dtype == tf.string:
            assert found.tolist() == wanted.tolist()
        else:
            assert found.numpy().tobytes() == wanted.tobytes() and found.numpy().dtype == wanted.dtype
    several = hr.parse_tensor([serialized] * 3, dtype)
    assert several.shape == (3, *wanted.shape)


def test_bfloat16():
    serialized = tf.io.serialize_tensor(tf.constant([1.5, -2.25], tf.bfloat16)).numpy()
    wanted = tf.io.parse_tensor(serialized, tf.bfloat16).numpy()
    assert hr.parse_tensor(serialized, tf.bfloat16).numpy().tobytes() == wanted.tobytes()


RAW_TYPES = [
    *(tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64),
    *(tf.uint8, tf.uint16, tf.bool, tf.complex64, tf.complex128),
]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_raw_bytes(data):
    dtype = data.draw(st.sampled_from(RAW_TYPES))
    little_endian = data.draw(st.booleans())
    size = dtype.size * data.draw(st.integers(0, 4))
    strings = data.draw(st.lists(st.binary(min_size=size, max_size=size), min_size=1, max_size=4))
    wanted = tf.io.decode_raw(strings, dtype, little_endian=little_endian).numpy()
    found = hr.decode_raw(strings, dtype, little_endian=little_endian, num_threads=2).numpy()
    if dtype == tf.bool:
        wanted = wanted.view(np.uint8) != 0  # TensorFlow keeps the byte, whatever it is
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_raw_bytes_of_a_fixed_length(data):
    dtype = data.draw(st.sampled_from([tf.bfloat16, tf.float32, tf.int16, tf.int64, tf.uint8]))
    little_endian = data.draw(st.booleans())
    length = dtype.size * data.draw(st.integers(1, 3))
    strings = data.draw(st.lists(st.binary(max_size=20), min_size=1, max_size=4))
    wanted = tf.io.decode_raw(strings, dtype, little_endian=little_endian, fixed_length=length).numpy()
    found = hr.decode_raw(strings, dtype, little_endian=little_endian, fixed_length=length).numpy()
    assert found.tobytes() == wanted.tobytes() and found.shape == wanted.shape


@pytest.mark.parametrize("strings", [[b"abc"], [b"ab", b"abcd"], [b"abc", b"ab"]])
def test_raw_bytes_that_both_refuse(strings):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_raw(strings, tf.int16)
    with pytest.raises(hr.SchemaError):
        hr.decode_raw(strings, tf.int16)


def test_rank_two_is_refused_by_both():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected serialized to be a scalar or vector"):
        tf.io.parse_example([RECORDS[:2]], FEATURES)
    with pytest.raises(ValueError, match="Expected serialized to be a scalar or vector"):
        hr.parse_example(np.array([RECORDS[:2]], dtype=object), FEATURES)
