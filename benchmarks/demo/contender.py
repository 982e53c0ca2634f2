"""One contender in a process of its own (started by main.py): its answers and natural pace, or a run with accelerators.

Request: {"contender", "task": "check" | "run", "shards", "gzip_shards", "batch", "accelerators", "step_s", "warm_up_s",
"seconds", "pace"}. Tasks and what they return:
- check: digests of one epoch and of the GZIP copy; with "pace" also the mean seconds per global batch, nothing sleeping
- run: the figures of the window and a timeline of the utilisation
"""

import gc
import itertools
import time

import numpy as np

from benchmarks.demo.accelerators import Accelerators
from benchmarks.harness import processes, usage
from benchmarks.harness.answers import Answers

BINS = 120
_PROGRESS_S = 0.25


def _tensorflow(request, files, repeat, compression=""):
    from benchmarks.demo import tfdata

    make = {
        "tfdata_before": tfdata.before,
        "tfdata_advice": tfdata.advice,
        "tfdata_accelerated": tfdata.accelerated,
    }[request["contender"]]
    dataset = make(files, request["batch"], repeat, compression)
    return iter(dataset), lambda batch: tfdata.slices(batch, request["accelerators"] if repeat else 1)


def _headrace(request, files, repeat):
    from benchmarks.demo import headrace_input

    batches = iter(headrace_input.pipeline(files, request["batch"], request["accelerators"], repeat))
    return batches, headrace_input.slices


def _open(request, files, repeat=True, compression=""):
    """(iterator of batches, function from a batch to the slices of all accelerators)."""
    if request["contender"].startswith("tfdata"):
        return _tensorflow(request, files, repeat, compression)
    batches, slices = _headrace(request, files, repeat)
    if request["contender"] != "resident":
        return batches, slices
    with batches:
        resident = next(batches)
        kept = slices(resident)
    return itertools.repeat(resident), lambda _: kept


def answers(request):
    result = {}
    for name, files, compression in (("epoch", "shards", ""), ("gzip", "gzip_shards", "GZIP")):
        batches, slices = _open(request, request[files], repeat=False, compression=compression)
        seen = Answers()
        for batch in batches:
            for columns in slices(batch):
                if len(columns["label"]):
                    seen.add(columns)
        result[name] = seen.digest()
    return result


class _Steps:
    """The training loop: takes the next batch while the accelerators work, keeps when each wait began and ended.

    The accelerators wait from the moment all of them are done until the next slices are in hand.
    """

    def __init__(self, batches, slices, accelerators):
        self._batches = batches
        self._slices = slices
        self._accelerators = accelerators
        self._ready = None
        self.waits = []

    def _take(self):
        return self._slices(next(self._batches)), time.perf_counter()

    def until(self, end_s, on_progress=None):
        self.waits.clear()
        reported = time.perf_counter()
        seen = 0
        done = time.perf_counter()
        while done < end_s:
            slices, in_hand = self._ready or self._take()
            begin = max(done, in_hand)
            self.waits.append((done, begin))
            self._accelerators.begin(slices, begin)
            self._ready = self._take()
            done = self._accelerators.finish()
            if on_progress and in_hand - reported >= _PROGRESS_S:
                waited = sum(b - a for a, b in self.waits[seen:])
                on_progress(max(0.0, 1 - waited / (in_hand - reported)))
                reported, seen = in_hand, len(self.waits)
        return done


def check(request):
    result = {"digests": answers(request)}
    if request.get("pace"):
        result["pace_s"] = pace(request)
    return result


def pace(request):
    with Accelerators(request["accelerators"], 0.0) as accelerators:
        steps = _Steps(*_open(request, request["shards"]), accelerators)
        start = steps.until(time.perf_counter() + request["warm_up_s"])
        end = steps.until(start + request["seconds"])
        return (end - start) / len(steps.waits)


def timeline(waits, start, end, bins=BINS):
    """Utilisation in equal parts of the window: 1 - waiting time / time."""
    edges = np.linspace(start, end, bins + 1)
    begin, finish = np.array(waits).T
    # Waiting time before each edge: waits that ended before it, and the part of the one that is going on.
    total = np.concatenate([[0.0], np.cumsum(finish - begin)])
    index = np.searchsorted(begin, edges)
    before = total[index]
    going_on = index > 0
    before[going_on] -= np.maximum(finish[index[going_on] - 1] - edges[going_on], 0)
    return np.clip(1 - np.diff(before) / np.diff(edges), 0, 1)


def figures(waits, start, end, used, batch):
    """The numbers of one contender, by the names of the demo's JSON file."""
    wait_ms = np.array([b - a for a, b in waits]) * 1000
    records = len(waits) * batch
    return {
        "utilisation": float(1 - wait_ms.sum() / 1000 / (end - start)),
        "wait_ms_p50": float(np.percentile(wait_ms, 50)),
        "wait_ms_p99": float(np.percentile(wait_ms, 99)),
        "wait_ms_max": float(wait_ms.max()),
        "records_per_s": records / (end - start),
        "records_per_cpu_s": records / used.cpu_s,
        "cpu_cores": used.cpu_s / used.wall_s,
        "peak_rss_mb": usage.peak_rss_mb(),
    }


def run(request):
    with Accelerators(request["accelerators"], request["step_s"]) as accelerators:
        steps = _Steps(*_open(request, request["shards"]), accelerators)
        steps.until(time.perf_counter() + request["warm_up_s"])
        gc.collect()
        gc.freeze()
        before = usage.now()
        start = time.perf_counter()
        end = steps.until(start + request["seconds"], lambda value: processes.emit("progress", value))
        used = usage.now() - before
        return {
            "figures": figures(steps.waits, start, end, used, request["batch"]),
            "timeline": [round(float(value), 4) for value in timeline(steps.waits, start, end)],
            "foreign_share": used.foreign_share,
        }


if __name__ == "__main__":
    asked_for = processes.arguments()
    processes.emit("result", {"check": check, "run": run}[asked_for["task"]](asked_for))
