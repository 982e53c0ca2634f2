"""Feature specs: what each makes of a record, defaults, TensorFlow's own specs, and what is refused."""

import types

import headrace as hr
import numpy as np
import pytest


def parse_one(record, **features):
    return hr.parse_example([hr.make_example(record)], features)


def test_fixed_len():
    columns = parse_one(
        {"i": [1, 2], "f": [0.5], "b": [b"x"]},
        i=hr.FixedLenFeature([2], hr.int64),
        f=hr.FixedLenFeature((1, 1), "float32"),
        b=hr.FixedLenFeature([], bytes),
    )
    assert columns["i"].numpy().tolist() == [[1, 2]] and columns["f"].numpy().tolist() == [[[0.5]]]
    assert columns["b"].tolist() == [b"x"]


@pytest.mark.parametrize(
    "shape, dtype, default, wanted",
    [
        ([], hr.int64, 7, 7),
        ([2], hr.int64, 7, [7, 7]),
        ([2], hr.int64, [1, 2], [1, 2]),
        ([2, 1], hr.float32, np.array([[1.5], [2.5]]), [[1.5], [2.5]]),
        ([], hr.float32, 3, 3.0),
        ([0], hr.int64, [], []),
    ],
)
def test_defaults(shape, dtype, default, wanted):
    column = parse_one({}, a=hr.FixedLenFeature(shape, dtype, default_value=default))["a"]
    assert column.numpy().tolist() == [wanted]


def test_string_defaults():
    columns = parse_one(
        {},
        a=hr.FixedLenFeature([], hr.string, default_value="é"),
        b=hr.FixedLenFeature([2], hr.string, default_value=[b"x", b"y"]),
    )
    assert columns["a"].tolist() == ["é".encode()] and columns["b"].tolist() == [[b"x", b"y"]]


def test_sequences_are_padded():
    records = [hr.make_example({"a": np.array(row, dtype=np.float32)}) for row in ([1, 2, 3, 4], [5, 6], [])]
    spec = hr.FixedLenSequenceFeature([2], hr.float32, allow_missing=True)
    column = hr.parse_example(records, {"a": spec})["a"]
    assert column.numpy().tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]], [[0, 0], [0, 0]]]


