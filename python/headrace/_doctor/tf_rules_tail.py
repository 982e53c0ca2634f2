"""The fault of a prefetch that is too short for batches that come late now and then."""

import statistics

import tensorflow as tf

from . import strip
from .tf_rule import Fault, ms

_DEEPER = 8  # times the buffer
_WORTH_IT = 0.05  # of the accelerators' time


def slow_tail(case):
    """On average the input is fast enough, but the batches that are ready do not last while a slow one is made."""
    step = case.program.steps[-1] if case.program.steps else None
    depth = step.arguments["buffer_size"] if step is not None and step.method == "prefetch" else tf.data.AUTOTUNE
    taken = case.base.taken
    if not case.step_s or depth == tf.data.AUTOTUNE or len(taken) < 2:
        return
    if taken[-1] - taken[0] > (len(taken) - 1) * case.step_s:
        return  # it is too slow at any depth
    busy = [_busy(taken, case.step_s, each) for each in (depth, _DEEPER * depth)]
    if busy[1] - busy[0] < _WORTH_IT:
        return
    times = [after - before for before, after in zip(taken, taken[1:])]
    last = len(case.program.steps) - 1
    yield Fault(
        "slow tail",
        "On average batches are made in time, but single ones are late, and those that are ready do not last so long.",
        f"the slowest of {len(times)} batches took {ms(max(times))}, the median {ms(statistics.median(times))}; replayed, the "
        f"accelerators compute {busy[0]:.0%} of the time with {depth} ahead, {busy[1]:.0%} with {_DEEPER * depth}",
        change=lambda given: given.with_step(last, step.with_arguments(buffer_size=_DEEPER * depth)),
        way="probe",
    )


def _busy(taken, step_s, ahead):
    """Share of the time in which the accelerators compute, over the recorded batches."""
    steps = strip.steps(taken, step_s, ahead)
    return len(steps) * step_s / (steps[-1][1] - steps[0][0])
