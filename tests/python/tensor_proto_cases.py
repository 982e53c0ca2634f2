"""Serialized TensorProtos and what they are: the rows of the page on TensorFlow's behaviour, each with the value written down.

`ours` of a case is an array, or the text of the SchemaError. `theirs` says what tf.io.parse_tensor gives: the same array, an
error, or, where headrace refuses on purpose what TensorFlow loses or invents, the array that TensorFlow gives.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from wire_bytes import field, fixed, group, varint, varint_field

NUMBERS = {
    **{"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8, "int64": 9},
    **{"bool": 10, "qint8": 11, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23},
    **{"float8_e5m2": 24, "float8_e4m3fn": 25, "float8_e4m3fnuz": 26, "float8_e4m3b11fnuz": 27, "float8_e5m2fnuz": 28},
}
FLOAT8 = [name for name in NUMBERS if name.startswith("float8")]
CONTENT, FLOAT, DOUBLE, INT, STRING, SCOMPLEX, INT64, BOOL, DCOMPLEX, HALF = 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
UINT32, UINT64, FLOAT8_VAL = 16, 17, 18
ERROR = object()  # TensorFlow fails, too


@dataclass(frozen=True)
class Case:
    name: str
    dtype: str  # asked for
    proto: bytes
    ours: Any
    theirs: Any = None  # None: as ours
    shape: Any = None


def shape(*dims):
    return field(2, b"".join(field(2, varint_field(1, dim)) for dim in dims))


def head(dtype, *dims):
    return varint_field(1, NUMBERS[dtype]) + shape(*dims)


def packed(number, *values):
    return field(number, b"".join(varint(value) for value in values))


def floats(*values):
    return np.array(values, np.float32).tobytes()


def array(dtype, values):
    return np.array(values, dtype)


def bits(dtype, values):
    """Elements of a type that NumPy has not, by their bits."""
    return np.array(values, np.uint8 if dtype.startswith("float8") else np.uint16)


def content_of_every_dtype():
    for dtype in NUMBERS:
        if dtype in ("string", "bool", "qint8"):
            continue
        if dtype == "bfloat16" or dtype in FLOAT8:
            values = bits(dtype, [[0x3F, 0x80, 0xFF], [0, 1, 0x7F]])
        else:
            values = array(dtype, [[1, 2, 100], [0, 3, 127]])
        yield Case(f"content {dtype}", dtype, head(dtype, 2, 3) + field(CONTENT, values.tobytes()), values)
    yield Case("content bool", "bool", head("bool", 3) + field(CONTENT, b"\1\0\1"), array("bool", [1, 0, 1]))


def typed_fields():
    """(dtype, field with two values, the values)."""
    minus = 2**64 - 5
    yield "float32", field(FLOAT, floats(1.5, -0.0)), array("float32", [1.5, -0.0])
    yield "float64", field(DOUBLE, array("float64", [0.1, 2]).tobytes()), array("float64", [0.1, 2])
    for dtype in ("int32", "int16", "int8"):
        yield dtype, packed(INT, minus, 100), array(dtype, [-5, 100])
    for dtype in ("uint8", "uint16"):
        yield dtype, packed(INT, 255, 7), array(dtype, [255, 7])
    yield "int64", packed(INT64, minus, 2**62), array("int64", [-5, 2**62])
    yield "uint32", packed(UINT32, 2**32 - 1, 7), array("uint32", [2**32 - 1, 7])
    yield "uint64", packed(UINT64, 2**64 - 1, 7), array("uint64", [2**64 - 1, 7])
    yield "bool", packed(BOOL, 1, 0), array("bool", [1, 0])
    yield "float16", packed(HALF, 0x3C00, 0xC000), array("float16", [1, -2])
    yield "bfloat16", packed(HALF, 0x3F80, 0xC000), bits("bfloat16", [0x3F80, 0xC000])
    yield "complex64", field(SCOMPLEX, floats(1, 2, 3, 4)), array("complex64", [1 + 2j, 3 + 4j])
    yield "complex128", field(DCOMPLEX, array("float64", [1, 2, 3, 4]).tobytes()), array("complex128", [1 + 2j, 3 + 4j])
    yield "string", field(STRING, b"ab") + field(STRING, b"c"), array(object, [b"ab", b"c"])
    for dtype in FLOAT8:
        yield dtype, field(FLOAT8_VAL, b"\x40\x81"), bits(dtype, [0x40, 0x81])


def typed_field_of_every_dtype():
    for dtype, values, both in typed_fields():
        yield Case(f"typed {dtype}", dtype, head(dtype, 2) + values, both)
        filled = np.concatenate([both, both[1:], both[1:]]).reshape(2, 2)
        yield Case(f"the last fills {dtype}", dtype, head(dtype, 2, 2) + values, filled)
        yield Case(f"too many {dtype}", dtype, head(dtype, 1) + values, "has 2 values, expected 1", both[:1])
        empty = np.zeros(2, both.dtype) if dtype != "string" else array(object, [b"", b""])
        yield Case(f"no values {dtype}", dtype, head(dtype, 2), empty)
        yield Case(f"content of 0 bytes {dtype}", dtype, head(dtype, 2) + field(CONTENT, b"") + values, both)


def long_typed_fields():
    """Of so many values that they are read in blocks, one value a varint of any length."""
    numbers = [(-1) ** i * (1 << i % 63) + i for i in range(2000)]
    for dtype, number in [("int64", INT64), ("int32", INT), ("int16", INT), ("int8", INT), ("uint8", INT), ("uint16", INT)]:
        limits = np.iinfo(dtype)
        fitting = [value for value in numbers if limits.min <= value <= limits.max]
        proto = head(dtype, len(fitting)) + packed(number, *(value % 2**64 for value in fitting))
        yield Case(f"{len(fitting)} values of {dtype}", dtype, proto, array(dtype, fitting))
    for dtype, number in [("uint64", UINT64), ("uint32", UINT32)]:
        fitting = [abs(value) % 2**32 if dtype == "uint32" else abs(value) for value in numbers]
        yield Case(f"{len(fitting)} values of {dtype}", dtype, head(dtype, len(fitting)) + packed(number, *fitting), array(dtype, fitting))
    low = [value % 2**16 for value in numbers]
    half = head("float16", len(low)) + packed(HALF, *(value % 2**64 for value in numbers))
    yield Case("2000 values of float16", "float16", half, np.array(low, np.uint16).view(np.float16))
    truths = head("bool", len(numbers)) + packed(BOOL, *(i % 3 for i in range(len(numbers))))
    yield Case("2000 values of bool", "bool", truths, array("bool", [i % 3 for i in range(len(numbers))]))


def values():
    f2, i2, s2 = head("float32", 2), head("int64", 2), head("string", 2)
    one_two = array("float32", [1, 2])
    yield Case("content too short", "float32", f2 + field(CONTENT, floats(1)), "tensor_content has 4 bytes", ERROR)
    yield Case("content too long", "float32", f2 + field(CONTENT, floats(1, 2, 3)), "tensor_content has 12 bytes", ERROR)
    yield Case("content and typed", "float32", f2 + field(CONTENT, floats(1, 2)) + field(FLOAT, floats(8, 9)), one_two)
    wrong = f2 + field(CONTENT, floats(1)) + field(FLOAT, floats(8, 9))
    yield Case("content of a wrong size and typed", "float32", wrong, "tensor_content has 4 bytes", ERROR)
    yield Case("unpacked", "float32", f2 + fixed(FLOAT, floats(1)) + fixed(FLOAT, floats(2)), one_two)
    yield Case("two chunks", "float32", f2 + field(FLOAT, floats(1)) + field(FLOAT, floats(2)), one_two)
    mixed = i2 + varint_field(INT64, 1) + packed(INT64, 2)
    yield Case("unpacked, then packed", "int64", mixed, array("int64", [1, 2]))
    zeros = array("int64", [0, 0])
    yield Case("int_val for int64", "int64", i2 + packed(INT, 1, 2), "values in int_val, expected in int64_val", zeros)
    yield Case("int_val for uint32", "uint32", head("uint32", 1) + packed(INT, 1), "values in int_val", array("uint32", [0]))
    half = head("float16", 1) + field(FLOAT, floats(1))
    yield Case("float_val for half", "float16", half, "values in float_val", array("float16", [0]))
    double = head("float32", 1) + field(DOUBLE, array("float64", [1]).tobytes())
    yield Case("double_val for float", "float32", double, "values in double_val", array("float32", [0]))
    yield Case("half_val of 2^40 + 0x3C00", "float16", head("float16", 1) + packed(HALF, 2**40 + 0x3C00), array("float16", [1]))
    for dtype, value, wrapped in [("uint8", 300, 44), ("int8", 200, -56), ("int16", 2**16, 0), ("uint16", 2**17 + 1, 1)]:
        proto = head(dtype, 1) + packed(INT, value)
        yield Case(f"{value} for {dtype}", dtype, proto, "int_val has a value out of range", array(dtype, [wrapped]))
    yield Case("2^40 for int32", "int32", head("int32", 1) + packed(INT, 2**40), "out of range", array("int32", [0]))
    yield Case("bool_val 2", "bool", head("bool", 1) + packed(BOOL, 2), array("bool", [1]))
    yield Case("bool content 2", "bool", head("bool", 1) + field(CONTENT, b"\2"), "bytes other than 0 and 1", ERROR)
    odd = head("complex64", 2) + field(SCOMPLEX, floats(1, 2, 3))
    yield Case("three parts for two complex", "complex64", odd, "odd number of parts", array("complex64", [1 + 2j, 1 + 2j]))
    yield Case("string content", "string", s2 + field(CONTENT, b"\2\1xyz"), array(object, [b"xy", b"z"]))
    yield Case("string content cut", "string", s2 + field(CONTENT, b"\2\2xyz"), "does not hold 2 strings", ERROR)
    qint8 = head("qint8", 1) + field(CONTENT, b"\1")
    yield Case("qint8", "int8", qint8, "dtype qint8 is not supported", ERROR)
    yield Case("another dtype", "float64", f2 + field(FLOAT, floats(1)), "Type mismatch between parsed tensor", ERROR)


def shapes():
    one = field(FLOAT, floats(1))
    scalar = array("float32", 1)
    yield Case("no shape", "float32", varint_field(1, 1) + one, scalar)
    yield Case("shape twice", "float32", head("float32", 2) + shape(1) + one, array("float32", [[1], [1]]))
    yield Case("dimension -1", "float32", head("float32", 2**64 - 1) + one, "dimension 0 is -1", ERROR)
    unknown = varint_field(1, 1) + field(2, varint_field(3, 1)) + one
    yield Case("unknown rank", "float32", unknown, "its rank is unknown", scalar)
    empty = head("float32", 0, 2**40)
    yield Case("0, then huge", "float32", empty, np.zeros((0, 2**40), np.float32), shape=[0, 2**40])
    yield Case("overflow before the 0", "float32", head("float32", 2**40, 2**40, 0), "too many elements", ERROR)
    yield Case("overflow", "float32", head("float32", 2**40, 2**40) + one, "too many elements", ERROR)
    yield Case("2^40 from one value", "float32", head("float32", 2**40) + one, "claims 1099511627776 elements", ERROR)
    yield Case("255 dimensions", "float32", head("float32", *[1] * 255) + one, "more than 254", ERROR)
    deep = np.ones([1] * 40, np.float32)
    yield Case("40 dimensions", "float32", head("float32", *[1] * 40) + one, deep, shape=[1] * 40)


def messages():
    one = field(FLOAT, floats(1))
    plain = head("float32", 1) + one
    value = array("float32", [1])
    named = varint_field(1, 1) + field(2, field(2, field(2, b"height") + varint_field(1, 1))) + one
    extras = varint_field(3, 9) + named + field(99, b"junk") + group(50, varint_field(1, 1))
    yield Case("version, names, unknown fields, a group", "float32", extras, value)
    for number, name in ((14, "resource_handle_val"), (15, "variant_val")):
        for unknown in (varint_field(number, 1), fixed(number, b"1234"), fixed(number, b"12345678"), group(number, b"")):
            yield Case(f"{name} of wire type {unknown[0] & 7}", "float32", unknown + plain, value)
        used = plain + field(number, field(2, b"x"))
        yield Case(f"{name} beside values", "float32", used, f"values in {name}", value)
    for number in (0, 99, 101):
        yield Case(f"dtype {number}", "float32", varint_field(1, number) + shape(1) + one, f"unknown dtype {number}", ERROR)
    yield Case("dtype 2^32 + 1", "float32", varint_field(1, 2**32 + 1) + shape(1) + one, value)
    yield Case("dtype twice", "float32", varint_field(1, 2) + plain, value)
    content = head("float32", 1) + field(CONTENT, b"12345678") + field(CONTENT, floats(1))
    yield Case("content twice", "float32", content, value)
    yield Case("no bytes", "float32", b"", "Could not parse `serialized` as TensorProto", ERROR)
    for name, proto, hint in [
        ("raw floats", floats(0.1, 0.2, 0.3), "use decode_raw"),
        ("a JPEG", b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
        ("a PNG", b"\x89PNG\r\n\x1a\n", "PNG"),
        ("text", b"some text", "use decode_raw"),
        ("cut", plain[:-1], "Could not parse"),
        ("a byte 00 behind", plain + b"\0", "Could not parse"),
    ]:
        yield Case(name, "float32", proto, hint, ERROR)


CASES = [*content_of_every_dtype(), *typed_field_of_every_dtype(), *long_typed_fields(), *values(), *shapes(), *messages()]
