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
# What gains so much is named even where a busy machine makes the error bar as large.
_CLEAR = 1.25


@dataclasses.dataclass(frozen=True)
class Subject:
    """`shards` and `storage` are None where the steps of the dataset are not known. `noise` is relative."""

    dataset: Any
    shards: Shards | None
    storage: Storage | None
    run: Run
    model: Model
    noise: float
    backtest: float  # batches a second that the model gives for what was measured, before it is fitted
    relieved_rate: float  # batches a second of the engine without what makes it stand still (relieved.py)
    cores: int
    replicas: int
    input_bound: bool | None

    def gain(self, cause):
        """The Gain of its fix by the model, None where no number can be told."""
        if cause.times is not None:
            return Gain(cause.times, cause.times * self.noise)
        return None if cause.then is None else gain(self.model, cause.then, self.noise)

    def with_threads(self, threads, cores):
        """The model with another number of worker threads and CPUs."""
        layout = self.model.layout
        return self.model.with_layout(
            threads=threads,
            cores=cores,
            in_flight=layout.in_flight - max(2, layout.threads) + max(2, threads),
        )

    def is_worth(self, predicted):
        """Whether a fix that gains this is to be named."""
        return predicted.ratio >= _CLEAR or (predicted.ratio >= _WORTH and predicted.resolved)


@dataclasses.dataclass(frozen=True)
class Cause:
    """One thing that is wrong. `then` is the model with the fix; `times` is the gain where the model does not tell; both None
    where no number can be told, and the cause is named whatever the speed is.

    `trial` is a function of (dataset, folder for files, most bytes of files) that gives the dataset without and with the fix; None
    where the doctor cannot apply it. `shows_by_pauses`: the fix gains nothing where batches are taken without pauses between them.
    """

    name: str
    cause: str
    evidence: str
    fix: str
    then: Model | None = None
    trial: Any = None
    times: float | None = None
    shows_by_pauses: bool = False