@pytest.mark.parametrize(
    "partition, values",
    [
        (hr.RowSplits("p"), [0, 2, 2, 3]),
        (hr.RowLengths("p"), [2, 0, 1]),
        (hr.RowStarts("p"), [0, 2, 2]),
        (hr.RowLimits("p"), [2, 2, 3]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_partitions(partition, values):
    spec = hr.RaggedFeature(hr.int64, value_key="v", partitions=[partition])
    column = parse_one({"v": [7, 8, 9], "p": values}, r=spec)["r"]
    assert column.tolist() == [[[7, 8], [], [9]]]


def test_value_rowids_and_uniform_rows():
    record = {"v": [7, 8, 9, 10], "p": [0, 0, 2, 2]}
    ids = hr.RaggedFeature(hr.int64, "v", [hr.RaggedFeature.ValueRowIds("p")])
    uniform = hr.RaggedFeature(hr.int64, "v", [hr.UniformRowLength(2)])
    columns = parse_one(record, ids=ids, uniform=uniform)
    assert columns["ids"].tolist() == [[[7, 8], [], [9, 10]]] and columns["uniform"].tolist() == [[[7, 8], [9, 10]]]


def test_tensors_and_raw_bytes():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    record = {"t": hr.make_tensor(array), "r": array.astype(">f4").tobytes()}
    columns = parse_one(
        record,
        tensor=hr.TensorFeature([2, 3], hr.float32, key="t"),
        reshaped=hr.TensorFeature([6], hr.float32, key="t", reshape=True),
        raw=hr.RawFeature([2, 3], hr.float32, little_endian=False, key="r"),
    )
    np.testing.assert_array_equal(columns["tensor"].numpy()[0], array)
    np.testing.assert_array_equal(columns["reshaped"].numpy()[0], array.reshape(-1))
    np.testing.assert_array_equal(columns["raw"].numpy()[0], array)


@pytest.mark.parametrize(
    "value, name",
    [
        *((np.float32, "float32"), (np.dtype("int64"), "int64"), ("uint8", "uint8"), (hr.bool_, "bool"), (bool, "bool")),
        *((bytes, "bytes"), (str, "bytes"), ("string", "bytes"), (np.dtype("S3"), "bytes"), (float, "float64")),
    ],
)
def test_dtypes(value, name):
    from headrace.dtypes import as_dtype

    assert as_dtype(value) == name and isinstance(as_dtype(value), hr.DType)


@pytest.mark.parametrize(
    "spec, text",
    [
        (hr.FixedLenFeature(None, hr.int64), "Missing shape"),
        (hr.FixedLenFeature([None], hr.int64), "FixedLenSequenceFeature"),
        (hr.FixedLenFeature([2, -1], hr.int64), "must be known"),
        (hr.FixedLenFeature([], "quaternion"), "quaternion"),
        (hr.FixedLenFeature([], np.dtype("M8[s]")), "M8"),
        (hr.FixedLenFeature([2], hr.int64, [1, 2, 3]), "default"),
        (hr.FixedLenFeature([], hr.int64, 1.5), "1.5"),
        (hr.FixedLenFeature([], hr.int64, "x"), "'x'"),
        (hr.FixedLenFeature([], hr.string, 3), "must be bytes"),
        (hr.FixedLenSequenceFeature([], hr.int64), "allow_missing"),
        (hr.FixedLenSequenceFeature([0], hr.int64, allow_missing=True), "0"),
        (hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True, default_value=[1, 2]), "default"),
        (hr.RaggedFeature(hr.int64, "v", [hr.UniformRowLength(0)]), "0"),
        (hr.RaggedFeature(hr.int64, "v", ["p"]), "partition"),
        (hr.RaggedFeature(hr.int64, row_splits_dtype=hr.float32), "row_splits_dtype"),
        ("int64", "no feature spec"),
    ],
    ids=repr,
)
def test_specs_that_are_refused(spec, text):
    with pytest.raises(ValueError, match=text) as caught:
        hr.TFRecordDataset("nowhere").batch(1).parse({"feature_a": spec})
    assert "feature_a" in str(caught.value)


def test_names_that_are_refused():
    with pytest.raises(ValueError, match="name 3"):
        hr.TFRecordDataset("nowhere").batch(1).parse({3: hr.VarLenFeature(hr.int64)})


def test_keys_that_are_no_words():
    record = hr.make_example({"": 1, "a\0b": 2, "ключ": 3})
    columns = hr.parse_example([record], {name: hr.FixedLenFeature([], hr.int64) for name in ("", "a\0b", "ключ")})
    assert [column.numpy()[0] for column in columns.values()] == [1, 2, 3]


def test_tensorflow_specs_are_recognised_without_tensorflow():
    def make(kind, **fields):
        cls = type(kind, (), {"__module__": "tensorflow.python.ops.parsing_config", "__repr__": lambda self: kind})
        spec = cls()
        spec.__dict__.update(fields)
        return spec

    int64 = types.SimpleNamespace(name="int64")
    features = {
        "a": make("FixedLenFeature", shape=[2], dtype=int64, default_value=None),
        "v": make("VarLenFeature", dtype=types.SimpleNamespace(name="string")),
        "r": make(
            "RaggedFeature",
            dtype=int64,
            value_key="a",
            partitions=(make("UniformRowLength", length=1),),
            row_splits_dtype=types.SimpleNamespace(name="int32"),
            validate=False,
        ),
    }
    columns = hr.parse_example([hr.make_example({"a": [1, 2], "v": [b"x"]})], {**features, "r": hr.VarLenFeature(int64)})
    assert columns["a"].numpy().tolist() == [[1, 2]] and columns["v"].tolist() == [[b"x"]]
    nested = hr.parse_example([hr.make_example({"a": [1, 2]})], {"r": features["r"]})
    assert nested["r"].tolist() == [[[1], [2]]]
    sparse = make("SparseFeature", index_key="i", value_key="v", dtype=int64, size=9, already_sorted=False)
    column = hr.parse_example([hr.make_example({"i": [4], "v": [2]})], {"s": sparse})["s"]
    assert column.indices.numpy().tolist() == [[0, 4]] and column.values.numpy().tolist() == [2]
    with pytest.raises(ValueError, match="OtherFeature is not supported"):
        hr.TFRecordDataset("x").batch(1).parse({"s": make("OtherFeature")})


def test_real_tensorflow_specs(script):
    done = script(
        """
try:
    import tensorflow as tf
except ImportError:
    print("skip"); raise SystemExit
import headrace as hr, numpy as np
features = {
    "a": tf.io.FixedLenFeature([2], tf.int64, default_value=[3, 4]),
    "s": tf.io.FixedLenFeature(tf.TensorShape([]), tf.string, default_value=tf.constant("x")),
    "v": tf.io.VarLenFeature(tf.float32),
    "q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    "r": tf.io.RaggedFeature(tf.int64, "w", [tf.io.RaggedFeature.RowLengths("n")], tf.int64),
}
record = hr.make_example({"v": [1.5, 2.5], "q": [1, 2, 3], "w": [1, 2, 3], "n": [1, 2]})
ours = hr.parse_example([record], features)
theirs = tf.io.parse_example([record], features)
assert ours["a"].numpy().tolist() == theirs["a"].numpy().tolist() == [[3, 4]]
assert ours["s"].tolist() == theirs["s"].numpy().tolist() == [b"x"]
assert ours["v"].tolist() == tf.RaggedTensor.from_sparse(theirs["v"]).to_list()
assert ours["q"].numpy().tolist() == theirs["q"].numpy().tolist()
assert ours["r"].tolist() == theirs["r"].to_list()
print("same")
""",
        timeout=120,
    )
    if done.stdout.strip() == "skip":
        pytest.skip("TensorFlow is not installed")
    assert done.stdout.strip() == "same"
