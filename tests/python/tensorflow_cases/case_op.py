"""The native ops against a source written in Python: what they hand over, and how they fail."""

import ctypes

import numpy as np
import pytest
import tensorflow as tf

from headrace import _tf_ops

_ABI = 0x3143525345434152
_INT64, _FLOAT32, _BYTES = 5, 12, 16
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("owner", ctypes.c_void_p),
        ("release", _RELEASE),
    ]


class Slice(ctypes.Structure):
    _fields_ = [
        ("outcome", ctypes.c_int32),
        ("code", ctypes.c_int32),
        ("text", ctypes.c_char_p),
        ("seed", ctypes.c_int32 * 2),
        ("count", ctypes.c_int32),
        ("tensors", ctypes.POINTER(Tensor)),
        ("source", ctypes.c_int64),
        ("owner", ctypes.c_void_p),
        ("release", _RELEASE),
    ]


_NEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(Slice))
_OPEN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Slice))


class Source(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_uint64),
        ("self", ctypes.c_void_p),
        ("next", _NEXT),
        ("open", _OPEN),
        ("close", _RELEASE),
    ]


class FakeSource:
    """Gives `arrays` once per replica, then `outcome`; counts what is released."""

    def __init__(self, arrays=(), outcome=1, code=0, text=b""):
        self.arrays, self.outcome, self.code, self.text = arrays, outcome, code, text
        self.given, self.released_tensors, self.released_slices, self.closed = set(), 0, 0, 0
        self._keep = []
        self.struct = Source(_ABI, None, _NEXT(self._next), _OPEN(self._open), _RELEASE(self._close))
        self.address = tf.constant(ctypes.addressof(self.struct), tf.int64)
        self._release_tensor = _RELEASE(self._count_tensor)
        self._release_slice = _RELEASE(self._count_slice)

    def _count_tensor(self, _):
        self.released_tensors += 1

    def _count_slice(self, _):
        self.released_slices += 1

    def _close(self, _):
        self.closed += 1

    def _open(self, _, answer):
        answer.contents.release = self._release_slice
        answer.contents.source = 4321

    def _next(self, _, replica, answer):
        answer = answer.contents
        answer.release = self._release_slice
        if replica in self.given or not self.arrays:
            answer.outcome, answer.code, answer.text = self.outcome, self.code, self.text
            return
        self.given.add(replica)
        tensors = (Tensor * len(self.arrays))()
        for tensor, (dtype, array) in zip(tensors, self.arrays):
            dims = (ctypes.c_int64 * array.ndim)(*array.shape)
            tensor.dtype, tensor.rank, tensor.dims = dtype, array.ndim, dims
            tensor.data, tensor.bytes, tensor.release = array.ctypes.data, array.nbytes, self._release_tensor
            self._keep.append(dims)
        answer.count, answer.tensors = len(self.arrays), tensors
        answer.seed[0], answer.seed[1] = 11, -replica
        self._keep.append(tensors)


def aligned(values):
    values = np.asarray(values)
    memory = np.zeros(values.nbytes + 256, np.uint8)
    start = -memory.ctypes.data % 256
    array = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


def take(source, dtypes, replica=0):
    return _tf_ops.load().headrace_next(source=source.address, replica=tf.constant(replica, tf.int64), T=dtypes)


def test_arrays_share_memory_and_are_released_once():
    floats, ints = aligned(np.arange(6, dtype=np.float32).reshape(2, 3)), aligned([3, 4])
    source = FakeSource([(_FLOAT32, floats), (_INT64, ints)])
    seed, (first, second) = take(source, [tf.float32, tf.int64], replica=2)
    assert seed.numpy().tolist() == [11, -2]
    assert first.numpy().tolist() == floats.tolist() and second.numpy().tolist() == [3, 4]
    floats[0, 0] = 99
    assert first.numpy()[0, 0] == 99
    assert (source.released_slices, source.released_tensors) == (1, 0)
    del first, second
    assert source.released_tensors == 2


def test_empty_arrays_pass():
    source = FakeSource([(_FLOAT32, aligned(np.zeros([0, 3], np.float32)))])
    _, (empty,) = take(source, [tf.float32])
    assert empty.shape == [0, 3]


def test_strings_of_offset_type():
    memory = np.zeros(512, np.uint8)
    start = -memory.ctypes.data % 256
    block = memory[start : start + 256]
    texts = [b"abc", b"", b"longer than any short string may be"]
    at = 24 * len(texts)
    for place, text in enumerate(texts):
        header = np.array([len(text) << 2 | 2, at - 24 * place, 1], np.uint32)
        block[24 * place : 24 * place + 12] = header.view(np.uint8)
        block[at : at + len(text)] = np.frombuffer(text, np.uint8)
        at += len(text)
    headers = block[: 24 * len(texts)]
    source = FakeSource([(_BYTES, headers)])
    source.arrays = [(_BYTES, _Strings(headers))]
    _, (strings,) = take(source, [tf.string])
    assert strings.numpy().tolist() == texts
    assert tf.strings.length(strings).numpy().tolist() == [3, 0, 35]


class _Strings:
    """Headers of 24 bytes, seen as an array of strings."""

    ndim = 1

    def __init__(self, headers):
        self.shape, self.nbytes, self.ctypes = (len(headers) // 24,), len(headers), headers.ctypes


@pytest.mark.parametrize(
    "code, error",
    [
        (1, tf.errors.InvalidArgumentError),
        (2, tf.errors.NotFoundError),
        (3, tf.errors.PermissionDeniedError),
        (4, tf.errors.UnknownError),
        (5, tf.errors.DataLossError),
        (6, tf.errors.InvalidArgumentError),
        (7, tf.errors.CancelledError),
        (8, tf.errors.ResourceExhaustedError),
        (9, tf.errors.InternalError),
    ],
)
def test_failures_keep_their_text(code, error):
    source = FakeSource(outcome=2, code=code, text=b"part-1.tfrecord, record 7, byte 1234: bad crc")
    with pytest.raises(error, match="part-1.tfrecord, record 7, byte 1234: bad crc"):
        take(source, [tf.int64])
    assert source.released_slices == 1


def test_end_of_data():
    with pytest.raises(tf.errors.OutOfRangeError):
        take(FakeSource(outcome=1), [tf.int64])


def test_other_components_than_promised_are_refused_and_released():
    source = FakeSource([(_FLOAT32, aligned(np.zeros([2], np.float32)))])
    with pytest.raises(tf.errors.InternalError, match="other components"):
        take(source, [tf.int64])
    assert source.released_tensors == 1


def test_an_address_that_is_no_source_is_refused():
    source = FakeSource()
    source.struct.abi = 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a headrace source"):
        take(source, [tf.int64])


def test_in_a_graph_every_run_takes_anew():
    source = FakeSource([(_INT64, aligned([5]))])

    @tf.function
    def step(replica):
        return _tf_ops.load().headrace_next(source=source.address, replica=replica, T=[tf.int64])[1][0]

    assert [int(step(tf.constant(replica, tf.int64))[0]) for replica in range(3)] == [5, 5, 5]
    with pytest.raises(tf.errors.OutOfRangeError):
        step(tf.constant(0, tf.int64))


def test_open_and_close():
    source = FakeSource()
    assert int(_tf_ops.load().headrace_open(dataset=source.address)) == 4321
    assert int(_tf_ops.load().headrace_close(source=source.address)) == 1
    assert source.closed == 1
