"""What `distribute` was asked for, as one value: which data, in which form, on which devices, mapped how."""

import dataclasses
from typing import Any

from ._tf_elements import Elements
from ._tf_map import Mapper
from .errors import ArgumentError

DEFAULT_AHEAD = 2  # mapped batches that wait ready
MAX_AHEAD = 60  # the engine knows its position behind each of the last 64 batches


def declared(dataset, *steps):
    """Arguments of the last step of one of those names that `dataset` declares, as {name: text}; None when there is none."""
    found = None
    for _, name, text in dataset._core.ops():
        if name in steps:
            found = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    return found


def shuffle_seed(dataset):
    """Seed of the first shuffle, 0 when nothing is shuffled."""
    for _, name, text in dataset._core.ops():
        if name == "shuffle":
            return int(dict(part.split("=", 1) for part in text.split(","))["seed"])
    return 0


def batch_size(dataset):
    """(rows of a global batch, whether every batch has that many)."""
    dataset.refuse_functions("headrace.tensorflow, whose functions go to its own map=,")
    batch = declared(dataset, "batch", "padded_batch", "bucket_by_sequence_length")
    if batch is None:
        raise ArgumentError("pipeline: TensorFlow gets batches; add .batch(…).parse(features)")
    if "sizes" in batch:
        return max(int(size) for size in batch["sizes"].split("/")), False
    pads = (declared(dataset, "prefetch_to_device") or {}).get("remainder") == "pad"
    return int(batch["size"]), pads or int(batch["drop_remainder"]) != 0


def slice_rows(dataset, replicas):
    """Rows of what each of the replicas gets, where that is always the same number for all; else None."""
    size, whole = batch_size(dataset)
    weighted = "weights" in (declared(dataset, "prefetch_to_device") or {})
    return size // replicas if whole and not weighted else None


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Constant; shared by the iterators of a distributed dataset."""

    dataset: Any
    devices: tuple  # of the replicas, as TensorFlow names them
    elements: Elements
    functions: tuple = ()
    map_device: Any = None  # None: each replica's own; "host"
    dependent: bool = False  # functions mix rows
    ahead: int = DEFAULT_AHEAD
    mapper: Any = None  # made by with_functions
    route: str = ""  # how the batches travel and why, for report()

    def open(self, position):
        """The engine's pipeline from `position` on."""
        pipeline = self.dataset._open(position)
        pipeline.route = self.route
        return pipeline

    @property
    def replicas(self):
        return len(self.devices)

    @property
    def spec(self):
        """The spec of what one replica gets."""
        return self.mapper.spec if self.mapper is not None else self.elements.spec()

    @property
    def seed(self):
        return shuffle_seed(self.dataset)

    def with_functions(self, *functions):
        """The same with more functions behind those there are; traces them."""
        functions = (*self.functions, *functions)
        mapper = None
        if functions or self.elements.has_weights:
            mapper = Mapper(self.elements, functions, parts=self.replicas if self.dependent else 1)
        return dataclasses.replace(self, functions=functions, mapper=mapper)

    def with_ahead(self, ahead):
        """The same with that many mapped batches (at most MAX_AHEAD) waiting ready."""
        return dataclasses.replace(self, ahead=min(ahead, MAX_AHEAD))
