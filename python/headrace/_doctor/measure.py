"""Runs a pipeline for a while and says what it did: batches a second, and what each stage costs a batch."""

import collections
import dataclasses
import json
import os
import statistics
import tempfile
import time

from . import machine

# What the first batches cost, which wait for files and fill buffers, is not what a batch costs.
_WARM_SHARE = 0.25
_PARTS = 8
LEAST_BATCHES = 16
# A pipeline so slow that it does not give LEAST_BATCHES is not waited for longer than so many times the time asked for.
_PATIENCE = 3
# Between two looks at what else wants to run on the machine.
_LOOK_SECONDS = 0.02


@dataclasses.dataclass(frozen=True)
class Costs:
    """Seconds that one batch takes in each stage, summed over threads.

    `read_io` is waiting for the storage; `inflate` is part of `read`; `maps` are Python functions, which run one after another.
    """

    read: float
    read_io: float
    inflate: float
    order: float
    parse: float
    maps: tuple[tuple[str, float], ...]

    @property
    def pool(self):
        """On the worker threads."""
        return self.read + self.parse

    @property
    def map(self):
        return sum(seconds for _, seconds in self.maps)


@dataclasses.dataclass(frozen=True)
class Run:
    """One measurement: `rate` in batches a second with the relative error of its mean; the rest is per batch or a mean."""

    rate: float
    rate_error: float
    batches: int
    taken: tuple[float, ...]  # when each batch came, in seconds from the first
    costs: Costs
    rows: float
    read_bytes: float  # payload bytes that left "read"
    file_bytes_per_byte: float  # of the files, for each of these
    parse_times: tuple[float, ...]  # of each batch that the engine still remembers
    map_times: tuple[float, ...]  # of each batch, all functions together
    consumer_cpu: float  # CPU seconds of taking it
    map_cpu: float  # CPU seconds of all functions together
    record_bytes: float
    threads: int
    io: str
    compression: str  # of the files, "none", or several joined by "+"
    cores_used: float
    foreign_cores: float
    runnable: float  # threads of the machine that ran or wanted to, a mean
    stages: tuple[dict, ...]  # what each stage did in the window, as stats() tells it


class _Timed:
    """A function of map() with the times of its calls."""

    def __init__(self, function):
        self._function = function
        self.seconds = []
        self.cpu_seconds = []

    def __call__(self, batch):
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        try:
            return self._function(batch)
        finally:
            self.seconds.append(time.perf_counter() - begin)
            self.cpu_seconds.append(time.thread_time() - cpu_begin)


def run(dataset, seconds, step_time=0.0):
    """Takes batches for about `seconds` after a start that is not counted, `step_time` apart, as a training would.

    The dataset starts anew where it ends. Its count of epochs is the same afterwards.
    """
    timed = [(name, _Timed(function)) for name, function in dataset._functions]
    epoch = dataset._runnable.next_epoch()
    watched = dataset._with(dataset._core, functions=timed)
    watched._runnable = dataset._runnable
    try:
        return _Window(watched, [function for _, function in timed]).measure(seconds, step_time)
    finally:
        dataset._runnable.set_epoch(epoch)


