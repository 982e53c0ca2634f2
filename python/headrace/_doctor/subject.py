"""What the causes look at: one dataset with its shards, what was measured of it, and the model of it."""

import dataclasses
from typing import Any

from ..findings import Gain
from .measure import Run
from .model import Model, gain
from .shards import Shards
from .storage import Storage

# Less is not worth changing a pipeline for.
_WORTH = 1.1


@dataclasses.dataclass(frozen=True)
class Subject:
    """`shards` and `storage` are None where the steps of the dataset are not known. `noise` is relative."""

    dataset: Any
    shards: Shards | None
    storage: Storage | None
    run: Run
    model: Model
    noise: float
    cores: int
    replicas: int
    input_bound: bool | None

    def gain(self, cause):
        """The predicted Gain of its fix, None where no number can be told."""
        if cause.times is not None:
            return Gain(cause.times, cause.times * self.noise)
        return None if cause.then is None else gain(self.model, cause.then, self.noise)

    def is_worth(self, predicted):
        """Whether a fix that gains this is to be named: a gain that is seen and larger than its error."""
        return predicted.ratio >= _WORTH and predicted.resolved


@dataclasses.dataclass(frozen=True)
class Cause:
    """One thing that is wrong. `then` is the model with the fix; `times` is the gain where the model does not tell; both None
    where no number can be told, and the cause is named whatever the speed is.

    `trial` is a function of (dataset, folder for files) that gives the dataset without and with the fix; None where the doctor
    cannot apply it.
    """

    name: str
    cause: str
    evidence: str
    fix: str
    then: Model | None = None
    trial: Any = None
    times: float | None = None
