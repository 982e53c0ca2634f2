"""Element types. A DType is a str that holds NumPy's name, so numpy.dtype() and tf.as_dtype() take it as it is."""

from .errors import ArgumentError


class DType(str):
    """Name of an element type: "float32", "bool", …; "bytes" for byte strings of any length."""

    __slots__ = ()

    def __repr__(self):
        return f"headrace.{'string' if self == 'bytes' else 'bool_' if self == 'bool' else str(self)}"


bool_ = DType("bool")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
float16 = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = DType("float64")
complex64 = DType("complex64")
complex128 = DType("complex128")
float8_e5m2 = DType("float8_e5m2")
float8_e4m3fn = DType("float8_e4m3fn")
float8_e4m3fnuz = DType("float8_e4m3fnuz")
float8_e4m3b11fnuz = DType("float8_e4m3b11fnuz")
float8_e5m2fnuz = DType("float8_e5m2fnuz")
string = DType("bytes")

_ALL = {
    str(dtype): dtype
    for dtype in (
        *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
        *(float16, bfloat16, float32, float64, complex64, complex128, string),
        *(float8_e5m2, float8_e4m3fn, float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz),
    )
}
_OTHER_NAMES = {"string": string, "str": string, "object": string, "half": float16, "double": float64}


def as_dtype(value, parameter="dtype"):
    """The DType that `value` stands for.

    Takes a DType, a name, a NumPy type or dtype, Python's bool, int, float, complex, bytes and str, and TensorFlow's
    and ml_dtypes' types (by their name).

    Raises:
        ValueError: naming `parameter` and the value.
    """
    if isinstance(value, DType):
        return value
    name = value if isinstance(value, str) else _name_of(value)
    dtype = _ALL.get(name) or _OTHER_NAMES.get(name)
    if dtype is None:
        raise ArgumentError(f"{parameter}={value!r}: no element type of headrace")
    return dtype


def _name_of(value):
    if value in (bytes, str):
        return "bytes"
    name = getattr(value, "name", None)  # numpy.dtype, tf.DType
    if isinstance(name, str):
        return "bytes" if name.startswith(("bytes", "str")) else name
    import numpy

    try:
        return numpy.dtype(value).name
    except TypeError:
        return None


def ml_dtype(name):
    """NumPy's dtype for "bfloat16" or one of float8, which the package ml_dtypes provides.

    Raises:
        ValueError: when ml_dtypes is not installed.
    """
    import numpy

    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentError(
            f"{name}: NumPy has no such type; install ml_dtypes, or read the column through __dlpack__"
        ) from None
    return numpy.dtype(getattr(ml_dtypes, name))


def numpy_dtype(dtype):
    """NumPy's dtype for a number type of headrace.

    Raises:
        ValueError: for those of ml_dtypes when that is not installed.
    """
    import numpy

    return ml_dtype(dtype) if dtype == "bfloat16" or dtype.startswith("float8") else numpy.dtype(str(dtype))
