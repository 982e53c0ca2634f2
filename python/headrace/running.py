"""What runs on this machine: the pipelines of this user's processes, without disturbing them."""

from typing import NamedTuple

from . import _core


def running_pipelines():
    """The open pipelines of all processes of this user, as a list of RunningPipeline, by process, then by age.

    Each process maps a page for each pipeline into `headrace` in XDG_RUNTIME_DIR, or into /tmp/headrace-UID; where neither can
    be written, nobody sees it.
    """
    return _core.running_pipelines()


class Rates(NamedTuple):
    """What a pipeline did between two states, a second: batches, records and megabytes read."""

    batches: float
    records: float
    megabytes: float


def rates(before, now):
    """The Rates between two states of one pipeline; 0 where no time lies between them."""
    seconds = now.open_seconds - before.open_seconds
    if seconds <= 0:
        return Rates(0.0, 0.0, 0.0)
    earlier, later = ({stage.name: stage for stage in state.stages} for state in (before, now))
    records = later["deliver"].records - earlier["deliver"].records
    return Rates(
        (now.batches - before.batches) / seconds, records / seconds, (later["read"].bytes - earlier["read"].bytes) / seconds / 1e6
    )


def input_bound(before, now):
    """Of the time between two states of one pipeline, the share in which its consumers waited: 0 to 1, a mean over replicas."""
    seconds = now.open_seconds - before.open_seconds
    replicas = len(now.replicas)
    if seconds <= 0 or replicas == 0:
        return 0.0
    waited = sum(_waited(replica) for replica in now.replicas) - sum(_waited(replica) for replica in before.replicas)
    return min(1.0, max(0.0, waited / (seconds * replicas)))


def busiest_stage(before, now):
    """The name of the stage that was busy longest between two states, and for how many seconds; ("", 0.0) without any."""
    earlier = {stage.name: stage.busy_seconds for stage in before.stages}
    busy = {stage.name: stage.busy_seconds - earlier.get(stage.name, 0.0) for stage in now.stages}
    if not any(seconds > 0 for seconds in busy.values()):
        return "", 0.0
    name = max(busy, key=busy.get)
    return name, busy[name]


def _waited(replica):
    return replica.wait_seconds + replica.waiting_seconds
