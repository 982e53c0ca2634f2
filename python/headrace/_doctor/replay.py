"""Replays batches with given service times through a model of the engine's queues: how many come out a second?

    storage ─▶ read ─▶ order ─▶ parse ─▶ (Python functions) ─▶ training step
    streams    pool    1 thread  pool     1 thread, 2 ahead      accelerators

As in the engine: worker threads take the task with the smallest batch number first, the sequencer stops when `in_flight` batches
are on their way, batches leave in order. A task that runs holds a core; waiting for the storage and the training step hold none. A
closed formula would have to assume how service times scatter; recorded ones need no assumption.
"""

import dataclasses
import heapq
import itertools

# The engine's tasks are about this long (kTaskNs).
_TASK_SECONDS = 150e-6
_TASKS_PER_WORKER = 4
# Read ahead of the sequencer, in batches: what a pool keeps busy with. Deeper changes no steady state.
_READ_AHEAD = 4
_MAP_AHEAD = 2


@dataclasses.dataclass(frozen=True)
class Service:
    """Seconds of one batch in each station; `step` is that of the accelerators, 0 where the consumer takes at once."""

    read_io: float
    read: float
    order: float
    parse: float
    map: float
    step: float


@dataclasses.dataclass(frozen=True)
class Layout:
    """What there is of each: `cores`, worker `threads`, shards read side by side, threads of IO, batches on their way.

    `crowd` is how many threads of other processes want to run, and so share the cores with the tasks that run; `lateness` is how
    much longer than that a task takes.
    """

    cores: int
    threads: int
    streams: int
    io_threads: int
    in_flight: int
    crowd: float = 0.0
    lateness: float = 1.0

    def stretch(self, busy):
        """How many times its CPU time a task takes while `busy` of them run, itself included."""
        return self.lateness * max(1.0, (busy + self.crowd) / self.cores)


@dataclasses.dataclass(frozen=True)
class Replayed:
    """`rate` in batches a second of the second half, and how long the consumer waited for each of these batches, seconds."""

    rate: float
    waits: tuple[float, ...]


def replay(services, layout):
    """Replayed of these batches, one after another, under that layout. Pure; the same result each time."""
    return _Replay(services, layout).run()


class _Replay:
    def __init__(self, services, layout):
        self._services = services
        self._layout = layout
        self._cores = layout.cores
        self._pool = layout.threads
        self._streams = layout.streams
        self._io = min(layout.io_threads, layout.streams)
        self._now = 0.0
        self._events = []  # (when, a number that makes it unique, what ends, batch)
        self._numbers = itertools.count()
        self._count = len(services)
        self._reading = self._read = 0  # batches sent for; whose first, in order, are there
        self._waiting_reads = []  # fetched, to be unpacked by a worker
        self._is_read = [False] * self._count
        self._ordered = self._delivered = 0
        self._is_ordering = self._is_mapping = self._is_stepping = False
        self._parse_tasks = []  # (batch, seconds of a task), a heap
        self._tasks_left = {}
        self._is_parsed = [False] * self._count
        self._parsed = self._mapped = self._taken = 0
        self._has_map = any(each.map for each in services)
        self._idle_since = 0.0
        self._waits = []
        self._taken_at = []

    def run(self):
        self._start_all()
        while self._events:
            self._now, _, end, batch = heapq.heappop(self._events)
            end(batch)
            self._start_all()
        half = self._count // 2
        seconds = self._taken_at[-1] - self._taken_at[half]
        return Replayed((self._count - 1 - half) / max(seconds, 1e-12), tuple(self._waits[half:]))

    def _later(self, seconds, end, batch):
        heapq.heappush(self._events, (self._now + seconds, next(self._numbers), end, batch))

    def _work(self, seconds, end, batch):
        """On a core, which is taken already."""
        self._later(seconds * self._layout.stretch(self._layout.cores - self._cores), end, batch)

    def _start_all(self):
        while self._take() or self._order() or self._map() or self._parse() or self._unpack() or self._fetch():
            pass

    def _take(self):
        ready = self._mapped if self._has_map else self._parsed
        if self._is_stepping or self._taken >= ready:
            return False
        self._waits.append(self._now - self._idle_since)
        self._taken_at.append(self._now)
        self._is_stepping = True
        self._later(self._services[self._taken].step, self._end_step, self._taken)
        self._taken += 1
        self._delivered = self._taken if not self._has_map else self._delivered
        return True

    def _end_step(self, _):
        self._is_stepping = False
        self._idle_since = self._now

    def _order(self):
        batch = self._ordered
        room = batch - self._delivered < self._layout.in_flight
        if self._is_ordering or batch >= self._read or not room or self._cores < 1:
            return False
        self._is_ordering = True
        self._cores -= 1
        self._work(self._services[batch].order, self._end_order, batch)
        return True

    def _end_order(self, batch):
        self._is_ordering = False
        self._cores += 1
        self._ordered += 1
        seconds = self._services[batch].parse
        tasks = max(1, min(int(seconds / _TASK_SECONDS), _TASKS_PER_WORKER * self._layout.threads))
        self._tasks_left[batch] = tasks
        for _ in range(tasks):
            heapq.heappush(self._parse_tasks, (batch, seconds / tasks))

    def _map(self):
        batch = self._delivered
        if not self._has_map or self._is_mapping or self._cores < 1:
            return False
        if batch >= self._parsed or batch - self._taken >= _MAP_AHEAD:
            return False
        self._is_mapping = True
        self._delivered += 1
        self._cores -= 1
        self._later(self._services[batch].map, self._end_map, batch)
        return True

    def _end_map(self, _):
        self._is_mapping = False
        self._cores += 1
        self._mapped += 1

    def _parse(self):
        if not self._parse_tasks or self._pool < 1 or self._cores < 1:
            return False
        batch, seconds = heapq.heappop(self._parse_tasks)
        self._pool -= 1
        self._cores -= 1
        self._work(seconds, self._end_parse, batch)
        return True

    def _end_parse(self, batch):
        self._pool += 1
        self._cores += 1
        self._tasks_left[batch] -= 1
        self._is_parsed[batch] = self._tasks_left[batch] == 0
        while self._parsed < self._count and self._is_parsed[self._parsed]:
            self._parsed += 1

    def _fetch(self):
        batch = self._reading
        ahead = max(_READ_AHEAD, 2 * self._layout.streams)
        if batch >= self._count or batch - self._ordered >= ahead or self._streams < 1:
            return False
        if self._services[batch].read_io:
            if self._io < 1:
                return False
            self._io -= 1
            self._later(self._services[batch].read_io, self._end_fetch, batch)
        else:
            heapq.heappush(self._waiting_reads, batch)
        self._reading += 1
        self._streams -= 1
        return True

    def _end_fetch(self, batch):
        self._io += 1
        heapq.heappush(self._waiting_reads, batch)

    def _unpack(self):
        if not self._waiting_reads or self._pool < 1 or self._cores < 1:
            return False
        batch = heapq.heappop(self._waiting_reads)
        self._pool -= 1
        self._cores -= 1
        self._work(self._services[batch].read, self._end_read, batch)
        return True

    def _end_read(self, batch):
        self._pool += 1
        self._cores += 1
        self._streams += 1
        self._is_read[batch] = True
        while self._read < self._count and self._is_read[self._read]:
            self._read += 1
