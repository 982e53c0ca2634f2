"""What a tf.data program does in a second, and what each of its steps costs by itself.

The live model of tf.data (`get_model_proto`) leaves out what a function does on other threads, which is most of a parse. So
the steps are told apart by prefixes of the program, run one step after another in one thread: CPU time of the process, which
other processes on the machine do not change much.
"""

import dataclasses
import resource
import time

import tensorflow as tf

from ..settings import available_cpus
from . import machine
from .tf_program import Step

_BUFFER = 256  # elements of a shuffle while steps are told apart: filling costs time, and its size hardly changes its cost
_STEP_S = 0.3  # a run of one prefix
_IGNORED = ("prefetch", "take", "skip", "shard", "cache", "repeat")


@dataclasses.dataclass(frozen=True)
class Run:
    """Batches taken: how many, and what one took, in seconds.

    `spread` is how far two halves of the run are apart, as a share; `free_cores` the cores that other processes left; `faults`
    the page faults and `kernel_s` the part of `cpu_s` in the kernel, for one batch; `taken` when each batch came, in seconds.
    """

    batches: int
    wall_s: float
    cpu_s: float
    spread: float
    free_cores: float
    faults: float = 0.0
    kernel_s: float = 0.0
    taken: tuple[float, ...] = ()


def run(dataset, seconds, step_s=0.0, warm_s=0.0):
    """Takes batches for that long, from the start again when there are no more.

    Args:
        step_s: what the consumer does between two batches, in seconds: it sleeps, as a host that waits for its accelerators.
        warm_s: seconds in front, in which buffers fill and TensorFlow finds its parallelism; two batches at least.

    Raises:
        ValueError: there is no batch.
    """
    batches = _endless(dataset)
    begin, count = time.perf_counter(), 0
    while count < 2 or time.perf_counter() - begin < warm_s:
        next(batches)
        count += 1
    taken, halves, idle, before = [], [], machine.idle_seconds(), resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(2):
        begin, cpu, count = time.perf_counter(), time.process_time(), 0
        while count < 2 or time.perf_counter() - begin < seconds / 2:
            next(batches)
            taken.append(time.perf_counter())
            count += 1
            if step_s:
                time.sleep(step_s)
        halves.append((count, time.perf_counter() - begin, time.process_time() - cpu))
    count, wall, cpu = (sum(half[k] for half in halves) for k in range(3))
    free = (cpu + machine.idle_seconds() - idle) / wall
    rates = [half[1] / half[0] for half in halves]
    after = resource.getrusage(resource.RUSAGE_SELF)
    faults, kernel_s = (after.ru_minflt - before.ru_minflt) / count, (after.ru_stime - before.ru_stime) / count
    spread = abs(rates[0] - rates[1]) / sum(rates)
    free = min(max(free, cpu / wall, 0.5), available_cpus())
    return Run(count, wall / count, cpu / count, spread, free, faults, kernel_s, tuple(taken))


def _endless(dataset):
    while True:
        empty = True
        for element in dataset:
            empty = False
            yield element
        if empty:
            raise ValueError("dataset: it gives no batch")


def with_costs(program):
    """The program with `cpu_s` and `wall_s` of a batch in each of its steps and its source."""
    reader = program.reading_place()
    steps, places = _one_after_another(program, reader)
    plain = dataclasses.replace(program, steps=steps).with_options(apply_default_optimizations=False)
    batch = plain.batch_place()
    rows = steps[batch].arguments["batch_size"] if batch < len(steps) else 1
    # What windows cost by themselves comes in front of the first step and ends with the batch.
    before = _cost(tf.data.Dataset.range(1 << 40).window(rows), _STEP_S / 2)
    costs = {}
    for upto, place in places:
        prefix = plain.dataset(upto)
        cost = _cost(prefix.window(rows, drop_remainder=True) if upto <= batch else prefix, _STEP_S)
        costs[place] = tuple(max(0.0, now - then) for now, then in zip(cost, before))
        before = cost
    measured = [
        dataclasses.replace(step, **dict(zip(("cpu_s", "wall_s"), costs.get(place, (0.0, 0.0)))))
        for place, step in enumerate(program.steps)
    ]
    cpu_s, wall_s = costs.get(-1, (0.0, 0.0))
    return dataclasses.replace(program, steps=tuple(measured), cpu_s=cpu_s, wall_s=wall_s)


def _one_after_another(program, reader):
    """The steps in one thread, without an end; and [(number of steps, place in the program of the last of them)].

    Place -1 is the source's.
    """
    endless = Step("repeat", {"count": -1})
    steps, places = ([endless], [(1, -1)]) if reader < 0 else ([], [])
    for place, step in enumerate(program.steps):
        if step.method in _IGNORED:
            continue
        changed = {"num_parallel_calls": None, "deterministic": None}
        if step.method == "shuffle":
            changed["buffer_size"] = min(step.arguments["buffer_size"], _BUFFER)
        steps.append(step.with_arguments(**changed))
        steps += [endless] if place == reader else []
        places += [(len(steps), place)] if place >= reader else []
    return tuple(steps), places


def _cost(dataset, seconds):
    done = run(dataset, seconds)
    return done.cpu_s, done.wall_s
