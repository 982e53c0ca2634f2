"""Applies the fix of a cause to a copy of a pipeline and measures what it achieves."""

import statistics
import tempfile

from ..findings import Gain
from . import measure

# Without and with the fix, in turn: what the machine does meanwhile hits both.
_ROUNDS = 3
# Of means of so few rounds.
_FLOOR = 0.02


def achieved(dataset, cause, step_time, seconds):
    """The Gain that the fix of `cause` achieves; None where the doctor cannot apply it."""
    if cause.trial is None:
        return None
    with tempfile.TemporaryDirectory(prefix="headrace-doctor-") as folder:
        pair = cause.trial(dataset, folder)
        rates = [[], []]
        for _ in range(_ROUNDS):
            for which, each in enumerate(pair):
                rates[which].append(measure.run(each, seconds / 2, step_time).rate)
    ratios = [after / before for before, after in zip(*rates)]
    ratio = statistics.median(ratios)
    error = ratio * (statistics.pstdev(ratios) / ratio / _ROUNDS**0.5 + _FLOOR)
    return Gain(ratio, error)
