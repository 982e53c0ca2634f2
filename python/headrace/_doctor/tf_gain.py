"""What a fix of a tf.data program gains: predicted from the costs of its steps or a short run, achieved in a longer one."""

import functools
import logging
import statistics

import tensorflow as tf

from .. import findings
from .._accelerate import accelerate
from ..errors import Error
from . import tf_measure as measure
from . import tf_model as model

_LEAST_ERROR = 0.03  # of a ratio: no run on a machine that others use tells more
_PROBE_S, _VERIFY_S, _ROUNDS = 0.3, 0.8, 3  # a run of one of the two programs, and how many of each
_WARM_S = 0.3  # in front of each run
_UNBUILT = (Error, TypeError, ValueError, AttributeError, tf.errors.OpError)


class Gains:
    """The gains of the faults of one Case; `dataset` is the user's."""

    def __init__(self, case, dataset):
        self._case = case
        self._dataset = dataset

    @functools.cached_property
    def taken(self):
        """What accelerate() makes of the dataset, or None; `refusal` then says why."""
        try:
            with _without_warnings():
                taken = accelerate(self._dataset, None, 8, 0, "seeded", True, False)
        except Error as error:
            self.refusal = str(error).removeprefix("dataset: ")
            return None
        self.refusal = ""
        return taken

    @property
    def account(self):
        """What accelerate() says of it, without the source."""
        return f"not taken over: {self.refusal}" if self.taken is None else self.taken.takeover.account

    @functools.cached_property
    def accelerated(self):
        """The gain of accelerate() in a short run, or None."""
        return None if self.taken is None else self._compared(self.taken, _PROBE_S)

    @functools.cached_property
    def _verified(self):
        """The same in a longer one."""
        return None if self.taken is None else self._compared(self.taken, _VERIFY_S)

    def predicted(self, fault):
        """The Gain that the fault's fix will have, or None."""
        if not self._case.is_known and fault.way != "accelerate":
            return None
        if fault.way == "accelerate":
            return self.accelerated
        if fault.change is None:
            return None
        if fault.way == "model":
            return self._modelled(fault.change(self._case.program))
        return self._run(fault, _PROBE_S) if fault.way == "probe" else None

    def achieved(self, fault):
        """The Gain of the fix, applied and run, or None where it is not the doctor's to apply."""
        if fault.way == "none":
            return None
        if fault.way == "accelerate":
            return self._verified
        return None if fault.change is None else self._run(fault, _VERIFY_S)

    def _modelled(self, mended):
        case = self._case
        before, after = (model.period_s(program, case.cores, case.step_s) for program in (case.program, mended))
        if min(before, after) <= 0.0:  # all of it comes from a cache
            return None
        ratio = before / after
        # The model's own error is known for the program as it is, and counts for what changes.
        off = abs(before / max(case.base.wall_s, case.step_s) - 1.0)
        return findings.Gain(ratio, abs(ratio - 1.0) * min(off, 1.0) + ratio * max(case.base.spread, _LEAST_ERROR))

    def _run(self, fault, seconds):
        try:
            mended = fault.change(self._case.program).dataset()
            return self._compared(mended, seconds)
        except _UNBUILT:
            return None

    def _compared(self, mended, seconds):
        """Both programs run in turn; the median of the ratios."""
        ratios = []
        for _ in range(_ROUNDS):
            before, after = (measure.run(each, seconds, self._case.step_s, _WARM_S) for each in (self._dataset, mended))
            ratios.append(before.wall_s / after.wall_s)
        ratio = statistics.median(ratios)
        return findings.Gain(ratio, max(*(abs(each - ratio) for each in ratios), ratio * _LEAST_ERROR))


class _without_warnings:
    """accelerate() says in the log what it leaves as it is; here the report says it."""

    def __enter__(self):
        self._logger = logging.getLogger("headrace.tensorflow")
        self._level = self._logger.level
        self._logger.setLevel(logging.ERROR)

    def __exit__(self, *_):
        self._logger.setLevel(self._level)
