"""tf.io.parse_tensor and tf.io.decode_raw beside TensorFeature and RawFeature, bit for bit."""

import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import headrace as hr

sys.path.insert(0, str(Path(__file__).parents[1]))
from tensor_proto_cases import CASES, ERROR


def image(array):
    """Shape and bits of an array; strings as they are; of bools what they mean, since TensorFlow keeps the byte it reads."""
    array = np.asarray(array)
    if array.dtype == bool:
        array = array.view(np.uint8) != 0
    return array.shape, array.tolist() if array.dtype == object else array.tobytes()


def parse(spec, values):
    return hr.parse_example([hr.make_example({"t": value}) for value in values], {"t": spec})["t"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_parse_tensor(case):
    dtype = tf.as_dtype(case.dtype)
    ours_fails = isinstance(case.ours, str)
    if case.theirs is ERROR:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_tensor(case.proto, dtype)
    else:
        theirs = tf.io.parse_tensor(case.proto, dtype).numpy()
        assert image(theirs) == image(case.ours if case.theirs is None else case.theirs)
        if not ours_fails:
            assert image(parse(hr.TensorFeature(case.shape, dtype), [case.proto]).numpy()[0]) == image(theirs)
            return
    with pytest.raises(hr.SchemaError):
        parse(hr.TensorFeature(case.shape, dtype), [case.proto])


NUMBERS = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16]
NUMBERS += [tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128]


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
def test_serialize_tensor(dtype):
    generator = np.random.default_rng(7)
    for shape in ([], [0], [5], [2, 3], [1] * 12):
        tensor = tf.cast(generator.integers(0, 2 if dtype == tf.bool else 100, shape), dtype)
        proto = tf.io.serialize_tensor(tensor).numpy()
        for spec in (hr.TensorFeature(shape, dtype), *([hr.TensorFeature(None, dtype)] if len(shape) <= 8 else [])):
            assert image(parse(spec, [proto]).numpy()[0]) == image(tensor.numpy())


def test_make_tensor_proto():
    """The other writer of TensorFlow: typed fields for strings and small tensors, splats for equal values."""
    for value, dtype in [([1.5, 2.5], tf.float32), ([[7]], tf.int64), ([b"a", b"", b"ccc"], tf.string), (True, tf.bool)]:
        proto = tf.make_tensor_proto(value, dtype).SerializeToString()
        ours = parse(hr.TensorFeature(None, dtype), [proto]).numpy()[0]
        assert image(ours) == image(tf.io.parse_tensor(proto, dtype).numpy())
    splat = tf.make_tensor_proto(3, tf.int32, shape=[2, 2]).SerializeToString()
    assert parse(hr.TensorFeature([2, 2], hr.int32), [splat]).numpy().tolist() == [[[3, 3], [3, 3]]]


def test_unknown_dimensions():
    tensors = [tf.constant([[1, 2]]), tf.zeros([0, 2], tf.int32), tf.constant([[3, 4], [5, 6]])]
    protos = [tf.io.serialize_tensor(tensor).numpy() for tensor in tensors]
    parsed = [tf.io.parse_tensor(proto, tf.int32) for proto in protos]
    ragged = parse(hr.TensorFeature([None, 2], hr.int32), protos)
    assert ragged.tolist() == tf.ragged.stack(parsed).to_list()
    shaped = [tf.ensure_shape(tensor, [None, 2]) for tensor in parsed]
    batches = tf.data.Dataset.from_generator(lambda: shaped, output_signature=tf.TensorSpec([None, 2], tf.int32))
    padded = next(iter(batches.padded_batch(3, padding_values=-1))).numpy()
    spec = hr.TensorFeature([None, 2], hr.int32, unknown_dims="padded", padding_value=-1)
    assert image(parse(spec, protos).numpy()) == image(padded)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        next(iter(batches.batch(3)))
    with pytest.raises(hr.SchemaError, match="Cannot batch tensors with different shapes"):
        parse(hr.TensorFeature(None, hr.int32), protos)
    reshaped = [tf.reshape(tensor, [-1, 1, 2]) for tensor in parsed]
    ours = parse(hr.TensorFeature([None, 1, 2], hr.int32, reshape=True), protos)
    assert ours.tolist() == tf.ragged.stack(reshaped).to_list()


