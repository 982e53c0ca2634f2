"""Traces of torch.profiler, Chrome's JSON: kernels of the devices, waits for the DataLoader, step markers."""

import gzip
import json
import re

from .profile_timeline import Timeline, union

_WORK = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
_WAITS = re.compile(r"enumerate\(DataLoader\)|_BaseDataLoaderIter|headrace next")


def read(path):
    """The Timeline of one .json or .json.gz file.

    Raises:
        ValueError: it is none.
    """
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
            trace = json.load(file)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
    except (json.JSONDecodeError, KeyError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: not a trace: {error}") from None
    timeline, devices, waits = Timeline(), {}, []
    for event in events:
        if event.get("ph") != "X":
            continue
        begin = int(float(event["ts"]) * 1000)
        span, name = (begin, begin + int(float(event.get("dur", 0)) * 1000)), event.get("name", "")
        if event.get("cat") in _WORK[:3]:
            devices.setdefault(f"GPU {event.get('args', {}).get('device', 0)}", []).append(span)
        elif event.get("cat") not in _WORK:
            if _WAITS.search(name):
                waits.append(span)
            elif name.startswith("ProfilerStep"):
                timeline.steps.append(span)
    timeline.devices = {name: union(spans) for name, spans in sorted(devices.items())}
    timeline.waits, timeline.steps = union(waits), sorted(timeline.steps)
    if not timeline.devices and not timeline.steps:
        raise ValueError(f"{path}: no device and no training step in the trace")
    return timeline
