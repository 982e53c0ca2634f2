"""Examples in unusual wire forms: the rows of the page on TensorFlow's behaviour, section 3, each with what they hold.

Every case holds one feature "k" of a dtype. `ours` is the list of its values, ABSENT when a record counts as without it, or
the text of the SchemaError; `theirs` is what TensorFlow makes of it where that is something else: values, ABSENT, or ERROR.
`ours` of a legal message is what protobuf reads.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from wire_bytes import field, fixed, group, varint, varint_field

ABSENT = object()
ERROR = object()
SAME = object()
K = b"k"


KINDS = ("FixedLen", "FixedLenSequence", "VarLen", "Ragged")
DEFAULTS = {"int64": 7, "float32": 7.5, "string": b"seven"}


def spec(kind, values, dtype, io, types):
    """Feature k as this kind reads it, by hr and hr, or tf.io and tf. FixedLen has the shape of the values, and a default
    where there are none."""
    if kind == "FixedLen":
        return io.FixedLenFeature(*([], getattr(types, dtype), DEFAULTS[dtype]) if values is ABSENT else ([len(values)], getattr(types, dtype)))
    if kind == "FixedLenSequence":
        return io.FixedLenSequenceFeature([], getattr(types, dtype), allow_missing=True)
    return getattr(io, f"{kind}Feature")(getattr(types, dtype))


@dataclass(frozen=True)
class Case:
    name: str
    dtype: str
    record: bytes
    ours: Any
    theirs: Any
    is_legal: bool  # protobuf accepts it

    def __str__(self):
        return f"{self.name}, {self.dtype}"

    @property
    def fails(self):
        return isinstance(self.ours, str)

    def values(self, kind, values):
        """An array of what a column of this kind has to hold."""
        if values is ABSENT:
            values = [DEFAULTS[self.dtype]] if kind == "FixedLen" else []
        return np.array(values, object if self.dtype == "string" else self.dtype)


class Lists:
    """Writes lists of one dtype."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.number = {"string": 1, "float32": 2, "int64": 3}[dtype]
        self.one, self.two, self.three = {
            "string": (b"one", b"", b"\xff\0"),
            "float32": (1.5, -0.0, 3e38),
            "int64": (1, -2, 2**62),
        }[dtype]

    def single(self, value):
        """A value with a tag of its own."""
        if self.dtype == "string":
            return field(1, value)
        if self.dtype == "float32":
            return fixed(1, np.float32(value).tobytes())
        return varint_field(1, value % 2**64)

    def chunk(self, *values):
        """Values behind one tag, as writers write them; strings cannot be packed."""
        if self.dtype == "string":
            return b"".join(map(self.single, values))
        if self.dtype == "float32":
            return field(1, np.float32(values).tobytes())
        return field(1, b"".join(varint(value % 2**64) for value in values))

    def list(self, *values):
        """A Feature of these values."""
        return field(self.number, self.chunk(*values))

    def other(self):
        """A Feature of another kind."""
        return Lists("float32" if self.dtype == "int64" else "int64").list(1)


def entry(feature, key=K):
    return field(1, field(1, key) + field(2, feature))


def record(*entries):
    return field(1, b"".join(entries))


def nested_groups(depth):
    return b"".join(varint(9 << 3 | 3) for _ in range(depth)) + b"".join(varint(9 << 3 | 4) for _ in range(depth))


def repeated_keys(w):
    one, two = entry(w.list(w.one)), entry(w.list(w.two))
    yield "two Examples joined", record(one) + record(two), [w.two]
    yield "two Examples joined, of other keys", record(one) + record(entry(w.list(w.two), b"x")), [w.one]
    yield "the same key twice", record(one, two), [w.two]
    yield "the same key twice, the first of another kind", record(entry(w.other()), two), [w.two]
    yield "the same key twice, the last of another kind", record(one, entry(w.other())), "types don't match", ERROR
    yield "the same key twice, the last empty", record(one, entry(field(w.number, b""))), []
    broken = entry(field(w.number, b"\x0a\x7f"))
    yield "the same key twice, the first malformed", record(broken, two), [w.two], SAME, False
    last_without_kind = {"FixedLen": [w.one], "FixedLenSequence": [w.one], "single": [w.one], "parse_example": ABSENT}
    yield "the same key twice, the last without a kind", record(one, entry(b"")), ABSENT, last_without_kind