RAW = [dtype for dtype in NUMBERS if dtype not in (tf.uint32, tf.uint64)]
# TensorFlow has no kernel for the others.
PADDED_RAW = [dtype for dtype in RAW if dtype not in (tf.bool, tf.float16, tf.complex64, tf.complex128)]


@pytest.mark.parametrize("little", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("dtype", RAW, ids=lambda dtype: dtype.name)
def test_decode_raw(dtype, little):
    rows = [bytes(range(row, row + 64)) for row in (0, 100)]
    theirs = tf.io.decode_raw(rows, dtype, little_endian=little).numpy()
    assert image(parse(hr.RawFeature(None, dtype, little_endian=little), rows).numpy()) == image(theirs)
    shaped = parse(hr.RawFeature([2, None], dtype, little_endian=little, unknown_dims="equal"), rows).numpy()
    assert image(shaped) == image(theirs.reshape(2, 2, -1))


@pytest.mark.parametrize("little", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("dtype", PADDED_RAW, ids=lambda dtype: dtype.name)
def test_decode_padded_raw(dtype, little):
    rows = [b"", b"\1", bytes(range(1, 8)), bytes(range(1, 17)), bytes(range(1, 40))]
    theirs = tf.io.decode_raw(rows, dtype, little_endian=little, fixed_length=16).numpy()
    assert image(parse(hr.RawFeature(None, dtype, little, fixed_length=16), rows).numpy()) == image(theirs)


def test_decode_raw_failures():
    for rows in ([b"abc"], [b"ab", b"abcd"]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_raw(rows, tf.int16)
        with pytest.raises(hr.SchemaError):
            parse(hr.RawFeature(None, tf.int16), rows)
    for length in (5, 0, -2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_raw([b"ab"], tf.int16, fixed_length=length)
        with pytest.raises(ValueError, match="fixed_length"):
            parse(hr.RawFeature(None, tf.int16, fixed_length=length), [b"ab"])
    assert tf.io.decode_raw([b"", b""], tf.int16).shape == parse(hr.RawFeature(None, tf.int16), [b"", b""]).shape == (2, 0)


def test_columns_reach_tensorflow(tmp_path):
    """Ragged, padded and shapeless tensors, strings and float8 through both ways to TensorFlow."""
    import headrace.tensorflow

    path = str(tmp_path / "t.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for size in range(4):
            row = {
                "r": hr.make_tensor(np.full((size, 2), size, np.int32)),
                "e": hr.make_tensor(np.full((1, 3), size, np.float32)),
                "s": tf.io.serialize_tensor(tf.constant([b"x"] * size, tf.string)).numpy(),
                "f": bytes([size]),
            }
            writer.write(hr.make_example(row))
    features = {
        "r": hr.TensorFeature([None, 2], hr.int32),
        "p": hr.TensorFeature([None, 2], hr.int32, key="r", unknown_dims="padded"),
        "e": hr.TensorFeature(None, hr.float32),
    }
    others = {
        "s": hr.TensorFeature([None], hr.string),
        "f": hr.RawFeature([1], hr.float8_e5m2),
    }
    for wanted in (features, {**features, **others}, {"f": others["f"]}):
        pipeline = hr.TFRecordDataset(path).batch(4).parse(wanted)
        batch = next(iter(headrace.tensorflow.dataset(pipeline)))
        if "r" in wanted:
            assert batch["r"].to_list() == [[[size, size]] * size for size in range(4)]
            assert batch["p"].shape == (4, 3, 2) and batch["p"].numpy()[1].tolist() == [[1, 1], [0, 0], [0, 0]]
            assert batch["e"].numpy().tolist() == [[[size] * 3] for size in range(4)]
        if "f" in wanted:
            assert batch["f"].dtype.name == "float8_e5m2"
            assert batch["f"].numpy().view(np.uint8).tolist() == [[0], [1], [2], [3]]
        if "s" in wanted:
            assert batch["s"].to_list() == [[b"x"] * size for size in range(4)]
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    pipeline = hr.TFRecordDataset(path).batch(4).parse({**features, **others})
    direct = next(iter(headrace.tensorflow.distribute(pipeline, strategy)))
    assert direct["f"].numpy().view(np.uint8).tolist() == [[0], [1], [2], [3]]
    with pytest.raises(ValueError, match="give its rank"):
        ragged = hr.TFRecordDataset(path).batch(4).parse({"e": hr.TensorFeature(None, hr.float32, unknown_dims="ragged")})
        headrace.tensorflow.dataset(ragged)
