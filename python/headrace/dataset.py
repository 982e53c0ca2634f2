"""Datasets: declared pipelines. Every step returns a new Dataset and checks its arguments at once.

The steps and their order: a source (headrace.sources) or several combined (headrace.combine), then those on records
(record_steps.py): {shard, take, skip, filter, interleave, repeat, shuffle, concatenate}, then those on batches (batch_steps.py):
batch, padded_batch or bucket_by_sequence_length, parse, {map, take, skip}, resident, prefetch_to_device.
"""

import logging
import re

from . import _core, arguments, status_line
from .batch_steps import BatchSteps
from .errors import ArgumentError, Error
from .mapped import MappedPipeline
from .pipeline import Pipeline, RecordBatchPipeline, RecordPipeline, open_core
from .record_steps import RecordSteps

# Records that the engine hands over together when the user iterates over single ones: enough to make the hand-over
# cheap for small records, few enough to hold little of large ones.
_RECORDS_AT_A_TIME = 64

_logger = logging.getLogger("headrace.dataset")


class Dataset(RecordSteps, BatchSteps):
    """A declared pipeline; immutable. Iterating over it starts a Pipeline.

    The elements are bytes (one record) without batch(), BytesColumns with batch(), Batches with parse().
    The k-th iterator that delivered something starts at epoch k; see set_epoch.
    """

    _steps = ()  # the calls that made it (headrace.steps); none of datasets that were combined
    _progress = False  # whether the pipelines of what is made from this source show a live line

    def __init__(self, core, spec=None, is_batched=False, devices=(), source=None, functions=()):
        self._core = core
        self._spec = spec
        self._source = source or self  # the records as they lie in the shards
        self._is_batched = is_batched
        self._devices = tuple(devices)
        self._functions = tuple(functions)  # (name, Python function) of map()
        # What is opened: the engine only ever delivers batches.
        self._runnable = core if is_batched else core.batch(_RECORDS_AT_A_TIME)

    def concatenate(self, dataset):
        """The records of this dataset, then those of `dataset`. Neither is batched; both are read with the same options."""
        if not isinstance(dataset, Dataset):
            raise ArgumentError(f"dataset={dataset!r}: must be a headrace Dataset")
        return Dataset(_core.concatenate(self._core, dataset._core))

    def set_epoch(self, epoch):
        """The next iterator starts at `epoch` (>= 0), those after it count on from there."""
        self._runnable.set_epoch(arguments.integer("epoch", epoch, minimum=0))

    def doctor(self, step_time=None, replicas=None, seconds=2.0, verify=False):
        """Says whether this input keeps the accelerators waiting, what limits it, and what each fix gains.

        Runs a pipeline of its own at full speed for `seconds`, looks at the shards, the storage and the CPUs, and replays what was
        measured through a model of the engine's queues (docs/design/doctor.md); the best fixes are then tried for a second or two
        on a copy. The iterators of this dataset and their epochs are left alone; functions of map() are called.

        Args:
            step_time: seconds of a training step on the accelerators, without waiting for data. None: not known; the fixes are
                then those that make the input itself faster.
            replicas: number of devices that share a batch; None: those of prefetch_to_device.
            seconds: how long each measurement lasts (> 0).
            verify: apply each fix to a copy of the pipeline and measure what it achieves, twice `seconds` or longer each.
                Fixes of the files are tried with copies of the first shards, up to 256 MiB (without `verify`: 48 MiB), in the
                folder of TMPDIR.

        Returns:
            A headrace.findings.Diagnosis; str() gives text, as_dict() plain values.

        Raises:
            ValueError: naming parameter and value; for a dataset without batch().
            What next() raises, where the stream fails.
        """
        from ._doctor.diagnose import diagnose

        return diagnose(self, step_time, replicas, seconds, verify)

    def check(self):
        """Finds and checks the files without reading them; the warnings about them, as a list of str.

        Raises:
            FileNotFoundError, PermissionError, OSError: naming all files that cannot be read.
        """
        return self._runnable.check()

    @property
    def features(self):
        """{name: spec} of parse(), in headrace's own specs and without patterns; None before parse()."""
        return None if self._spec is None else dict(self._spec)

    @property
    def replicas(self):
        """Number of shares each batch is cut into; 1 without prefetch_to_device."""
        return max(1, len(self._devices))

    @property
    def devices(self):
        """The devices of prefetch_to_device, by their canonical names."""
        return self._devices

    @property
    def places(self):
        """(first, number, of how many): which devices of prefetch_to_device are those of this process."""
        for _, name, text in self._core.ops():
            found = re.search(r",local=(\d+)\+(\d+)/(\d+)", text) if name == "prefetch_to_device" else None
            if found:
                return tuple(map(int, found.groups()))
        return 0, self.replicas, self.replicas

    def refuse_functions(self, what):
        """ValueError when Python functions stand behind the batches: `what` needs the batches themselves."""
        if self._functions:
            raise ArgumentError(f"{what} cannot stand behind map({self._functions[-1][0]}), a Python function")

    def refuse_cuda(self, what):
        """ValueError when batches go to CUDA devices: `what` takes them from host memory."""
        cuda = [name for name in self._devices if not name.startswith("/CPU")]
        if cuda:
            raise ArgumentError(f"{what} takes batches from host memory, not from {cuda[0]}: name /CPU:n in prefetch_to_device")

    def __iter__(self):
        if self._functions:
            return MappedPipeline(self, self._functions)
        if self._spec is not None:
            return Pipeline(self)
        return RecordBatchPipeline(self) if self._is_batched else RecordPipeline(self)

    def __len__(self):
        """Elements of the stream, or of an epoch when it is repeated for ever.

        Raises:
            TypeError: when that is not known. It is with assert_cardinality(), with an index of every file (`headrace index`),
                or once an epoch was read, unless a filter or on_mismatch="skip" leaves records out.
        """
        count = self._known_length()
        if count is None:
            unknown = TypeError(
                "the length is not known: state it with assert_cardinality(), make indexes (headrace index), or read one "
                "epoch first"
            )
            try:
                self._core.find_indexes()
            except Error as error:
                raise unknown from error
            count = self._known_length()
            if count is None:
                raise unknown
        return count

    def cardinality(self, scan=False):
        """Elements of the stream: -1 when it has no end, -2 when that is not known (TensorFlow's numbers).

        Args:
            scan: make the indexes that are missing, whatever time it takes: the headers of plain files are read, compressed
                files are inflated. They are kept in the cache folder, as `headrace index` does.

        Raises:
            DataLossError: with scan: a file is damaged.
        """
        if self._core.cardinality() is None and not self._core.find_indexes() and scan:
            for text in self._core.make_indexes():
                _logger.warning(text)
        count = self._core.cardinality()
        return -2 if count is None else count

    def _known_length(self):
        count = self._core.cardinality()
        if count == -1:
            count = self._core.epoch_cardinality()
        return None if count is None or count < 0 else count

    def __bool__(self):
        return True

    def __repr__(self):
        steps = "".join(f".{name}({arguments_})" for _, name, arguments_ in self._core.ops())
        return f"<headrace.Dataset {steps.lstrip('.')}>"

    def _open(self, position=None):
        pipeline = open_core(self._runnable, position)
        if self._source._progress:
            status_line.begin(pipeline)
        return pipeline

    def _with(self, core, **changes):
        parts = {"spec": self._spec, "is_batched": self._is_batched, "devices": self._devices}
        parts.update(source=self._source, functions=self._functions)
        parts.update(changes)
        return Dataset(core, **parts)