class _Window:
    def __init__(self, dataset, functions):
        self._dataset = dataset
        self._functions = functions
        self._next_look = 0.0
        self._iterator = self._start()
        self._runnable = []  # counts of threads, one at each look
        self._ended = []  # stats() of iterations that came to their ends

    def measure(self, seconds, step_time):
        try:
            begin = time.monotonic()
            limit = begin + _PATIENCE * seconds
            self._take(begin + _WARM_SHARE * seconds, step_time, 2, limit)
            for function in self._functions:
                function.seconds.clear()
                function.cpu_seconds.clear()
            before, cpu_before, taking = self._stats(), machine.cpu_use(), time.thread_time()
            stamps = [time.monotonic(), *self._take(time.monotonic() + seconds, step_time, LEAST_BATCHES, limit)]
            taking = time.thread_time() - taking
            after, cpu_after = self._stats(), machine.cpu_use()
            return self._run(stamps, before, after, cpu_before, cpu_after, taking)
        finally:
            self._iterator.close()

    def _start(self):
        iterator = iter(self._dataset)
        iterator._logs_warnings = False  # they are those of the user's own iterations
        return iterator

    def _take(self, end, step_time, least, limit):
        """When each batch was there, until `end`, or until there are `least` of them, at most until `limit`."""
        stamps = []
        while (now := time.monotonic()) < end or (len(stamps) < least and now < limit) or not stamps:
            self._next()
            stamps.append(time.monotonic())
            if stamps[-1] >= self._next_look:
                self._look(stamps[-1])
            if step_time:
                time.sleep(step_time)
        return stamps

    def _look(self, now):
        self._next_look = now + _LOOK_SECONDS
        count = machine.runnable_threads()
        if count is not None:
            self._runnable.append(count)

    def _next(self):
        for _ in range(2):
            try:
                return next(self._iterator)
            except StopIteration:
                self._ended.append(self._iterator.stats())
                self._iterator.close()
                self._iterator = self._start()
        raise ValueError("doctor: the dataset has no batch")

    def _stats(self):
        """Counters up to now, those of ended iterations included."""
        total = {"stages": {}, "inflate_seconds": 0.0, "file_bytes": 0, "inflated_bytes": 0}
        for stats in [*self._ended, self._iterator.stats()]:
            for stage in stats["stages"]:
                total["stages"][stage["name"]] = _plus(total["stages"].get(stage["name"], {}), stage)
            total["inflate_seconds"] += sum(inflate["busy_seconds"] for inflate in stats["inflate"])
            total["file_bytes"] += sum(inflate["file_bytes"] for inflate in stats["inflate"])
            total["inflated_bytes"] += sum(inflate["bytes"] for inflate in stats["inflate"])
            total.update(threads=stats["threads"], io=stats["io"])
            total["compression"] = "+".join(inflate["compression"] for inflate in stats["inflate"]) or "none"
        return total

    def _run(self, stamps, before, after, cpu_before, cpu_after, taking):
        batches = len(stamps) - 1
        wall = stamps[-1] - stamps[0]
        stages = {name: _minus(stage, before["stages"].get(name, {})) for name, stage in after["stages"].items()}
        functions = {f"map {name}" for name, _ in self._dataset._functions}
        inflate = after["inflate_seconds"] - before["inflate_seconds"]
        cut = max(1, stages["order"]["records"])
        rows = stages["deliver"]["records"] / max(1, batches)
        # Buffers that fill up read more than they give; a filter does so all the time.
        reads = max(1.0, stages["read"]["records"] / cut) if self._leaves_records_out() else 1.0
        read = {key: value * reads * rows / max(1, stages["read"]["records"]) for key, value in stages["read"].items()}
        inflate *= reads * rows / max(1, stages["read"]["records"])
        each = {name: stage["busy_seconds"] * rows / max(1, stage["records"]) for name, stage in stages.items()}
        parallel = sum(seconds for name, seconds in each.items() if name == "cache" or name.startswith("map ") and name not in functions)
        maps = tuple((name, each[f"map {name}"]) for name, _ in self._dataset._functions)
        costs = Costs(
            read["busy_seconds"], read["starved_seconds"], inflate, each["order"], each["parse"] + parallel, maps
        )
        calls = zip(*(function.seconds for function in self._functions)) if self._functions else ()
        cpu_seconds = max(1e-9, cpu_after.seconds - cpu_before.seconds)
        return Run(
            rate=batches / wall,
            rate_error=_relative_error(stamps),
            batches=batches,
            taken=tuple(stamp - stamps[0] for stamp in stamps),
            costs=costs,
            rows=rows,
            read_bytes=read["bytes"],
            file_bytes_per_byte=after["file_bytes"] / after["inflated_bytes"] if after["inflated_bytes"] else 1.0,
            parse_times=_parse_times(self._iterator),
            map_times=tuple(map(sum, calls)),
            consumer_cpu=taking / max(1, batches),
            map_cpu=sum(statistics.mean(function.cpu_seconds or [0.0]) for function in self._functions),
            record_bytes=stages["read"]["bytes"] / max(1, stages["read"]["records"]),
            threads=after["threads"],
            io=after["io"],
            compression=after["compression"],
            cores_used=(cpu_after.own - cpu_before.own) / cpu_seconds,
            runnable=statistics.mean(self._runnable) if self._runnable else 0.0,
            foreign_cores=machine.foreign_cores(cpu_before, cpu_after),
            stages=tuple({"name": name, **stage} for name, stage in stages.items()),
        )

    def _leaves_records_out(self):
        return any(name in ("filter", "shard", "skip", "take") for _, name, _ in self._dataset._core.ops())


def _plus(some, stage):
    return {key: some.get(key, 0) + value for key, value in stage.items() if key != "name"}


def _minus(stage, earlier):
    return {key: value - earlier.get(key, 0) for key, value in stage.items()}


def _relative_error(stamps):
    """Of the rate between the first and the last stamp: standard error of the mean over _PARTS parts of it."""
    part = (len(stamps) - 1) / _PARTS
    if part < 1:
        return 1.0
    edges = [stamps[round(number * part)] for number in range(_PARTS + 1)]
    lengths = [end - begin for begin, end in zip(edges, edges[1:])]
    return statistics.stdev(lengths) / statistics.mean(lengths) / _PARTS**0.5


def _parse_times(iterator):
    """Seconds of work on each of the last batches; of those that are whole in the engine's ring of spans."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        iterator.write_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    seconds = collections.defaultdict(float)
    delivered = set()
    for event in events:
        if event["name"] == "parse":
            seconds[event["args"]["batch"]] += event["dur"] * 1e-6
        elif event["name"] == "deliver":
            delivered.add(event["args"]["batch"])
    whole = sorted(set(seconds) & delivered)[1:]  # of the oldest one, a part may be forgotten
    return tuple(seconds[batch] for batch in whole)
