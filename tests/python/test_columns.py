"""Columns: DLPack, NumPy, buffers, strings, ragged rows; what they share and how long it lives."""

import gc

import headrace as hr
import numpy as np
import pytest

DTYPES = [
    *(hr.bool_, hr.int8, hr.int16, hr.int32, hr.int64, hr.uint8, hr.uint16, hr.uint32, hr.uint64),
    *(hr.float16, hr.float32, hr.float64, hr.complex64, hr.complex128),
]


def tensor_column(array, dtype):
    record = hr.make_example({"t": hr.make_tensor(array)})
    return hr.parse_example([record, record], {"t": hr.TensorFeature(array.shape, dtype)})["t"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_number_type_goes_out_without_a_copy(dtype):
    array = np.arange(6).reshape(2, 3).astype(str(dtype))
    column = tensor_column(array, dtype)
    view = column.numpy()
    assert view.dtype == array.dtype and view.shape == column.shape == (2, 2, 3)
    np.testing.assert_array_equal(view[1], array)
    for other in (np.from_dlpack(column), np.asarray(column), np.asarray(memoryview(column))):
        assert np.shares_memory(other, view) and other.dtype == view.dtype and other.shape == view.shape
    assert view.flags.writeable and view.ctypes.data % 256 == 0
    view[0] = 1
    assert np.from_dlpack(column)[0, 0, 0] == 1


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.arange(4, dtype=np.float32).astype(ml_dtypes.bfloat16)
    column = tensor_column(array, hr.bfloat16)
    assert column.dtype == "bfloat16" and column.numpy().dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(column.numpy()[1], array)
    np.testing.assert_array_equal(np.asarray(column)[0], array)
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(column)


def test_bfloat16_without_ml_dtypes_says_what_is_missing(script):
    done = script(
        "import sys; sys.modules['ml_dtypes'] = None\nimport headrace as hr\n"
        "record = hr.make_example({'t': bytes(8)})\n"
        "column = hr.parse_example([record], {'t': hr.RawFeature([4], 'bfloat16')})['t']\n"
        "try: column.numpy()\nexcept ValueError as error: print(error)\n"
        "print(column.__dlpack__())"
    )
    assert "ml_dtypes" in done.stdout and "dltensor" in done.stdout


def test_dlpack_protocol():
    column = tensor_column(np.arange(3, dtype=np.int64), hr.int64)
    assert column.__dlpack_device__() == (1, 0)
    assert 'dltensor"' in repr(column.__dlpack__()) and 'dltensor"' in repr(column.capsule())
    assert "dltensor_versioned" in repr(column.__dlpack__(max_version=(1, 1)))
    assert 'dltensor"' in repr(column.__dlpack__(stream=None, max_version=(0, 8), dl_device=(1, 0), copy=False))
    with pytest.raises(BufferError, match="host"):
        column.__dlpack__(dl_device=(2, 0))
    copy = np.from_dlpack(column, copy=True)
    assert not np.shares_memory(copy, column.numpy())
    np.testing.assert_array_equal(copy, column.numpy())


def test_memory_lives_as_long_as_any_view():
    column = tensor_column(np.arange(1000, dtype=np.int64), hr.int64)
    capsule, view, shared = column.capsule(), column.numpy(), np.from_dlpack(column)
    buffer = memoryview(column)
    del column
    gc.collect()
    wanted = np.arange(1000)
    for array in (view[1], shared[1], np.asarray(buffer)[1]):
        np.testing.assert_array_equal(array, wanted)
    del view, shared, buffer, capsule
    gc.collect()


def test_array_protocol():
    column = tensor_column(np.arange(3, dtype=np.int64), hr.int64)
    assert column.__array__("float32").dtype == np.float32
    assert not np.shares_memory(np.array(column), column.numpy())
    assert len(column) == 2 and column[1, 2] == 2 and column[0].tolist() == [0, 1, 2]
    assert column.nbytes == 48 and "int64 [2, 3]" in repr(column)


def test_no_elements():
    record = hr.make_example({"a": np.array([], dtype=np.int64)})
    columns = hr.parse_example([record], {"a": hr.VarLenFeature(hr.int64)})
    assert len(columns["a"]) == 1 and columns["a"].tolist() == [[]]
    assert columns["a"].values.numpy().shape == (0,) and np.from_dlpack(columns["a"].values).size == 0
    nothing = hr.parse_example([], {"a": hr.FixedLenFeature([2], hr.int64), "b": hr.FixedLenFeature([], hr.string)})
    assert nothing["a"].numpy().shape == (0, 2) and nothing["b"].tolist() == []


STRINGS = [b"", b"a", "ü".encode(), b"\0\xff", b"x" * 5000]


def test_strings():
    records = [hr.make_example({"s": value}) for value in STRINGS]
    column = hr.parse_example(records, {"s": hr.FixedLenFeature([], hr.string)})["s"]
    assert column.tolist() == STRINGS and column.shape == (5,) and column.dtype == "bytes"
    assert column.numpy().dtype == object and column.numpy().tolist() == STRINGS
    assert [column[i] for i in range(-5, 5)] == STRINGS * 2 and list(column) == STRINGS
    with pytest.raises(IndexError):
        column[5]
    offsets, payload = column.offsets.numpy(), column.payload.numpy()
    assert offsets.tolist() == np.cumsum([0] + [len(value) for value in STRINGS]).tolist()
    assert payload.tobytes() == b"".join(STRINGS)


def test_strings_of_a_shape():
    records = [hr.make_example({"s": [b"a", b"", b"b", b"cc"]}), hr.make_example({"s": STRINGS[1:]})]
    column = hr.parse_example(records, {"s": hr.FixedLenFeature([2, 2], hr.string)})["s"]
    assert column.shape == (2, 2, 2) and column.tolist()[0] == [[b"a", b""], [b"b", b"cc"]]
    assert column[1, 1, 1] == STRINGS[4] and len(column) == 2


def test_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    records = [hr.make_example({"s": value}) for value in STRINGS]
    column = hr.parse_example(records, {"s": hr.FixedLenFeature([], hr.string)})["s"]
    array = pyarrow.array(column)
    assert array.to_pylist() == STRINGS
    assert hr.parse_example(pyarrow.array(records), {"s": hr.FixedLenFeature([], hr.string)})["s"].tolist() == STRINGS


ROWS = [[1, 2, 3], [], [4]]


def test_ragged_rows():
    records = [hr.make_example({"v": np.array(row, dtype=np.int64)}) for row in ROWS]
    column = hr.parse_example(records, {"v": hr.VarLenFeature(hr.int64)})["v"]
    assert isinstance(column, hr.Ragged) and column.tolist() == ROWS and len(column) == 3
    assert column.row_splits.numpy().tolist() == [0, 3, 3, 4] and column.values.numpy().tolist() == [1, 2, 3, 4]
    assert column[0].tolist() == [1, 2, 3] and column[-1].tolist() == [4] and column.dtype == "int64"
    indices, values, shape = column.to_sparse()
    assert indices.tolist() == [[0, 0], [0, 1], [0, 2], [2, 0]] and indices.dtype == np.int64
    assert values.tolist() == [1, 2, 3, 4] and shape.tolist() == [3, 3]


def test_ragged_strings():
    records = [hr.make_example({"v": [b"a", b"bc"]}), hr.make_example({}), hr.make_example({"v": [b""]})]
    column = hr.parse_example(records, {"v": hr.VarLenFeature(hr.string)})["v"]
    assert column.tolist() == [[b"a", b"bc"], [], [b""]] and isinstance(column.values, hr.BytesColumn)
    assert column.to_sparse()[1].tolist() == [b"a", b"bc", b""]


def test_nested_ragged():
    spec = hr.RaggedFeature(hr.int64, value_key="v", partitions=(hr.RowLengths("n"), hr.UniformRowLength(2)))
    records = [
        hr.make_example({"v": np.arange(6), "n": np.array([2, 0, 1])}),
        hr.make_example({"v": np.arange(2), "n": np.array([1])}),
    ]
    column = hr.parse_example(records, {"r": spec})["r"]
    assert column.tolist() == [[[[0, 1], [2, 3]], [], [[4, 5]]], [[[0, 1]]]]
    assert isinstance(column.values, hr.Ragged) and column.values.row_splits.numpy().tolist() == [0, 2, 2, 3, 4]
    indices, values, shape = column.to_sparse()
    assert shape.tolist() == [2, 3, 2, 2] and indices.tolist()[4] == [0, 2, 0, 0] and len(values) == 8


def test_columns_of_replicas_are_joined(tmp_path):
    rows = [(list(range(n)), np.array([str(n).encode()] * n, dtype=object)) for n in (1, 3, 0, 2)]
    with hr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for numbers, strings in rows:
            values = np.array(numbers, dtype=np.int64)
            writer.write(
                hr.make_example({"n": values, "s": strings, "one": str(numbers), "padded": values, "words": strings})
            )
    features = {
        "n": hr.VarLenFeature(hr.int64),
        "s": hr.VarLenFeature(hr.string),
        "one": hr.FixedLenFeature([], hr.string),
        "padded": hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True, default_value=-1),
        "words": hr.FixedLenSequenceFeature([], hr.string, allow_missing=True, default_value=b"?"),
    }
    dataset = hr.TFRecordDataset(tmp_path).batch(4).parse(features)
    whole = next(iter(dataset))
    split = next(iter(dataset.prefetch_to_device(["/CPU:0", "/CPU:1"])))
    assert split.replicas[1]["n"].row_splits.numpy().tolist() == [0, 0, 2]
    for batch in (whole, split):
        assert batch["n"].tolist() == [numbers for numbers, _ in rows]
        assert batch["s"].tolist() == [strings.tolist() for _, strings in rows]
        assert batch["one"].tolist() == [str(numbers).encode() for numbers, _ in rows]
        assert batch["padded"].numpy().tolist() == [[0, -1, -1], [0, 1, 2], [-1, -1, -1], [0, 1, -1]]
        assert batch["words"].tolist() == [[b"1", b"?", b"?"], [b"3"] * 3, [b"?"] * 3, [b"2", b"2", b"?"]]


def test_steady_state_keeps_no_memory(tmp_path):
    """A column that is dropped gives its memory back: the pipeline reuses it."""
    with hr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for _ in range(64):
            writer.write(hr.make_example({"b": bytes(100_000)}))
    dataset = hr.TFRecordDataset(tmp_path).repeat(5).batch(8).parse({"b": hr.RawFeature([100_000], hr.uint8)})
    addresses = {batch["b"].numpy().ctypes.data for batch in dataset}
    assert len(addresses) < 40