def top(w):
    good = record(entry(w.list(w.one)))
    yield "no bytes", b"", ABSENT
    yield "features of no bytes", record(), ABSENT
    yield "a Feature without a kind", record(entry(b"")), ABSENT
    unknown = varint_field(9, 1) + fixed(10, b"1234") + fixed(11, b"12345678") + field(12, b"bytes")
    yield "unknown fields before the features", unknown + good, [w.one]
    yield "unknown fields behind the features", good + unknown, [w.one]
    yield "a group before the features", group(9, varint_field(1, 1)) + good, [w.one], ERROR
    yield "a group behind the features", good + group(9, b""), [w.one], ERROR
    yield "groups 100 deep", nested_groups(100) + good, [w.one], ERROR
    yield "groups 101 deep", nested_groups(101) + good, "malformed record", ERROR, False
    yield "a group that is not closed", good + varint(9 << 3 | 3), "malformed record", ERROR, False
    yield "a lone end of a group", good + varint(9 << 3 | 4), "malformed record", ERROR, False
    yield "wire type 6", good + varint(9 << 3 | 6) + b"\1", "malformed record", ERROR, False
    yield "wire type 7", good + varint(9 << 3 | 7) + b"\1", "malformed record", ERROR, False
    yield "a byte 00 at the end", good + b"\0", "malformed record", ERROR, False
    yield "field number 0 with a value", good + b"\0\1", "malformed record", [w.one], False
    for name, features in (("varint", varint_field(1, 5)), ("fixed32", fixed(1, b"1234")), ("group", group(1, b""))):
        theirs = ERROR if name == "group" else SAME
        yield f"the tag of features as a {name}", features + good, [w.one], theirs
    yield "feature_lists beside the features", good + field(2, field(1, field(1, K) + field(2, b""))), [w.one]
    yield "the tag of features in two bytes", b"\x8a\0" + good[1:], [w.one], ABSENT
    for size in (len(good) - 1, 2**31 - 1, 2**31):
        yield f"features of {size} bytes", good[:1] + varint(size) + good[2:], "malformed record", [w.one], False
    for size in (2**32 + 3, 2**63):
        yield f"features of {size} bytes", good[:1] + varint(size) + good[2:], "malformed record", ERROR, False
    cut = good[:1] + varint(2**31) + good[2:-1]
    yield "features longer than the record, which is cut", cut, "malformed record", ERROR, False
    yield "no Example, no UTF-8", b"\xff\xfe\xfd", "malformed record", ERROR, False


def entries(w):
    feature = w.list(w.one)
    key, value = field(1, K), field(2, feature)
    yield "an unknown field inside the features", record(varint_field(9, 1), entry(feature)), [w.one], ERROR
    yield "an unknown field inside an entry", record(field(1, key + value + field(9, b""))), [w.one], ERROR
    yield "a group inside an entry", record(field(1, key + group(9, b"") + value)), [w.one], ERROR
    yield "value before key", record(field(1, value + key)), [w.one]
    yield "an entry of a key only", record(field(1, key)), ABSENT, ERROR
    yield "another entry of a key only", record(field(1, field(1, b"x")), entry(feature)), [w.one], ERROR
    yield "an entry of a value only", record(field(1, value), entry(feature)), [w.one], ERROR
    yield "an entry of nothing", record(field(1, b""), entry(feature)), [w.one], ERROR
    yield "a key twice in an entry", record(field(1, field(1, b"x") + key + value)), [w.one], ERROR
    yield "two keys and no value", record(field(1, field(1, b"x") + key)), ABSENT
    yield "a value twice in an entry", record(field(1, key + value + field(2, w.list(w.two)))), [w.one, w.two], ERROR
    pieces = field(2, feature[:3]) + field(2, feature[3:])
    yield "a value in two pieces, cut in its list", record(field(1, key + pieces)), "Can't parse", ERROR, False
    yield "a value twice, the first of another kind", record(field(1, key + field(2, w.other()) + value)), [w.one], ERROR
    yield "a key longer than its entry", record(field(1, varint(1 << 3 | 2) + varint(9) + K)), "malformed record", ERROR, False
    long = key + varint(2 << 3 | 2) + varint(len(feature) + 1) + feature
    yield "a value longer than its entry", record(field(1, long)), "malformed record", ERROR, False
    yield "an entry of another key is broken", record(entry(b"\x0a\x7f", b"x"), entry(feature)), [w.one], SAME, False
    yield "an entry of another key is garbage", record(entry(b"\xff" * 20, b"x"), entry(feature)), [w.one], SAME, False


