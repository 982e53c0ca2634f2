"""parse_example, parse_single_example, parse_tensor, decode_raw: what they take, and values written by hand."""

import threading

import headrace as hr
import numpy as np
import pytest

FEATURES = {
    "id": hr.FixedLenFeature([], hr.int64),
    "tags": hr.VarLenFeature(hr.string),
    "pair": hr.FixedLenFeature([2], hr.float32, default_value=[0.5, 1.5]),
}
RECORDS = [
    hr.make_example({"id": row, "tags": np.array([b"t%d" % i for i in range(row % 3)], dtype=object)})
    for row in range(50)
]


def as_bytes_column(records):
    """The records as the engine hands out byte strings."""
    wrapped = [hr.make_example({"record": record}) for record in records]
    return hr.parse_example(wrapped, {"record": hr.FixedLenFeature([], hr.string)})["record"]


class TensorLike:
    """A scalar or array that only NumPy knows how to read, as TensorFlow's string tensors."""

    def __init__(self, value):
        self._value = value

    def __array__(self, dtype=None, copy=None):
        array = np.empty(() if isinstance(self._value, bytes) else len(self._value), dtype=object)
        array[...] = self._value
        return array


def check(columns):
    assert list(columns) == ["id", "tags", "pair"]
    assert columns["id"].numpy().tolist() == list(range(50))
    assert columns["tags"].tolist() == [[b"t%d" % i for i in range(row % 3)] for row in range(50)]
    assert columns["pair"].numpy().tolist() == [[0.5, 1.5]] * 50


@pytest.mark.parametrize("make", [list, tuple, lambda r: np.array(r, dtype=object), as_bytes_column, TensorLike])
@pytest.mark.parametrize("num_threads", [1, 3])
def test_inputs(make, num_threads):
    check(hr.parse_example(make(RECORDS), FEATURES, num_threads=num_threads))


@pytest.mark.parametrize("kind", ["binary", "large_binary"])
def test_arrow_arrays(kind):
    pyarrow = pytest.importorskip("pyarrow")
    array = pyarrow.array(RECORDS, getattr(pyarrow, kind)())
    check(hr.parse_example(array, FEATURES))
    sliced = hr.parse_example(array[7:9], FEATURES)
    assert sliced["id"].numpy().tolist() == [7, 8]
    assert len(hr.parse_example(array[:0], FEATURES)["id"]) == 0
    assert hr.decode_raw(pyarrow.array([b"\1\2", b"\3\4"], getattr(pyarrow, kind)()), hr.uint8).numpy().tolist() == [
        [1, 2],
        [3, 4],
    ]


def test_columns_go_to_arrow_and_back():
    pyarrow = pytest.importorskip("pyarrow")
    check(hr.parse_example(pyarrow.array(as_bytes_column(RECORDS)), FEATURES))


def test_arrow_arrays_that_are_refused():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"serialized\[1\]: expected bytes, found null"):
        hr.parse_example(pyarrow.array([b"", None]), FEATURES)
    with pytest.raises(ValueError, match="binary or large_binary, found one of format 'l'"):
        hr.parse_example(pyarrow.array([1, 2]), FEATURES)
    with pytest.raises(ValueError, match="format 'u'"):
        hr.parse_example(pyarrow.array(["text"]), FEATURES)
    with pytest.raises(ValueError, match="format 'i'"):
        hr.parse_example(pyarrow.array([b"a", b"a"]).dictionary_encode(), FEATURES)


@pytest.mark.parametrize(
    "serialized, text",
    [
        ("text", "found str"),
        (3, "found int"),
        (None, "found NoneType"),
        ([b"", "text"], r"serialized\[1\]: expected bytes, found str"),
        ([b"", None], r"serialized\[1\]: expected bytes, found NoneType"),
        (np.array([b"x\0"]), "lost the zero bytes at"),
        (np.array(["x"]), "object array of bytes"),
        (np.arange(3), "object array of bytes, found int64"),
        (np.array([[b"a"]], dtype=object), "scalar or vector, found 2 dimensions"),
    ],
    ids=repr,
)
def test_inputs_that_are_refused(serialized, text):
    with pytest.raises(ValueError, match=text):
        hr.parse_example(serialized, FEATURES)


