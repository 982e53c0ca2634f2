"""A profile as intervals: when the devices worked, when the program waited for its input, what the input's stages did.

All times are nanoseconds of one clock. Intervals are (begin, end) pairs; a *union* is a sorted list of them that do not touch.
"""

import dataclasses


@dataclasses.dataclass
class Stage:
    """What the calls of one stage took: `busy_ns` without the calls of other stages in the same thread."""

    calls: int = 0
    busy_ns: int = 0
    buffered: list = dataclasses.field(default_factory=list)  # share of its buffer that was full, call by call


@dataclasses.dataclass
class Timeline:
    """What the readers of profile files give.

    Attributes:
        devices: {device: union of the intervals in which it worked}; empty for a run on the CPU.
        waits: union of the intervals in which the training loop waited for a batch.
        steps: intervals of the training steps, in order; empty where the profile has no marks of them.
        stages: {name: Stage} of the input.
    """

    devices: dict = dataclasses.field(default_factory=dict)
    waits: list = dataclasses.field(default_factory=list)
    steps: list = dataclasses.field(default_factory=list)
    stages: dict = dataclasses.field(default_factory=dict)

    def window(self):
        """(begin, end) of what is judged: from the first step, or the first work of a device, to the last; None for nothing."""
        spans = self.steps or [span for spans in self.devices.values() for span in spans]
        return (min(begin for begin, _ in spans), max(end for _, end in spans)) if spans else None


def union(intervals):
    """The union of intervals in any order."""
    made = []
    for begin, end in sorted(intervals):
        if made and begin <= made[-1][1]:
            made[-1] = (made[-1][0], max(made[-1][1], end))
        else:
            made.append((begin, end))
    return made


def length(spans):
    return sum(end - begin for begin, end in spans)


def within(spans, begin, end):
    """The part of a union between two times."""
    return [(max(b, begin), min(e, end)) for b, e in spans if b < end and e > begin]


def gaps(spans, begin, end):
    """What a union leaves free between two times."""
    free, at = [], begin
    for b, e in within(spans, begin, end):
        free += [(at, b)] if b > at else []
        at = max(at, e)
    return free + ([(at, end)] if at < end else [])


def overlap(ours, theirs):
    """Where two unions are both."""
    found, place = [], 0
    for begin, end in ours:
        while place < len(theirs) and theirs[place][1] <= begin:
            place += 1
        at = place
        while at < len(theirs) and theirs[at][0] < end:
            found.append((max(begin, theirs[at][0]), min(end, theirs[at][1])))
            at += 1
    return found


def own_times(events):
    """[(event, its duration without those inside it)] of the events of one thread, (begin, end, …) tuples that nest."""
    open_events, own = [], []
    for event in sorted(events, key=lambda event: (event[0], -event[1])):
        while open_events and open_events[-1][0][1] <= event[0]:
            own.append(tuple(open_events.pop()))
        if open_events:
            open_events[-1][1] -= min(event[1], open_events[-1][0][1]) - event[0]
        open_events.append([event, event[1] - event[0]])
    return own + [tuple(entry) for entry in reversed(open_events)]
