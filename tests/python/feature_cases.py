"""Specs and what they make of records: the rows of the page on TensorFlow's behaviour, section 4, each with the value.

`spec(io, types)` makes the spec of feature k, by hr and hr or tf.io and tf. `ours` is the array of a dense column, a list of
rows, or an error: SchemaError, ValueError, and words of its text. `theirs` the same of TensorFlow where that is something else;
its error is the text alone.
"""

from dataclasses import dataclass
from typing import Any, Callable

import headrace as hr
import numpy as np

SAME = object()
NOT_ASKED = object()  # it would end the process


@dataclass(frozen=True)
class Case:
    name: str
    rows: tuple  # the values of k in each record; None: it is not there
    spec: Callable
    ours: Any
    theirs: Any = SAME

    def __str__(self):
        return self.name

    @property
    def records(self):
        return [hr.make_example({} if row is None else {"k": row}) for row in self.rows]

    @property
    def fails(self):
        return isinstance(self.ours, tuple)


def fixed(shape, dtype="int64", *default):
    return lambda io, types: io.FixedLenFeature(shape, getattr(types, dtype), *default)


def padded(shape, dtype="int64", *default):
    return lambda io, types: io.FixedLenSequenceFeature(shape, getattr(types, dtype), True, *default)


def varlen(dtype="int64"):
    return lambda io, types: io.VarLenFeature(getattr(types, dtype))


def ragged(dtype="int64"):
    return lambda io, types: io.RaggedFeature(getattr(types, dtype), row_splits_dtype=types.int64)


def dense(values, dtype="int64"):
    return np.array(values, object if dtype == "string" else dtype)


NOTHING = np.zeros(0, np.int64)
NO_TEXT = np.zeros(0, object)
NO_FLOATS = np.zeros(0, np.float32)
ABSENT = (hr.SchemaError, r"Feature: k \(data type: int64\) is required but could not be found")
RESHAPE = "Input to reshape is a tensor with {} values, but the requested shape has {}"
MULTIPLE = "Number of int64 values is not a multiple of stride length.  ?Saw 3 values but output shape is: \\[\\?,2\\]"


def count(found, shape, dtype="int64"):
    return hr.SchemaError, rf"Number of {dtype} values != expected\.  ?Values size: {found} but output shape: {shape}"


def wrong_type(found, wanted="int64"):
    return hr.SchemaError, rf"Data types don't match\. Data type: {found} but expected type: {wanted}"


def wrong_type_of_list(found, wanted="int64"):
    return hr.SchemaError, rf"Data types don't match\. Expected type: {wanted}, Actual type: {found}"


def fixed_cases():
    yield Case("absent, with a default", (None, 1), fixed([], "int64", 7), dense([7, 1]))
    yield Case("absent, with a default of a shape", (None,), fixed([2], "float32", [0.5, 1.5]), dense([[0.5, 1.5]], "float32"))
    yield Case("absent, with a default of bytes", (None, b"x"), fixed([], "string", "seven"), dense([b"seven", b"x"], "string"))
    yield Case("absent, without a default", (1, None), fixed([]), ABSENT)
    yield Case("0 values", (1, NOTHING), fixed([]), count(0, r"\[\]"))
    yield Case("0 values, with a default", (1, NOTHING), fixed([], "int64", 7), count(0, r"\[\]"))
    yield Case("0 values of another kind", (1, NO_TEXT), fixed([], "int64", 7), wrong_type("string"))
    yield Case("too few values", (np.array([1, 2]), [1]), fixed([2]), count(1, r"\[2\]"))
    yield Case("too many values", (1, [1, 2, 3]), fixed([]), count(3, r"\[\]"))
    yield Case("too few strings", (np.array([b"a"], object),), fixed([2], "string"), count(1, r"\[2\]", "bytes"))
    too_many = np.array([b"a", b"b", b"c"], object)
    yield Case("too many strings", (too_many,), fixed([2], "string"), count(3, r"\[2\]", "bytes"), "Can't parse serialized Example")
    yield Case("too many floats", (np.float32([1, 2, 3]),), fixed([2], "float32"), count(3, r"\[2\]", "float"))
    for value, name in ((np.float32([1]), "float"), (b"x", "string")):
        yield Case(f"a {name} for an integer", (1, value), fixed([]), wrong_type(name))
    yield Case("an integer for a string", (1,), fixed([], "string"), wrong_type("int64", "string"))
    scalar = dense([[7, 7]])
    yield Case("a scalar default for a shape", (None,), fixed([2], "int64", 7), scalar, RESHAPE.format(1, 2))
    yield Case("the same, with the key there", ([1, 2],), fixed([2], "int64", 7), dense([[1, 2]]), RESHAPE.format(1, 2))
    yield Case("a default of another shape", (None,), fixed([2], "int64", [[1], [2]]), dense([[1, 2]]))
    yield Case("a default [[7]] of a scalar", (None,), fixed([], "int64", [[7]]), dense([7]))
    yield Case("a default of 3 for 2", (None,), fixed([2], "int64", [1, 2, 3]), (ValueError, "3 elements"), RESHAPE.format(3, 2))
    yield Case("an integer as default of floats", (None,), fixed([], "float32", 7), dense([7], "float32"))
    for default in (1.5, "x"):
        text = f"Cannot convert {default!r} to EagerTensor of dtype int64"
        yield Case(f"{default!r} as default of integers", (None,), fixed([], "int64", default), (ValueError, "does not fit int64"), text)
    yield Case("shape [0], 0 values", (NOTHING,), fixed([0]), np.zeros((1, 0), np.int64))
    yield Case("shape [2, 0], 0 values", (NOTHING,), fixed([2, 0]), np.zeros((1, 2, 0), np.int64))
    yield Case("shape [0], absent", (None,), fixed([0]), ABSENT)
    yield Case("shape [0], absent, default []", (None,), fixed([0], "int64", []), np.zeros((1, 0), np.int64), ABSENT[1])
    for shape, text in (
        (None, "Missing shape for feature k"),
        ([None], "First dimension of shape for feature k unknown"),
        ([2, None], "All dimensions of shape for feature k need to be known"),
    ):
        yield Case(f"shape {shape}", (1,), fixed(shape), (ValueError, "shape="), text)
    yield Case("no record", (), fixed([2]), np.zeros((0, 2), np.int64))


