"""What google.protobuf reads, to judge the judge: a Reading must hold the same, and be at fault where protobuf refuses.

Left out is what protobuf's Python runtime does otherwise on purpose or only it does: tags and lengths of more than 5 bytes
and keys that are no UTF-8 (refused; headrace takes them as TensorFlow does), entries of a map with unknown fields (dropped;
protobuf's other runtimes keep them), and a damaged entry whose key comes again (refused; headrace does not look at it).
"""

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from . import reading, wire

_KINDS = {"int64_list": "int64", "float_list": "float32", "bytes_list": "string"}
_PLAIN_PARTS = {(1, wire.BYTES), (2, wire.BYTES)}
_REFUSED_ON_PURPOSE = ("value of a wrong wire type",)


def difference(record, is_sequence):
    """How protobuf reads the record otherwise than the Reading of all its keys; "" when alike, None when it is left out."""
    maps = [_entries(record, number) for number in ((1, 2) if is_sequence else (1,))]
    if _has_long_varints(record) or any(_is_odd(entry) for entries in maps for entry in entries):
        return None
    keys = [[_key(entry) for entry in entries] for entries in maps]
    read = reading.read(record, keys[0], keys[1] if is_sequence else None)
    try:
        message = (tf.train.SequenceExample if is_sequence else tf.train.Example).FromString(record)
    except DecodeError:
        return "" if read.fault or any(len(some) > len(set(some)) for some in keys) else "protobuf refuses it"
    if read.fault:
        return "" if read.fault in _REFUSED_ON_PURPOSE else f"protobuf accepts it, with {read.fault}"
    features = (message.context if is_sequence else message.features).feature
    if {key.encode(): _of(feature) for key, feature in features.items()} != {
        key: _plain(value) for key, value in read.features.items()
    }:
        return "other features"
    if not is_sequence:
        return ""
    theirs = {key.encode(): [_of(step) for step in each.feature] for key, each in message.feature_lists.feature_list.items()}
    return "" if theirs == {key: [_plain(step) for step in steps] for key, steps in read.lists.items()} else "other lists"


def _plain(value):
    kind, values = value
    if kind == "int64":
        return kind, [reading.signed(each) for each in values]
    return kind, [np.frombuffer(each, np.float32)[0].item().hex() if kind == "float32" else each for each in values]


def _of(feature):
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None, []
    return _KINDS[kind], [value.hex() if kind == "float_list" else value for value in getattr(feature, kind).value]


def _fields(data):
    """Those in front of a fault."""
    found = []
    try:
        found.extend(wire.fields(data))  # keeps what came before it raised
    except wire.Malformed:
        pass
    return found


def _entries(record, number):
    """The entries of the map in field `number`, each as its parts."""
    maps = [part.value for part in _fields(record) if part.is_bytes(number)]
    return [_fields(entry.value) for data in maps for entry in _fields(data) if entry.is_bytes(1)]


def _key(entry):
    return next((part.value for part in reversed(entry) if part.is_bytes(1)), b"")


def _is_odd(entry):
    """Whether it has unknown fields, or a key that is no UTF-8."""
    if any((part.number, part.wire_type) not in _PLAIN_PARTS for part in entry):
        return True
    try:
        [part.value.decode() for part in entry if part.is_bytes(1)]
    except UnicodeDecodeError:
        return True
    return False


def _has_long_varints(data):
    """Whether a tag or a length, wherever there may be one, has more than 5 bytes."""
    for part in _fields(data):
        nests = part.wire_type in (wire.BYTES, wire.GROUP)
        if part.tag_bytes > 5 or (nests and len(part.raw) - part.tag_bytes - len(part.value) > 5):
            return True
        if nests and _has_long_varints(part.value):
            return True
    return False
