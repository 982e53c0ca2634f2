"""What the input cost each epoch of a training: a Keras callback."""

import time

import keras
import numpy as np

from . import _core
from ._tf_waits import Waits
from .running import busiest_stage

# Shares of the time from which on xprof, too, calls a training input-bound.
_BOUND = 0.05
_HIGHLY = 0.20


class TrainingReport(keras.callbacks.Callback):
    """One line an epoch: the share of the step that was spent waiting for input, how even the replicas were, and what limits.

        model.fit(data, epochs=10, callbacks=[headrace.tensorflow.TrainingReport()])

        epoch 1: input 31.4 % of a step of 118 ms (high), wait p50 36 ms, p99 51 ms, replicas even, bound by parse

    The share is the time in which fit() waited for its next batch, of the time of the epoch; validation counts for neither.
    Where a device works on while fit() waits, its idle time is less. A share below 5 % is "bound by compute"; from there on the
    line names the stage that was busiest, "map" for the function given to distribute(), or "delivery" for making tensors of
    batches that were ready. With tf.data in between (dataset(), route="dataset") its threads wait in place of fit(): the numbers
    are of these, the share is at most that, p50 and p99 are limits within a factor of two, and evenness is not known.

    `logs`, and so the history, get numbers alone: `input_share` (0 to 1), `input_wait_p50` and `input_wait_p99` (seconds),
    `input_bound` (0 or 1), `replicas_even` (0 or 1, where known). They are missing in an epoch that took no batch of headrace.

    Args:
        write: a function that takes the line.
    """

    def __init__(self, write=print):
        super().__init__()
        self._write = write
        self._waits = None  # None: between epochs, and while the validation runs
        self._measured = None
        self._steps = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._stop()
        self._measured = None
        self._steps = self._taken = 0
        self._waits = Waits()
        self._waits.listen()
        self._totals = _core.process_totals()
        self._began = self._ended = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        # Keras looks at a batch of the validation before it says that this begins: the last step ends the epoch.
        self._steps = batch + 1
        self._taken = len(self._waits.seconds)
        self._ended = time.perf_counter()

    def on_test_begin(self, logs=None):
        self._measure()

    def on_epoch_end(self, epoch, logs=None):
        self._measure()
        if self._measured is None:
            self._write(f"epoch {epoch + 1}: no batch came from headrace")
            return
        text, numbers = self._measured
        if logs is not None:
            logs.update(numbers)
        self._write(f"epoch {epoch + 1}: {text}")

    def on_train_end(self, logs=None):
        self._stop()

    def _stop(self):
        if self._waits is not None:
            self._waits.leave()
            self._waits = None

    def _measure(self):
        """The training part of the epoch is over."""
        if self._waits is None:
            return
        waits = self._waits
        self._stop()
        waits.keep(self._taken)
        if self._steps:
            seconds = self._ended - self._began
            self._measured = describe(waits, self._totals, _core.process_totals(), seconds, self._steps)


def describe(waits, before, now, seconds, steps):
    """(text, numbers for logs) of `steps` steps that took `seconds`, between two totals; None when no batch was taken."""
    engine_wait = now.wait_seconds - before.wait_seconds
    direct = len(waits.seconds) > 0
    if direct:
        waited = sum(waits.seconds)
        p50, p99 = (float(value) for value in np.percentile(waits.seconds, (50, 99)))
    else:
        waited = engine_wait
        counts = _waits_between(before, now)
        if not counts:
            return None
        p50, p99 = _quantile(counts, 0.50), _quantile(counts, 0.99)
    share = min(1.0, waited / seconds)
    bound = share >= _BOUND
    limit = _limit(waits, engine_wait, waited, before, now) if bound else "compute"
    numbers = {"input_share": share, "input_wait_p50": p50, "input_wait_p99": p99, "input_bound": float(bound)}
    evenness = ""
    if direct:
        uneven = sum(waits.uneven)
        numbers["replicas_even"] = float(uneven == 0)
        evenness = f"replicas uneven in {uneven} of {len(waits.seconds)} batches, " if uneven else "replicas even, "
    most, high = "" if direct else "at most ", " (high)" if share >= _HIGHLY else ""
    step = seconds / max(1, steps)
    text = (
        f"input {most}{100 * share:.1f} % of a step of {_milliseconds(step)}{high}, wait p50 {_milliseconds(p50)}, "
        f"p99 {_milliseconds(p99)}, {evenness}bound by {limit}"
    )
    return text, numbers


def _limit(waits, engine_wait, waited, before, now):
    if len(waits.seconds) > 0 and engine_wait < waited / 2:  # the engine had its batches ready
        return "map" if waits.mapped else "delivery"
    return busiest_stage(before, now)[0] or "input"


def _waits_between(before, now):
    """[(longest of the range in seconds, calls)]; [] where there were none."""
    earlier = {wait.seconds: wait.count for wait in before.waits}
    counts = [(wait.seconds, wait.count - earlier.get(wait.seconds, 0)) for wait in now.waits]
    return counts if any(count for _, count in counts) else []


def _quantile(counts, share):
    """The upper limit of the range in which it lies; of the last, which has none, the lower one."""
    wanted = share * sum(count for _, count in counts)
    reached, limit = 0, 0.0
    for seconds, count in counts:
        limit = seconds if np.isfinite(seconds) else limit
        reached += count
        if reached >= wanted:
            break
    return limit


def _milliseconds(seconds):
    return f"{1000 * seconds:.3g} ms"
