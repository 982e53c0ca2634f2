"""SparseFeature without TensorFlow: the right values written down."""

import headrace as hr
import numpy as np
import pytest

SPEC = hr.SparseFeature(["ix0", "ix1"], "val", hr.float32, [100, 3])


def test_values_at_their_indices():
    records = [hr.make_example({"val": [0.5, -1.0], "ix0": [20, 3], "ix1": [0, 1]}), hr.make_example({})]
    column = hr.parse_example(records, {"s": SPEC})["s"]
    assert isinstance(column, hr.Sparse) and column.dense_shape == (2, 100, 3) and len(column) == 2
    assert column.indices.numpy().tolist() == [[0, 3, 1], [0, 20, 0]] and column.indices.dtype == "int64"
    assert column.values.numpy().tolist() == [-1.0, 0.5] and column.dtype == "float32"
    assert repr(column) == "<headrace.Sparse float32 [2, 100, 3], 2 values>"


def test_one_record():
    record = hr.make_example({"val": [0.5, -1.0], "ix0": [20, 3], "ix1": [0, 1]})
    column = hr.parse_single_example(record, {"s": SPEC})["s"]
    assert column.dense_shape == (100, 3) and column.indices.numpy().tolist() == [[3, 1], [20, 0]]
    assert column.values.numpy().tolist() == [-1.0, 0.5]


def test_already_sorted_and_strings():
    records = [hr.make_example({"val": [b"b", b"a"], "ix": [7, 2]})]
    sort = hr.SparseFeature("ix", "val", hr.string, 8)
    keep = hr.SparseFeature("ix", "val", hr.string, np.int64(8), already_sorted=True)
    columns = hr.parse_example(records, {"sort": sort, "keep": keep})
    assert columns["sort"].values.tolist() == [b"a", b"b"]
    assert columns["keep"].values.tolist() == [b"b", b"a"] and columns["keep"].indices.numpy().tolist() == [[0, 7], [0, 2]]


def test_no_records():
    column = hr.parse_example([], {"s": SPEC})["s"]
    assert column.dense_shape == (0, 100, 3) and column.indices.shape == (0, 3) and column.values.shape == (0,)


@pytest.mark.parametrize(
    "spec, text",
    [
        (hr.SparseFeature(["a", "b"], "v", hr.int64, 3), "2 keys and size 1"),
        (hr.SparseFeature("a", "v", hr.int64, [3, 4]), "1 keys and size 2"),
        (hr.SparseFeature("a", "v", hr.int64, 0), "expected at least 1"),
        (hr.SparseFeature("a", "v", hr.int64, 1.5), "whole number"),
        (hr.SparseFeature([], "v", hr.int64, []), "at least one index_key"),
        (hr.SparseFeature("a", "v", hr.complex64, 3), "complex64"),
        (hr.SparseFeature("v", "v", hr.float32, 3), "asked for as"),
    ],
)
def test_specs_that_are_refused(spec, text):
    with pytest.raises(ValueError, match=text) as caught:
        hr.TFRecordDataset("nowhere").batch(1).parse({"feature_s": spec})
    assert "feature_s" in str(caught.value)


def test_errors_name_record_and_key(tmp_path):
    path = str(tmp_path / "bad.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        writer.write(hr.make_example({"val": [1.0], "ix0": [1], "ix1": [1]}))
        writer.write(hr.make_example({"val": [1.0], "ix0": [100], "ix1": [1]}))
    with pytest.raises(hr.SchemaError, match="not in") as caught:
        list(hr.TFRecordDataset(path).batch(2).parse({"s": SPEC}))
    assert (caught.value.key, caught.value.record, caught.value.path) == ("ix0", 1, path)


def test_torch():
    torch = pytest.importorskip("torch")
    from headrace.torch import to_torch

    records = [hr.make_example({"val": [0.5, -1.0], "ix0": [20, 3], "ix1": [0, 1]})]
    tensor = to_torch(hr.parse_example(records, {"s": SPEC})["s"])
    assert tensor.shape == torch.Size([1, 100, 3]) and tensor.to_dense()[0, 3, 1] == -1.0