def test_failures_name_row_and_key():
    with pytest.raises(hr.SchemaError) as caught:
        hr.parse_example([*RECORDS, b"", b"\1"], FEATURES, num_threads=2)
    assert caught.value.row == 50 and caught.value.key == "id"
    with pytest.raises(ValueError, match="num_threads=0"):
        hr.parse_example(RECORDS, FEATURES, num_threads=0)


def test_nothing():
    assert hr.parse_example([], FEATURES)["pair"].shape == (0, 2)
    assert hr.parse_example(RECORDS, {}) == {}


def test_a_single_example_has_no_batch_dimension():
    features = {
        "scalar": hr.FixedLenFeature([], hr.int64),
        "name": hr.FixedLenFeature([], hr.string),
        "list": hr.VarLenFeature(hr.float32),
        "steps": hr.FixedLenSequenceFeature([2], hr.int64, allow_missing=True),
        "plain": hr.RaggedFeature(hr.int64, "v"),
        "rows": hr.RaggedFeature(hr.int64, "v", [hr.RowLengths("n")]),
        "pairs": hr.RaggedFeature(hr.int64, "w", [hr.UniformRowLength(2)]),
        "image": hr.TensorFeature([2, 2], hr.uint8),
    }
    record = hr.make_example(
        {
            **{"scalar": 7, "name": b"x", "list": [0.5, 1.5], "steps": [1, 2, 3, 4]},
            **{"v": [1, 2, 3], "n": [2, 1], "w": [1, 2, 3, 4], "image": hr.make_tensor(np.eye(2, dtype=np.uint8))},
        }
    )
    for columns in (hr.parse_single_example(record, features), hr.parse_example(record, features)):
        assert columns["scalar"].shape == () and columns["scalar"].numpy() == 7
        assert columns["name"].shape == () and columns["name"].tolist() == b"x"
        assert columns["list"].numpy().tolist() == [0.5, 1.5]
        assert columns["steps"].numpy().tolist() == [[1, 2], [3, 4]]
        assert columns["plain"].numpy().tolist() == [1, 2, 3]
        assert columns["rows"].tolist() == [[1, 2], [3]]
        assert columns["pairs"].numpy().tolist() == [[1, 2], [3, 4]]
        assert columns["image"].numpy().tolist() == [[1, 0], [0, 1]]
    assert hr.parse_single_example(TensorLike(record), features)["scalar"].numpy() == 7


def test_a_single_example_that_fails():
    with pytest.raises(hr.SchemaError) as caught:
        hr.parse_single_example(b"", FEATURES)
    assert caught.value.key == "id" and caught.value.row is None
    with pytest.raises(ValueError, match="Input serialized must be a scalar"):
        hr.parse_single_example(RECORDS, FEATURES)


DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_tensors(dtype):
    arrays = [(np.arange(6).reshape(2, 3) + step).astype(dtype) for step in range(3)]
    protos = [hr.make_tensor(array) for array in arrays]
    single = hr.parse_tensor(protos[0], dtype)
    assert single.dtype == dtype
    np.testing.assert_array_equal(single.numpy(), arrays[0])
    stacked = hr.parse_tensor(protos, dtype, num_threads=2).numpy()
    assert stacked.dtype == dtype
    np.testing.assert_array_equal(stacked, np.stack(arrays))
    grid = np.array([[protos[0]], [protos[1]]], dtype=object)
    np.testing.assert_array_equal(hr.parse_tensor(grid, dtype).numpy(), np.stack(arrays[:2])[:, None])
    raw = hr.decode_raw([array.tobytes() for array in arrays], dtype).numpy()
    np.testing.assert_array_equal(raw, np.stack(arrays).reshape(3, 6))
    swapped = hr.decode_raw(arrays[0].astype(arrays[0].dtype.newbyteorder()).tobytes(), dtype, little_endian=False)
    np.testing.assert_array_equal(swapped.numpy(), arrays[0].reshape(-1))


