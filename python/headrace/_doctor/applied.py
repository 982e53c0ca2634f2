"""Applies the fix of a cause to a copy of a pipeline and runs it: shortly, to predict what it gains, or longer, to verify that."""

import statistics
import tempfile

from ..findings import Gain
from . import measure

# Without and with the fix, in turn: what the machine does meanwhile hits both.
_ROUNDS = 3
# Of means of so few rounds.
_FLOOR = 0.02
# A short run is this share of the doctor's time, and tries the fixes of files with so many bytes of them.
_SHORT = 1 / 6
_SHORT_BYTES = 48 << 20
_BYTES = 256 << 20


def predicted(dataset, cause, step_time, seconds):
    """The Gain in short runs, as far as the accelerators can use it; None where the doctor does not try the fix.

    Batches are taken at the pace of the steps where these are short, otherwise without pauses.
    """
    if cause.trial is None or cause.shows_by_pauses:
        return None
    window = _SHORT * seconds
    pace = step_time if step_time * measure.LEAST_BATCHES <= window else 0.0
    most = 1 / step_time if step_time else float("inf")
    return _gain([min(rate, most) for rate in rates] for rates in _rates(dataset, cause, pace, window, _SHORT_BYTES))


def achieved(dataset, cause, step_time, seconds):
    """The Gain that the fix of `cause` achieves in a training; None where the doctor cannot apply it."""
    return None if cause.trial is None else _gain(_rates(dataset, cause, step_time, seconds / 2, _BYTES))


def _rates(dataset, cause, step_time, seconds, most_bytes):
    """Batches a second [without, with] the fix, of each round."""
    with tempfile.TemporaryDirectory(prefix="headrace-doctor-") as folder:
        pair = cause.trial(dataset, folder, most_bytes)
        return [[measure.run(each, seconds, step_time).rate for each in pair] for _ in range(_ROUNDS)]


def _gain(rounds):
    ratios = [after / before for before, after in rounds]
    ratio = statistics.median(ratios)
    return Gain(ratio, ratio * (statistics.pstdev(ratios) / ratio / len(ratios) ** 0.5 + _FLOOR))
