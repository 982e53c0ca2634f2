"""Batches as NumPy and Arrow take them."""

import headrace as hr
import numpy as np
import pytest

RECORDS = [
    hr.make_example({"n": [row, row + 1], "x": np.float32(row) / 2, "s": b"%d" % row, "v": np.arange(row, dtype=np.int64)})
    for row in range(4)
]
FEATURES = {
    "n": hr.FixedLenFeature([2], hr.int64),
    "x": hr.FixedLenFeature([], hr.float32),
    "s": hr.FixedLenFeature([], hr.string),
    "v": hr.RaggedFeature(hr.int64),
}


@pytest.fixture
def batch(tmp_path):
    with hr.TFRecordWriter(tmp_path / "shard") as writer:
        for record in RECORDS:
            writer.write(record)
    return next(iter(hr.TFRecordDataset(tmp_path / "shard").batch(4).parse(FEATURES)))


def test_to_numpy_gives_the_same_memory(batch):
    for columns in (batch, batch.replicas[0]):
        arrays = columns.to_numpy()
        assert list(arrays) == list(FEATURES)
        assert np.shares_memory(arrays["n"], batch.replicas[0]["n"].numpy()) and arrays["n"].tolist()[3] == [3, 4]
        assert arrays["s"].dtype == object and arrays["s"].tolist() == [b"0", b"1", b"2", b"3"]
        assert isinstance(arrays["v"], hr.Ragged)


def test_arrow_arrays_lie_over_the_columns(batch):
    pyarrow = pytest.importorskip("pyarrow")
    table = {name: pyarrow.array(column) for name, column in batch.items()}
    assert table["x"].to_pylist() == [0.0, 0.5, 1.0, 1.5] and table["s"].to_pylist()[3] == b"3"
    assert table["x"].buffers()[1].address == batch["x"].numpy().ctypes.data
    assert table["n"].type == pyarrow.list_(pyarrow.int64(), 2) and table["n"].to_pylist()[1] == [1, 2]
    assert table["v"].type == pyarrow.large_list(pyarrow.int64()) and table["v"].to_pylist() == [[], [0], [0, 1], [0, 1, 2]]
    assert pyarrow.array(batch["x"], pyarrow.float64()).type == pyarrow.float64()
    for array in table.values():
        array.validate(full=True)
    assert pyarrow.record_batch(table).num_rows == 4


def test_arrow_arrays_outlive_the_batch(batch):
    pyarrow = pytest.importorskip("pyarrow")
    array = pyarrow.array(batch["n"])
    del batch
    assert array.to_pylist() == [[row, row + 1] for row in range(4)]


@pytest.mark.parametrize("shape", [[], [2], [2, 3], [0], [2, 0]])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float64"])
def test_arrow_arrays_of_every_shape_and_type(shape, dtype):
    pyarrow = pytest.importorskip("pyarrow")
    count = int(np.prod(shape))
    values = [(np.arange(count) + row).astype(dtype).reshape(shape) for row in range(3)]
    records = [hr.make_example({"t": value.tobytes()}) for value in values]
    column = hr.parse_example(records, {"t": hr.RawFeature(shape, dtype)})["t"]
    array = pyarrow.array(column)
    array.validate(full=True)
    assert len(array) == 3 and array.to_pylist() == column.numpy().tolist()


def test_types_that_arrow_has_not():
    pyarrow = pytest.importorskip("pyarrow")
    column = hr.parse_example([hr.make_example({"t": bytes(8)})], {"t": hr.RawFeature([], hr.complex64)})["t"]
    with pytest.raises(ValueError, match="complex64: Arrow has no such type"):
        pyarrow.array(column)
    strings = hr.parse_example([hr.make_example({"s": [b"a", b"b"]})], {"s": hr.FixedLenFeature([2], hr.string)})["s"]
    with pytest.raises(ValueError, match="one dimension"):
        pyarrow.array(strings)