def test_tensors_that_are_refused():
    floats = hr.make_tensor(np.zeros([2], dtype=np.float32))
    with pytest.raises(hr.SchemaError, match=r"Type mismatch between parsed tensor \(float32\) and dtype \(int64\)"):
        hr.parse_tensor(floats, hr.int64)
    with pytest.raises(hr.SchemaError, match="Cannot batch tensors with different shapes") as caught:
        hr.parse_tensor([floats, hr.make_tensor(np.zeros([3], dtype=np.float32))], hr.float32)
    assert (caught.value.row, caught.value.expected, caught.value.found) == (1, "[2]", "[3]")
    with pytest.raises(hr.SchemaError, match="JPEG"):
        hr.parse_tensor([floats, b"\xff\xd8\xff\xe0"], hr.float32)
    with pytest.raises(ValueError, match="out_type='quaternion'"):
        hr.parse_tensor(floats, "quaternion")


def test_raw_bytes_of_any_rank():
    strings = np.array([[b"ab", b"cd"]], dtype=object)
    assert hr.decode_raw(strings, hr.uint8).numpy().tolist() == [[[97, 98], [99, 100]]]
    assert hr.decode_raw(b"", hr.int32).shape == (0,)
    assert hr.decode_raw([], hr.int32).shape == (0, 0)
    assert hr.decode_raw([b"", b""], hr.int32).shape == (2, 0)
    column = as_bytes_column([b"ab", b"cd"])
    assert hr.decode_raw(column, hr.uint8).numpy().tolist() == [[97, 98], [99, 100]]


def test_raw_bytes_of_a_fixed_length():
    strings = [b"abcdef", b"abc", b""]
    little = hr.decode_raw(strings, hr.uint16, fixed_length=4).numpy()
    assert little.tolist() == [[0x6261, 0x6463], [0x6261, 0x63], [0, 0]]
    big = hr.decode_raw(strings, hr.uint16, little_endian=False, fixed_length=4).numpy()
    assert big.tolist() == [[0x6162, 0x6364], [0x6162, 0x6300], [0, 0]]


@pytest.mark.parametrize(
    "strings, options, text",
    [
        ([b"abc"], {}, "length 3 that is not a multiple of 2, the size of int16"),
        ([b"ab", b"abcd"], {}, "element 1 has size 4 != 2"),
        ([b"ab"], {"fixed_length": 5}, r"fixed_length \(5\) must be a multiple of the size of out_type \(2\)"),
        ([b"ab"], {"fixed_length": 0}, r"fixed_length \(0\) must be greater than zero"),
        ([b"ab"], {"fixed_length": "4"}, "fixed_length='4'"),
        ([b"ab"], {"out_type": hr.string}, "out_type"),
    ],
    ids=repr,
)
def test_raw_bytes_that_are_refused(strings, options, text):
    with pytest.raises(ValueError, match=text):
        hr.decode_raw(strings, **{"out_type": hr.int16, **options})


def test_the_lock_is_released_while_parsing():
    # Another thread counts on: were the lock held, it would stand still from the first to the last of the parses.
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1

    array = np.zeros([1 << 22], dtype=np.uint8)
    proto = [hr.make_tensor(array)] * 8
    thread = threading.Thread(target=count)
    thread.start()
    try:
        during = 0
        for _ in range(3):
            before = counted
            hr.parse_tensor(proto, hr.uint8)
            during += counted - before
    finally:
        stop.set()
        thread.join()
    assert during > 100
