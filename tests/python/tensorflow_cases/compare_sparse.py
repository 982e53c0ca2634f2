"""SparseFeature: the SparseTensors of tf.io.parse_example, and errors where TensorFlow makes invalid ones."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from same import assert_same, assert_same_columns

import headrace as hr
from headrace import tensorflow as hrtf

SIZE = 1000
SPECS = {
    "one": tf.io.SparseFeature("i", "f", tf.float32, SIZE),
    "two": tf.io.SparseFeature(["i", "j"], "f", tf.float32, [SIZE, SIZE + 1]),
    "kept": tf.io.SparseFeature(["i", "j"], "f", tf.float32, [SIZE, SIZE], already_sorted=True),
    "n": tf.io.SparseFeature("j", "n", tf.int64, SIZE),
    "s": tf.io.SparseFeature(["j"], "s", tf.string, [SIZE]),
    "i": tf.io.VarLenFeature(tf.int64),
}


def record(i=(), j=(), values=None):
    count = len(j)
    floats = np.arange(count, dtype=np.float32) / 3 if values is None else np.asarray(values, dtype=np.float32)
    return hr.make_example(
        {
            "i": np.asarray(i, dtype=np.int64),
            "j": np.asarray(j, dtype=np.int64),
            "f": floats,
            "n": np.arange(count) - 1,
            "s": np.array([b"s%d" % number for number in range(count)], dtype=object),
        }
    )


RECORDS = [
    record([5, 0, 3], [7, 999, 0], [np.nan, -0.0, np.inf]),
    hr.make_example({}),
    record([2, 1, 2], [0, 0, 0]),
    record([4, 4], [3, 3]),  # an index twice
    record([0], [0]),
]


def test_same_tensors():
    ours = hr.parse_example(RECORDS, SPECS)
    assert_same_columns(ours, tf.io.parse_example(RECORDS, SPECS))
    assert isinstance(ours["two"], hr.Sparse) and ours["two"].dense_shape == (5, SIZE, SIZE + 1)
    assert ours["n"].values.numpy().tolist() == [1, -1, 0, -1, 0, 1, -1, 0, -1]  # j of row 0 is 7, 999, 0


@pytest.mark.parametrize("row", range(len(RECORDS)))
def test_same_tensors_of_one_record(row):
    specs = {name: spec for name, spec in SPECS.items() if name != "i"}
    assert_same_columns(hr.parse_single_example(RECORDS[row], specs), tf.io.parse_single_example(RECORDS[row], specs))


def test_no_records_at_all():
    assert_same_columns(hr.parse_example([], SPECS), tf.io.parse_example(np.array([], dtype=object), SPECS))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8, unique=True), max_size=6))
def test_random_records(rows):
    records = [record([i for i, _ in row], [j for _, j in row]) for row in rows]
    specs = {name: SPECS[name] for name in ("two", "kept")}
    assert_same_columns(hr.parse_example(records, specs), tf.io.parse_example(np.array(records, dtype=object), specs))


@pytest.mark.parametrize(
    "fields, key, text",
    [
        ({"i": [1], "f": [0.5, 1.5]}, "i", "1 indices for 2 values"),
        ({"f": [0.5]}, "i", "0 indices for 1 values"),
        ({"i": [1]}, "i", "1 indices for 0 values"),
    ],
)
def test_numbers_that_differ_are_errors_in_both(fields, key, text):
    records, specs = [hr.make_example(fields)], {"x": SPECS["one"]}
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.io.parse_example(records, specs)
    with pytest.raises(hr.SchemaError, match=text) as caught:
        hr.parse_example(records, specs)
    assert caught.value.key == key and caught.value.row == 0


@pytest.mark.parametrize("index", [SIZE, -1, 2**62])
def test_an_index_that_tensorflow_lets_pass_is_an_error(index):
    records, specs = [hr.make_example({"i": [3, index], "f": [0.5, 1.5]})], {"x": SPECS["one"]}
    assert index in tf.io.parse_example(records, specs)["x"].indices.numpy()[:, 1]
    with pytest.raises(hr.SchemaError, match=r"in \[0, 1000\)") as caught:
        hr.parse_example(records, specs)
    assert caught.value.key == "i"


def test_a_key_for_dense_and_sparse_is_refused_by_both():
    specs = {"x": SPECS["one"], "f": tf.io.FixedLenFeature([], tf.float32)}
    with pytest.raises(ValueError, match="intersect"):
        tf.io.parse_example(RECORDS, specs)
    with pytest.raises(ValueError, match="intersect"):
        hr.parse_example(RECORDS, specs)


def test_through_a_pipeline(tmp_path):
    path = str(tmp_path / "sparse.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for serialized in RECORDS:
            writer.write(serialized)
    dataset = hrtf.dataset(hr.TFRecordDataset(path).batch(3).parse(SPECS))
    assert dataset.element_spec["two"] == tf.SparseTensorSpec([None, SIZE, SIZE + 1], tf.float32)
    for start, batch in zip((0, 3), dataset):
        wanted = tf.io.parse_example(RECORDS[start : start + 3], SPECS)
        for name, tensor in wanted.items():
            np.testing.assert_array_equal(batch[name].indices, tensor.indices)
            np.testing.assert_array_equal(batch[name].values, tensor.values)
            np.testing.assert_array_equal(batch[name].dense_shape, tensor.dense_shape)


def test_two_replicas_and_the_whole(tmp_path):
    path = str(tmp_path / "sparse.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for serialized in RECORDS[:4]:
            writer.write(serialized)
    batch = next(iter(hr.TFRecordDataset(path).batch(4).parse(SPECS).prefetch_to_device(["/CPU:0", "/CPU:1"])))
    for replica, start in zip(batch.replicas, (0, 2)):
        for name, tensor in tf.io.parse_example(RECORDS[start : start + 2], SPECS).items():
            if name != "i":
                assert_same(replica[name], tensor)
    for name, tensor in tf.io.parse_example(RECORDS[:4], SPECS).items():
        assert_same(batch[name], tensor)
