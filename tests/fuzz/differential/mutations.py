"""Small damage to serialized messages, on the wire (fields, tags, lengths, lists) and to bare bytes.

mutate(record, others, random) is a pure function of its arguments; `others` are records to borrow pieces from.
"""

import functools

from wire_bytes import varint

from . import wire
from .wire import Malformed

_INTEGERS = (0, 1, 2, 3, 127, 128, 300, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 3, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
_NUMBERS = (0, 1, 2, 3, 4, 5, 7, 15, 16, 100, 2**29 - 1)


def mutate(record, others, random):
    """The record with one to four changes."""
    for _ in range(1 + min(int(random.expovariate(1.4)), 3)):
        changed = _change_field(record, others, random) if random.random() < 0.75 else None
        record = _change_bytes(record, random) if changed is None else changed
    return record


@functools.lru_cache(maxsize=20000)
def _parts(message):
    """The fields of a message, None when it is none."""
    try:
        parts = tuple(wire.fields(message))
    except Malformed:
        return None
    return parts if all(part.number < 20 for part in parts) else None


def _change_field(record, others, random):
    """One field of the message, or of a message in it, changed; None when there is none."""
    parts = _parts(record)
    if not parts:
        return None
    place = random.randrange(len(parts))
    part = parts[place]
    if part.wire_type == wire.BYTES and random.random() < 0.75:
        inner = _change_field(part.value, others, random)
        if inner is not None:
            return _joined(parts, place, _bytes_field(part.number, inner, random))
    return random.choice(_CHANGES)(parts, place, others, random)


def _joined(parts, place, replacement):
    return b"".join(replacement if i == place else part.raw for i, part in enumerate(parts))


def _bytes_field(number, payload, random):
    """The field; its length is now and then written otherwise, or wrong."""
    length = varint(len(payload))
    roll = random.random()
    if roll < 0.02:
        length = wire.padded_varint(len(payload), random.randrange(2, 12))
    elif roll < 0.04:
        length = varint(random.choice((max(len(payload) - 1, 0), len(payload) + 1, *_INTEGERS)))
    return varint(number << 3 | wire.BYTES) + length + payload


def _drop(parts, place, others, random):
    return _joined(parts, place, b"")


def _repeat(parts, place, others, random):
    pieces = [part.raw for part in parts]
    pieces.insert(random.randrange(len(pieces) + 1), parts[place].raw)
    return b"".join(pieces)


def _reorder(parts, place, others, random):
    pieces = [part.raw for part in parts]
    pieces.insert(random.randrange(len(pieces)), pieces.pop(place))
    return b"".join(pieces)


def _add_unknown(parts, place, others, random):
    number = random.choice(_NUMBERS)
    payload = random.randbytes(random.randrange(4))
    added = random.choice(
        (
            varint(number << 3) + varint(random.choice(_INTEGERS)),
            varint(number << 3 | wire.FIXED64) + random.randbytes(8),
            varint(number << 3 | wire.BYTES) + varint(len(payload)) + payload,
            varint(number << 3 | wire.FIXED32) + random.randbytes(4),
            varint(number << 3 | wire.GROUP) + varint(1 << 3) + b"\1" + varint(number << 3 | wire.END_GROUP),
            varint(number << 3 | random.randrange(8)),
        )
    )
    return _joined(parts, place, random.choice((added + parts[place].raw, parts[place].raw + added)))


def _borrow(parts, place, others, random):
    """A field of another record's, from the same depth or another."""
    message = random.choice(others)
    for _ in range(random.randrange(6)):
        inner = _parts(message)
        nested = [part.value for part in inner or () if part.wire_type == wire.BYTES]
        if not nested:
            break
        message = random.choice(nested)
    pieces = _parts(message)
    piece = random.choice(pieces).raw if pieces else message
    return _joined(parts, place, random.choice((piece, parts[place].raw + piece, piece + parts[place].raw)))


def _retag(parts, place, others, random):
    part = parts[place]
    rest = part.raw[part.tag_bytes :]
    number = part.number if random.random() < 0.5 else random.choice(_NUMBERS)
    wire_type = part.wire_type if random.random() < 0.5 else random.randrange(8)
    return _joined(parts, place, varint(number << 3 | wire_type) + rest)


def _pad_tag(parts, place, others, random):
    part = parts[place]
    tag = wire.padded_varint(part.number << 3 | part.wire_type, random.randrange(2, 12))
    return _joined(parts, place, tag + part.raw[part.tag_bytes :])


def _change_value(parts, place, others, random):
    part = parts[place]
    tag = part.raw[: part.tag_bytes]
    if part.wire_type == wire.VARINT:
        value = random.choice((*_INTEGERS, part.value + 1, max(part.value - 1, 0))) % 2**64
        return _joined(parts, place, tag + wire.padded_varint(value, random.choice((1, 1, 1, 2, 9, 10, 11))))
    if part.wire_type in (wire.FIXED32, wire.FIXED64):
        return _joined(parts, place, tag + random.randbytes(len(part.value)))
    return _joined(parts, place, _bytes_field(part.number, _change_bytes(part.value, random), random))


def _chunks(parts, place, others, random):
    """A packed list as single values, as two chunks, or as some of each; single values as a chunk."""
    part = parts[place]
    if part.wire_type in (wire.VARINT, wire.FIXED32):
        payload = varint(part.value) if part.wire_type == wire.VARINT else part.value
        return _joined(parts, place, _bytes_field(part.number, payload, random))
    if part.wire_type != wire.BYTES:
        return None
    size = 4 if len(part.value) % 4 == 0 and random.random() < 0.5 else 0
    values = _values(part.value, size)
    if values is None:
        return None
    border = random.randrange(len(values) + 1)
    single = varint(part.number << 3 | (wire.FIXED32 if size else wire.VARINT))
    pack = lambda some: _bytes_field(part.number, b"".join(some), random)
    spread = lambda some: b"".join(single + value for value in some)
    first, second = random.choice(((spread, spread), (pack, pack), (pack, spread), (spread, pack)))
    return _joined(parts, place, first(values[:border]) + second(values[border:]))


def _values(payload, size):
    if size:
        return [payload[i : i + 4] for i in range(0, len(payload), 4)]
    try:
        return [varint(value) for value in wire.varints(payload)]
    except Malformed:
        return None


_CHANGES = (
    *(_drop, _repeat, _reorder, _add_unknown, _borrow, _borrow, _retag, _pad_tag),
    *(_change_value, _change_value, _change_value, _chunks, _chunks),
)


def _change_bytes(data, random):
    """One change of bytes, whatever they mean."""
    if not data:
        return random.randbytes(random.randrange(3))
    at = random.randrange(len(data))
    end = min(len(data), at + random.randrange(1, 5))
    roll = random.randrange(7)
    if roll == 0:
        return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
    if roll == 1:
        return data[:at]
    if roll == 2:
        return data[:at] + random.randbytes(random.randrange(1, 4)) + data[at:]
    if roll == 3:
        return data[:at] + data[end:]
    if roll == 4:
        return data[:end] + data[at:]
    if roll == 5:
        return data[:at] + bytes([random.choice((0, 1, 0x7F, 0x80, 0xFF))]) + data[at + 1 :]
    return data + bytes([random.choice((0, 1, 10, 18, 26))])
