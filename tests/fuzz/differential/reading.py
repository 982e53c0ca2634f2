"""What a serialized Example or SequenceExample holds by protobuf's rules, and which unusual forms were met on the way.

A form that TensorFlow reads in its own way has a name; rules.py says which row of the reference each name stands for. A
Reading has those names, and either the features or the fault that makes the record unreadable.
"""

from dataclasses import dataclass, field

from wire_bytes import field as bytes_field
from wire_bytes import varint

from . import wire
from .wire import Malformed

BYTES_LIST, FLOAT_LIST, INT64_LIST = 1, 2, 3
NO_KIND = (None, ())
_TAG_OF_A_FLOAT = b"\x0d"
_WIRE_TYPES = {BYTES_LIST: wire.BYTES, FLOAT_LIST: wire.FIXED32, INT64_LIST: wire.VARINT}
KINDS = {BYTES_LIST: "string", FLOAT_LIST: "float32", INT64_LIST: "int64"}


@dataclass
class Reading:
    """features: {key: (kind, values)}; kind None: the key is there without a list. Floats are 4 bytes each.

    lists: {key: [(kind, values) of each step]}. most_unpacked_floats: {key: at least as many as there are floats without a
    chunk in any list of that key}.
    """

    wanted: frozenset = frozenset()
    features: dict = field(default_factory=dict)
    lists: dict = field(default_factory=dict)
    names: set = field(default_factory=set)
    fault: str = ""
    most_unpacked_floats: dict = field(default_factory=dict)


def read(record, keys, list_keys=None):
    """The Reading of a record, of these keys; a SequenceExample when list_keys are given."""
    reading = Reading(frozenset(keys))
    entries = []
    try:
        _read(record, keys, list_keys, reading, entries)
    except Malformed as error:
        reading.fault = error.cause
    _count_unpacked_floats(record, entries, reading)
    return reading


def _read(record, keys, list_keys, reading, entries):
    names = reading.names
    list_entries = []
    for top in wire.fields(record):
        if top.wire_type == wire.GROUP:
            names.add("group at the top")
        if top.number == 1 and top.tag_bytes > 1 or (list_keys is not None and top.number == 2 and top.tag_bytes > 1):
            names.add("tag longer than it needs")
        if top.is_bytes(1):
            entries.extend(_entries(top.value, names))
        elif list_keys is not None and top.is_bytes(2):
            list_entries += _entries(top.value, names)
    for key, value in _last(entries, keys).items():
        reading.features[key] = _feature(value, names)
        _note_absent_kind(key, entries, reading)
        _note_earlier_values(key, entries, names)
    for key, value in _last(list_entries, list_keys or ()).items():
        reading.lists[key] = [_feature([step], names) for step in _steps(value, names)]


def _entries(message, names):
    """[(key, pieces of the value)] of a map."""
    found = []
    for entry in wire.fields(message):
        if not entry.is_bytes(1):
            names.add("unknown field between map entries")
            continue
        if entry.tag_bytes > 1:
            names.add("tag longer than it needs")
        key, value, seen = b"", [], []
        for part in wire.fields(entry.value):
            seen.append((part.number, part.wire_type, part.tag_bytes))
            if part.is_bytes(1):
                key = part.value
            elif part.is_bytes(2):
                value.append(part.value)
        if sorted(seen) != [(1, wire.BYTES, 1), (2, wire.BYTES, 1)]:
            names.add("map entry of another form than key and value")
        elif seen[0][0] == 2:
            names.add("value before key")
        found.append((key, value))
    return found


def _last(entries, keys):
    """{key: value} of the wanted keys; the last entry counts."""
    return {key: value for key, value in entries if key in keys}


def _steps(pieces, names):
    """The steps of a feature list."""
    steps = []
    for part in _fields_of(pieces):
        if part.is_bytes(1):
            steps.append(part.value)
            if part.tag_bytes > 1:
                names.add("tag longer than it needs")
        else:
            names.add("unknown field between steps")
    return steps


def _note_absent_kind(key, entries, reading):
    values = [value for each, value in entries if each == key]
    if len(values) > 1 and reading.features[key] == NO_KIND:
        reading.names.add("key twice, the last without a kind")


def _note_earlier_values(key, entries, names):
    """Values of a key before its last one do not count; TensorFlow reads them all the same."""
    for value in [value for each, value in entries if each == key][:-1]:
        seen = set()
        try:
            _feature(value, seen)
        except Malformed:
            seen.add("malformed")
        if seen:
            names.add("earlier value of a key in an unusual form")