def features(w):
    one, two = w.list(w.one), w.list(w.two)
    yield "a Feature that begins with an unknown field", record(entry(varint_field(9, 1) + one)), [w.one], ERROR
    yield "a Feature with its list as a varint first", record(entry(varint_field(w.number, 1) + one)), [w.one], ERROR
    yield "an unknown field behind the list", record(entry(one + varint_field(9, 1))), [w.one]
    yield "lists of two kinds", record(entry(w.other() + one)), [w.one], ERROR
    yield "lists of two kinds, the last of another", record(entry(one + w.other())), "types don't match", [w.one]
    yield "two lists of one kind", record(entry(one + two)), [w.one, w.two], [w.one]
    damaged = "one of its lists is damaged"
    cut = w.chunk(w.three, w.three)
    whole = len(cut) - len(cut) // 2
    halves = field(w.number, cut[: whole + 2]) + field(w.number, cut[whole + 2 :])
    yield "two lists of one kind, cut in a value", record(entry(halves)), damaged, ERROR, False
    broken = field(2 if w.number == 3 else 3, b"\x0a\x7f")
    yield "lists of two kinds, the first damaged", record(entry(broken + one)), damaged, ERROR, False
    yield "lists of two kinds and back, the middle one damaged", record(entry(one + broken + two)), damaged, [w.one], False
    yield "a list longer than its Feature", record(entry(varint(w.number << 3 | 2) + varint(40) + w.chunk(w.one))), (
        "Can't parse serialized Example"
    ), [w.one], False


def lists(w):
    def of(*parts):
        return record(entry(field(w.number, b"".join(parts))))

    unknown = varint_field(9, 1)
    yield "an empty list", of(), []
    yield "two values with a tag each", of(w.single(w.one), w.single(w.two)), [w.one, w.two]
    yield "an unknown field before the values", of(unknown, w.chunk(w.one)), [w.one], ERROR
    long_tag = b"\x8a\0" + w.chunk(w.one)[1:]
    yield "a tag of two bytes", of(long_tag), [w.one], ERROR
    wrong = fixed(1, b"12345678")
    yield "a value of a wrong wire type", of(wrong), "Can't parse serialized Example", ERROR
    cut = varint(1 << 3 | 2) + varint(9) + b"\0\0\0\0"
    cut_theirs = [0, 0, 0, 0] if w.dtype == "int64" else ERROR
    yield "a value or chunk longer than its list", of(cut), "Can't parse serialized Example", cut_theirs, False
    if w.dtype == "string":
        yield "an unknown field behind the values", of(w.chunk(w.one), unknown), [w.one], ERROR
        return
    yield "packed in one chunk", of(w.chunk(w.one, w.two)), [w.one, w.two]
    yield "a chunk of no values", of(w.chunk()), []
    yield "an unknown field behind the chunk", of(w.chunk(w.one), unknown), [w.one]
    yield "an unknown field behind single values", of(w.single(w.one), unknown), [w.one], ERROR
    yield "two chunks", of(w.chunk(w.one, w.two), w.chunk(w.three)), [w.one, w.two, w.three], [w.one, w.two]
    yield "a chunk, then single values", of(w.chunk(w.one), w.single(w.two)), [w.one, w.two], [w.one]
    yield "single values, then a chunk", of(w.single(w.one), w.chunk(w.two)), [w.one, w.two], ERROR
    if w.dtype == "float32":
        yield "floats of 6 bytes", of(field(1, b"\0\0\xc0\x3f??")), "Can't parse serialized Example", [1.5], False
        yield "a single float that is cut", of(varint(1 << 3 | 5) + b"abc"), "Can't parse serialized Example", ERROR, False
        return
    yield "a varint that is not minimal", of(field(1, b"\x81\x80\x80\0")), [1]
    yield "a varint of ten bytes", of(field(1, b"\x81" + b"\x80" * 8 + b"\0")), [1]
    yield "a varint with bits above 64", of(field(1, b"\xff" * 9 + b"\x7f")), [-1]
    eleven = b"\x81" + b"\x80" * 9 + b"\0"
    yield "a varint of eleven bytes", of(field(1, eleven)), "Can't parse serialized Example", ERROR, False
    yield "a chunk that ends inside a varint", of(field(1, b"\1\xff")), "Can't parse serialized Example", ERROR, False
    yield "a length in ten bytes", of(b"\x0a\x81" + b"\x80" * 8 + b"\0" + b"\1"), [1], SAME, False


def _cases():
    for dtype in ("int64", "float32", "string"):
        for forms in (top, repeated_keys, entries, features, lists):
            for name, message, *rest in forms(Lists(dtype)):
                ours, theirs, is_legal = (*rest, *(SAME, True)[len(rest) - 1 :])
                yield Case(name, dtype, message, ours, theirs, is_legal)


CASES = list(_cases())
