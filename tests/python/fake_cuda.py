"""The fake CUDA driver (tests/fake_cuda) for Python tests: built once, as new for each test, checked behind it."""

import ctypes
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


class _Options(ctypes.Structure):
    _fields_ = [
        ("devices", ctypes.c_int),
        ("copy_seconds_per_byte", ctypes.c_double),
        ("held_device", ctypes.c_int),
        ("latency_seconds", ctypes.c_double),
        ("memory_bytes", ctypes.c_size_t),
        ("refuses_pinning", ctypes.c_bool),
        ("knows_context_events", ctypes.c_bool),
    ]


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("contexts", "streams", "events", "allocations", "pinned_ranges")]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""


Versioned._fields_ = [
    ("version", ctypes.c_uint32 * 2),
    ("context", ctypes.c_void_p),
    ("deleter", ctypes.c_void_p),
    ("flags", ctypes.c_uint64),
    ("tensor", _Tensor),
]


def build(folder):
    """Compiles the driver; the path of the library."""
    sources = sorted((ROOT / "tests/fake_cuda").glob("*.cc"))
    library = Path(folder) / "libfake_cuda.so"
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "-o", library]
    command += [f"-I{ROOT / part}" for part in ("tests", "src", "include")]
    command += [source for source in sources if not source.stem.endswith("_test")]
    subprocess.run([*command, "-ldl"], check=True, timeout=300)
    return library


class FakeCuda:
    def __init__(self, library):
        self._library = ctypes.CDLL(str(library))
        self._library.fake_cuda_read.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
        self._library.fake_cuda_read.restype = ctypes.c_bool
        self.reset()

    def reset(self, devices=4, copy_seconds_per_byte=0.0, refuses_pinning=False):
        options = _Options(devices, copy_seconds_per_byte, -1, 0.0, 1 << 30, refuses_pinning, True)
        self._library.fake_cuda_reset(ctypes.byref(options))

    def fail(self, device, function, after, result, is_lost=False):
        self._library.fake_cuda_fail(device, function.encode(), after, result, ctypes.c_bool(is_lost))

    def read(self, address, count):
        data = ctypes.create_string_buffer(count)
        assert self._library.fake_cuda_read(address, data, count)
        return data.raw

    def leftovers(self):
        """What is alive, by name, and the violations."""
        counts = _Counts()
        self._library.fake_cuda_count(ctypes.byref(counts))
        text = ctypes.create_string_buffer(4096)
        self._library.fake_cuda_violations(text, len(text))
        alive = {name: getattr(counts, name) for name, _ in _Counts._fields_ if getattr(counts, name)}
        return alive, text.value.decode()


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def capsule_name(capsule):
    return _capsule_name(capsule).decode()


def versioned_in(capsule):
    """The Versioned of a capsule; it lives as long as the capsule."""
    return Versioned.from_address(_capsule_pointer(capsule, b"dltensor_versioned"))
