"""Protobuf's wire format, read strictly by its rules. Slow and plain on purpose: two fast readers are judged by it."""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))

from wire_bytes import varint

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
MAX_GROUP_DEPTH = 100


class Malformed(ValueError):
    """Bytes that protobuf's rules refuse; `cause` is a name for the kind of fault."""

    def __init__(self, cause):
        super().__init__(cause)
        self.cause = cause


@dataclass(frozen=True)
class Field:
    """One field of a message: `value` is an int for a varint, else the bytes of the payload; `raw` is all of it."""

    number: int
    wire_type: int
    value: object
    raw: bytes
    tag_bytes: int

    def is_bytes(self, number):
        return self.number == number and self.wire_type == BYTES


def read_varint(data, at):
    """(value modulo 2^64, position behind it)."""
    value = 0
    for place in range(10):
        if at + place >= len(data):
            raise Malformed("ends inside a varint")
        byte = data[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & 2**64 - 1, at + place + 1
    raise Malformed("varint of 11 bytes")


def read_tag(data, at):
    """(tag, of which 32 bits count, position behind it)."""
    tag, at = read_varint(data, at)
    tag &= 2**32 - 1
    if tag < 8:
        raise Malformed("field number 0")
    return tag, at


def fields(data, long_bytes="length beyond its message"):
    """The Fields of a message, one by one, so that what stands before a fault is seen; `long_bytes` names one such fault."""
    at = 0
    while at < len(data):
        field, at = _field(data, at, long_bytes, 0)
        yield field


def _field(data, start, long_bytes, depth):
    tag, at = read_tag(data, start)
    number, wire_type, tag_bytes = tag >> 3, tag & 7, at - start
    if wire_type == VARINT:
        value, at = read_varint(data, at)
        return Field(number, wire_type, value, data[start:at], tag_bytes), at
    if wire_type == GROUP:
        return _group(data, start, at, number, tag_bytes, long_bytes, depth + 1)
    if wire_type == BYTES:
        size, at = read_varint(data, at)
        fault = long_bytes
    elif wire_type in (FIXED32, FIXED64):
        size, fault = (4 if wire_type == FIXED32 else 8), "ends inside a fixed value"
    else:
        raise Malformed("end of a group that is not open" if wire_type == END_GROUP else "wire type 6 or 7")
    if size > len(data) - at:
        raise Malformed(fault)
    return Field(number, wire_type, data[at : at + size], data[start : at + size], tag_bytes), at + size


def _group(data, start, at, number, tag_bytes, long_bytes, depth):
    if depth > MAX_GROUP_DEPTH:
        raise Malformed("groups nested too deep")
    begin = at
    while True:
        if at >= len(data):
            raise Malformed("group that is not closed")
        tag, behind = read_tag(data, at)
        if tag & 7 == END_GROUP:
            if tag >> 3 != number:
                raise Malformed("group closed by another number")
            return Field(number, GROUP, data[begin:at], data[start:behind], tag_bytes), behind
        _, at = _field(data, at, long_bytes, depth)


def varints(data):
    """The values of a packed list."""
    values, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        values.append(value)
    return values


def padded_varint(value, size):
    """`value` in at least `size` bytes, more than it needs."""
    plain = varint(value)
    if size <= len(plain):
        return plain
    head = bytes([*plain[:-1], plain[-1] | 0x80])
    return head + b"\x80" * (size - len(plain) - 1) + b"\0"