def list_cases():
    for name, of in (("VarLen", varlen), ("Ragged", ragged)):
        yield Case(f"{name}", ([1, 2], None, 3, NOTHING), of(), [[1, 2], [], [3], []])
        yield Case(f"{name}, nothing there", (None, None), of(), [[], []])
        yield Case(f"{name} of strings", (b"a", None), of("string"), [[b"a"], []])
        yield Case(f"{name}, no record", (), of(), [])
        yield Case(f"{name} of another type", (1, np.float32([1])), of(), wrong_type_of_list("float"))
        yield Case(f"{name}, 0 values of another type", (1, NO_FLOATS), of(), wrong_type_of_list("float"))
    yield Case("padded steps of 2", ([1, 2], [3, 4, 5, 6], None), padded([2]), dense([[[1, 2], [0, 0]], [[3, 4], [5, 6]], [[0, 0]] * 2]))
    yield Case("padded with -1", ([1, 2], None), padded([], "int64", -1), dense([[1, 2], [-1, -1]]))
    yield Case("padded strings", (b"a", None), padded([], "string"), dense([[b"a"], [b""]], "string"))
    yield Case("padded, nothing there", (None, NOTHING), padded([3]), np.zeros((2, 0, 3), np.int64))
    yield Case("padded, no record", (), padded([3]), np.zeros((0, 0, 3), np.int64))
    yield Case("padded, no whole step", ([1, 2], [1, 2, 3]), padded([2]), (hr.SchemaError, MULTIPLE))
    yield Case("padded, of another type", (1, b"x"), padded([]), wrong_type("string"))
    yield Case("padded with two values", ([1, 2],), padded([2], "int64", [1, 2]), (ValueError, "2 elements"), RESHAPE.format(2, 1))
    yield Case("steps of no elements", ([1],), padded([2, 0]), (ValueError, "no elements"), NOT_ASKED)
    no_absent = lambda io, types: io.FixedLenSequenceFeature([], types.int64)
    yield Case("padded, none may be absent", (1,), no_absent, (ValueError, "requires allow_missing to be True"))


def dtype_cases():
    refused = "not in the list of allowed values: float, int64, string|attr=sparse_types|attr=Tdense"
    for name, of in (("FixedLen", lambda dtype: fixed([], dtype)), ("padded", lambda dtype: padded([], dtype))):
        values = dense([3], "int32") if name == "FixedLen" else dense([[3]], "int32")
        yield Case(f"{name} of int32", (3,), of("int32"), values, refused)
    yield Case("VarLen of uint8", (3,), varlen("uint8"), [[3]], refused)
    ragged_refused = "Argument `dtype` must be int64, float32, or bytes"
    yield Case("Ragged of float64", (np.float32([0.5]),), ragged("float64"), [[0.5]], ragged_refused)
    out_of_range = (hr.SchemaError, r"is not uint8 \(0 to 255\)")
    yield Case("VarLen of uint8, out of range", (3, 300), varlen("uint8"), out_of_range, refused)
    bits = np.array([0x7F800001, 0xFFC12345, 0x7FC00000, 0xFF800000, 0x80000000, 1, 0x807FFFFF], np.uint32).view(np.float32)
    yield Case("bits of floats", (bits,), fixed([7], "float32"), bits[None])
    yield Case("bits of floats, default", (None,), fixed([7], "float32", bits), bits[None])
    yield Case("bits of floats, padded", (bits,), padded([], "float32"), bits[None])


CASES = [*fixed_cases(), *list_cases(), *dtype_cases()]
