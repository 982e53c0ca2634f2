"""What the doctor knows about one tf.data program: its steps and their costs, its files, and what consumes it."""

import dataclasses
import functools
import statistics
from typing import Any

import tensorflow as tf

from .._accelerate.objects import kind_of, reader
from .._accelerate.refusal import Refused
from ..errors import Error
from ..infer import first_records, summarise
from . import tf_functions as functions
from .tf_measure import Run
from .tf_program import Program

_SAMPLE = 64  # records that are looked at


@dataclasses.dataclass(frozen=True)
class Shards:
    """The files: paths, bytes of each, compression as tf.data has it, the first records as they are."""

    paths: list
    sizes: list
    compression: str
    sample: list

    @property
    def record_bytes(self):
        """Mean bytes of a record."""
        return statistics.fmean(map(len, self.sample))

    @property
    def records(self):
        """Records of all files, from their bytes; None when they are compressed."""
        return None if self.compression else int(sum(self.sizes) / (self.record_bytes + 16))  # 16 bytes frame a record


@dataclasses.dataclass(frozen=True)
class Case:
    """Everything that the rules look at.

    Attributes:
        program: with the costs of its steps where they are known.
        base: how the program ran as it is.
        spec: element_spec.
        replicas, workers: of the strategy; 1 without one.
        gpus: whether the replicas are GPUs.
        cores: of this process, not used by others.
        step_s: seconds of a training step, or 0.0.
    """

    program: Program
    base: Run
    spec: Any
    replicas: int = 1
    workers: int = 1
    has_strategy: bool = False
    gpus: bool = False
    cores: float = 1.0
    step_s: float = 0.0

    @property
    def is_known(self):
        """Whether the costs of the steps are known."""
        return self.program.cpu_s is not None

    @functools.cached_property
    def shards(self):
        """The Shards, or None where the files cannot be told."""
        found = self.program.reader
        if found is None:
            return None
        try:
            files = reader(found, kind_of(found))
            sizes = [tf.io.gfile.stat(path).length for path in files.paths]
            sample = list(first_records(files.paths, _SAMPLE))
        except (Refused, Error, OSError, AttributeError, tf.errors.OpError):
            return None
        return Shards(files.paths, sizes, files.compression, sample) if sample else None

    @functools.cached_property
    def schema(self):
        """What the first records hold, as infer.summarise tells it."""
        return summarise(self.shards.sample)

    @functools.cached_property
    def batch_size(self):
        """Rows of a batch, or None when the program has no batch of its own."""
        place = self.program.batch_place()
        return self.program.steps[place].arguments["batch_size"] if place < len(self.program.steps) else None

    def record_steps(self):
        """The Steps on single records; the one that opens the files may hold some of them in its function."""
        program = self.program
        return program.steps[max(0, program.reading_place()) : program.batch_place()]

    def share(self, step):
        """The step's share of the CPU time of a batch; 0.0 when nothing was measured."""
        total = sum(each.cpu_s or 0.0 for each in (self.program, *self.program.steps))
        return (step.cpu_s or 0.0) / total if total else 0.0

    @functools.cached_property
    def batch_bytes(self):
        """Bytes of the tensors of known shape in a batch of this program, strings left out."""
        return sum(_bytes(spec, self.batch_size or 1) for spec in tf.nest.flatten(self.spec))

    def decodes_at(self, place):
        """Whether a step in front of that place has made arrays out of the records."""
        steps = self.program.steps[self.program.reading_place() + 1 : place]
        return any(functions.decodes(step) for step in steps)


def _bytes(spec, rows):
    if not isinstance(spec, tf.TensorSpec) or spec.shape.rank is None or spec.dtype == tf.string:
        return 0
    known = [size if size is not None else (rows if place == 0 else 1) for place, size in enumerate(spec.shape)]
    product = 1
    for size in known:
        product *= size
    return product * spec.dtype.size