def _feature(pieces, names):
    """(kind, values) of a Feature, whose pieces are one message. Lists of one kind are merged, of several kinds the last counts;
    each of them must be legal by itself."""
    kind, lists, first, number_of_lists = None, [], None, 0
    try:
        for part in _fields_of(pieces, "list longer than its Feature"):
            if part.wire_type != wire.BYTES or part.number not in KINDS:
                place = "behind" if number_of_lists else "before"
                names.add(f"unknown field {place} the list of a Feature")
                continue
            if part.tag_bytes > 1:
                names.add("tag longer than it needs")
            number_of_lists += 1
            if number_of_lists == 1:
                first = part
            else:
                names.add("several lists in a Feature")
                for each in (first, part) if number_of_lists == 2 else (part,):
                    _check_list(each.number, each.value)
            if part.number != kind:
                kind, lists = part.number, []
            lists.append(part.value)
    except Malformed:
        if number_of_lists:
            names.add("damage behind the list of a Feature")
        raise
    # One message: a chunk may follow single values of the list before.
    return NO_KIND if kind is None else (KINDS[kind], tuple(_list(kind, b"".join(lists), names)))


def _check_list(kind, message):
    """Raises what protobuf finds in a list. A value of a wrong wire type is an unknown field to it."""
    for part in wire.fields(message):
        if part.is_bytes(1) and kind != BYTES_LIST:
            _chunk(kind, part.value)


def _fields_of(pieces, long_bytes="length beyond its message"):
    """The fields of a message that comes in pieces, of which each is a message by itself."""
    for piece in pieces:
        yield from wire.fields(piece, long_bytes)


def _list(kind, message, names):
    values, chunks, singles = [], 0, 0
    parts = wire.fields(message)
    while True:
        try:
            part = next(parts, None)
        except Malformed:
            if chunks:
                names.add("more behind the first chunk")
            raise
        if part is None:
            return values
        if chunks:
            names.add("more behind the first chunk")
        if part.number != 1:
            if not chunks:
                names.add("unknown field in a list")
            continue
        if part.tag_bytes > 1:
            names.add("tag longer than it needs")
        if kind != BYTES_LIST and part.wire_type == wire.BYTES:
            chunks += 1
            if singles:
                names.add("chunk behind single values")
            values += _chunk(kind, part.value)
        elif part.wire_type == _WIRE_TYPES[kind]:
            singles += 1
            values.append(part.value)
        else:
            raise Malformed("value of a wrong wire type")


def _chunk(kind, data):
    if kind == INT64_LIST:
        return wire.varints(data)
    if len(data) % 4:
        raise Malformed("packed floats of a length that is no multiple of 4")
    return [data[i : i + 4] for i in range(0, len(data), 4)]


def _count_unpacked_floats(record, entries, reading):
    """Counts the tags of single floats, in every list that is there; where the lists cannot be told, in all of it."""
    most = reading.most_unpacked_floats
    for key, value in entries:
        try:
            lists = [part.value for part in _fields_of(value) if part.is_bytes(FLOAT_LIST)]
        except Malformed:
            lists = value
        most[key] = max([most.get(key, 0), *(each.count(_TAG_OF_A_FLOAT) for each in lists)])
    if reading.fault:
        for key in reading.wanted:
            most[key] = record.count(_TAG_OF_A_FLOAT)


def written(reading):
    """The record that holds the same in the plainest form: each key once, one list a Feature, one chunk a list."""
    record = bytes_field(1, b"".join(_entry(key, _written_feature(*value)) for key, value in reading.features.items()))
    if reading.lists:
        lists = {
            key: b"".join(bytes_field(1, _written_feature(*step)) for step in steps)
            for key, steps in reading.lists.items()
        }
        record += bytes_field(2, b"".join(_entry(key, value) for key, value in lists.items()))
    return record


def _entry(key, value):
    return bytes_field(1, bytes_field(1, key) + bytes_field(2, value))


def _written_feature(kind, values):
    if kind is None:
        return b""
    if kind == "string":
        return bytes_field(BYTES_LIST, b"".join(bytes_field(1, value) for value in values))
    if kind == "float32":
        return bytes_field(FLOAT_LIST, bytes_field(1, b"".join(values)) if values else b"")
    return bytes_field(INT64_LIST, bytes_field(1, b"".join(map(varint, values))) if values else b"")


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def feature_of(example):
    """The Feature of an Example that has one."""
    (features,) = wire.fields(example)
    (entry,) = wire.fields(features.value)
    return next(part.value for part in wire.fields(entry.value) if part.is_bytes(2))
