"""TensorBoard's profiles, `<host>.xplane.pb` of TensorFlow and JAX, read with Google's protobuf alone.

The fields are those of tsl/profiler/protobuf/xplane.proto; the messages are declared here so that neither TensorFlow nor the
profile plugin has to be there.
"""

import functools
import re

from .profile_timeline import Stage, Timeline, own_times, union

# Message -> {field: (number, type)}; a type with "*" repeats, a message is named, "{}" is a map from int64.
_MESSAGES = {
    "XSpace": {"planes": (1, "*XPlane"), "errors": (2, "*string"), "hostnames": (4, "*string")},
    "XPlane": {
        "name": (2, "string"),
        "lines": (3, "*XLine"),
        "event_metadata": (4, "*EventEntry"),
        "stat_metadata": (5, "*StatEntry"),
    },
    "EventEntry": {"key": (1, "int64"), "value": (2, "XEventMetadata")},
    "StatEntry": {"key": (1, "int64"), "value": (2, "XStatMetadata")},
    "XEventMetadata": {"id": (1, "int64"), "name": (2, "string")},
    "XStatMetadata": {"id": (1, "int64"), "name": (2, "string")},
    "XLine": {"name": (2, "string"), "timestamp_ns": (3, "int64"), "events": (4, "*XEvent"), "display_name": (11, "string")},
    "XEvent": {"metadata_id": (1, "int64"), "offset_ps": (2, "int64"), "duration_ps": (3, "int64"), "stats": (4, "*XStat")},
    "XStat": {"metadata_id": (1, "int64"), "uint64_value": (3, "uint64"), "int64_value": (4, "int64")},
}
# Lines of a device that tell again, in other words, what its streams did, or that span the time between two kernels.
_DERIVED = ("Steps", "XLA Modules", "XLA Ops", "XLA TraceMe", "Framework Name Scope", "Framework Ops", "TensorFlow Name Scope")
_DERIVED += ("TensorFlow Ops", "Source code", "Launch Stats", "_counters_")
_WAITS = ("IteratorGetNext", "MultiDeviceIteratorGetNextFromShard", "headrace next")
_FULL = (("buffer_limit", "buffer_size"), ("buffer_size", "buffered_elements"), ("max_buffered_elements", "buffered_elements"))


def read(path):
    """The Timeline of one .xplane.pb file.

    Raises:
        ValueError: it is none.
        ImportError: protobuf is not installed.
    """
    space = _message("XSpace")()
    try:
        with open(path, "rb") as file:
            space.ParseFromString(file.read())
    except _decode_error() as error:
        raise ValueError(f"{path}: not a profile: {error}") from None
    timeline = Timeline()
    for plane in space.planes:
        if re.match(r"/device:(GPU|TPU)", plane.name):
            _read_device(plane, timeline)
        elif plane.name.startswith("/host:CPU"):
            _read_host(plane, timeline)
    if not timeline.devices and not timeline.steps:
        raise ValueError(f"{path}: no device and no training step in the profile")
    return timeline


def _read_device(plane, timeline):
    spans = []
    for line in plane.lines:
        if not (line.name or line.display_name).startswith(_DERIVED):
            spans += [_span(line, event) for event in line.events]
    if spans:
        timeline.devices[plane.name] = union(spans)


def _read_host(plane, timeline):
    names = {entry.key: entry.value.name for entry in plane.event_metadata}
    stats = {entry.key: entry.value.name for entry in plane.stat_metadata}
    waits = []
    for line in plane.lines:
        calls = []
        for event in line.events:
            name = names.get(event.metadata_id, "")
            if name.startswith(_WAITS):
                waits.append(_span(line, event))
            elif name.startswith("Iterator::"):
                calls.append((*_span(line, event), name, event))
            elif re.match(r"(train|ProfilerStep)\b", name) and _has(event, stats, "step_num"):
                timeline.steps.append(_span(line, event))
        for (_, _, name, event), own in own_times(calls):
            stage = timeline.stages.setdefault(_stage(name), Stage())
            stage.calls += 1
            stage.busy_ns += own
            stage.buffered += _fullness(event, stats)
    timeline.waits = union([*timeline.waits, *waits])
    timeline.steps.sort()


def _span(line, event):
    begin = line.timestamp_ns + event.offset_ps // 1000
    return begin, begin + event.duration_ps // 1000


def _stage(name):
    """The last part of Iterator::Root::Prefetch::ForeverRepeat[0]::Map#id=3#."""
    return re.sub(r"(\[\d+\])?(#.*)?$", "", name.split("#")[0].rsplit("::", 1)[-1])


def _has(event, stats, name):
    return any(stats.get(stat.metadata_id) == name for stat in event.stats)


def _fullness(event, stats):
    found = {stats.get(stat.metadata_id): max(stat.int64_value, stat.uint64_value) for stat in event.stats}
    for limit, held in _FULL:
        if found.get(limit, 0) > 0 and held in found:
            return [min(1.0, found[held] / found[limit])]
    return []


@functools.cache
def _message(name):
    """The class of a message of _MESSAGES."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="headrace/xspace.proto", package="headrace.xspace", syntax="proto3")
    for message, fields in _MESSAGES.items():
        made = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            added = made.field.add(name=field, number=number, label=label)
            if kind in _MESSAGES:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".headrace.xspace.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"headrace.xspace.{name}"))


def _decode_error():
    from google.protobuf.message import DecodeError

    return DecodeError
