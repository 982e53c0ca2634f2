"""Pipelines: running datasets, as Python iterators.

A pipeline opens its files at the first next(). It ends by close(), by leaving its `with` block, when nobody refers to it
any more, or at the exit of the interpreter, whichever comes first. In a child of fork(), pipelines that the parent had
opened raise ClosedError; those that it had not may be used.
"""

import atexit
import json
import logging
import os
import threading
import time
import weakref

from . import _core, arguments, status_line
from .errors import ArgumentError, ClosedError

_logger = logging.getLogger("headrace.pipeline")
# Of fewer batches, the first one, which waits for the files, hides how long a step is.
_BATCHES_OF_STEP_TIME = 10
_running = weakref.WeakSet()
_pipelines = weakref.WeakSet()


def open_core(core_dataset, position=None):
    """Opens a _core.Dataset and sees to it that the interpreter's exit closes the _core.Pipeline it gives."""
    pipeline = core_dataset.open(position)
    _running.add(pipeline)
    return pipeline


@atexit.register
def _close_all():
    # Engine threads must be joined while the interpreter still stands. Daemon threads that wait in next() stay there.
    _core.begin_exit()
    for pipeline in list(_running):
        pipeline.close()


def _leave_to_parent():
    for pipeline in list(_pipelines):
        pipeline._leave_to_parent()


os.register_at_fork(after_in_child=_leave_to_parent)


def _log_later(pipeline):
    # The engine's object must not keep the pipeline alive.
    this = weakref.ref(pipeline)

    def log():
        if (alive := this()) is not None:
            alive._log_warnings()

    return log


class Pipeline:
    """Iterator over the batches of a dataset; what iter(dataset) gives. One iteration at a time."""

    _logs_warnings = True  # in the name of the user

    def __init__(self, dataset):
        self._dataset = dataset
        self._core = None
        self._position = None
        self._delivered = False
        self._closed = None  # or why it is closed
        self._opening = threading.Lock()
        self._logged = set()
        _pipelines.add(self)

    def __iter__(self):
        return self

    def __next__(self):
        """The next batch.

        Raises:
            FileNotFoundError, PermissionError, OSError: at the first call, naming all files that cannot be read.
            DataLossError, SchemaError, BudgetError: where the stream ends by a failure; every later call raises it again.
            ClosedError: after close(), or in a process forked after the first call.
        """
        try:
            if self._delivered:
                return self._core.next()
            batch = self._start().next()
        except StopIteration:
            self._log_warnings()
            raise
        self._delivered = True
        self._log_warnings()
        return batch

    def next(self):
        """The same as next(pipeline)."""
        return self.__next__()

    def next_slice(self, replica):
        """Slice of one replica: the k-th call for a replica gives its slice of batch k. Not to be mixed with next().

        Safe from one thread per replica. A replica may lead the slowest by depth + 2 batches, then it waits.
        """
        share = self._start().next_slice(replica)
        self._delivered = True
        return share

    def close(self):
        """Stops all work and joins the threads; wakes a next() that waits in another thread. Idempotent."""
        with self._opening:
            self._closed = self._closed or "the pipeline is closed"
        if self._core is not None:
            self._log_warnings()
            self._core.close()
            status_line.end(self._core)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return len(self._dataset)

    def __bool__(self):
        return True

    @property
    def replicas(self):
        """Number of shares each batch is cut into."""
        return self._dataset.replicas

    def state_dict(self):
        """Where the stream stands behind the last batch delivered: a dict of str and int, fit for JSON."""
        return position_to_dict(self._start().position())

    def load_state_dict(self, state):
        """Continues where `state` was taken. To be called before the first next().

        Raises:
            ValueError: after the first next(), or for a dict that is no state. A state of other files or of another
                pipeline raises at the first next().
        """
        if self._delivered:
            raise ArgumentError("load_state_dict: must be called before the first next()")
        self._position = position_from_dict(state)
        if self._core is not None:
            self._core.close()
            self._core = None

    def get_state(self):
        """The same as state_dict()."""
        return self.state_dict()

    def set_state(self, state):
        """The same as load_state_dict()."""
        self.load_state_dict(state)

    @property
    def has_position(self):
        """Whether state_dict() can say where the stream stands: not behind resident()."""
        return self._start().has_position

    def report(self):
        """What the stages did up to now: times, counts, memory, warnings, skipped records (a snapshot)."""
        core = self._start()
        self._log_warnings()
        return core.report()

    def stats(self):
        """report() as a dict of plain values."""
        return json.loads(self.report().to_json())

    def doctor(self, step_time=None, replicas=None, seconds=2.0, verify=False):
        """Dataset.doctor() of the dataset that is iterated over; this iteration goes on undisturbed.

        Args:
            step_time: seconds; None: what this iteration shows, which is the time between batches that was not spent in waiting
                for them, once 10 were delivered.
        """
        if step_time is None:
            step_time = self._step_time()
        return self._dataset.doctor(step_time, replicas, seconds, verify)

    def _step_time(self):
        """Seconds that the consumer keeps a batch, a mean; None while too little is known."""
        if self._core is None:
            return None
        report = self._core.report()
        if report.batches < _BATCHES_OF_STEP_TIME:
            return None
        replicas = [replica for replica in report.replicas if replica.batches]
        waited = sum(replica.wait_seconds for replica in replicas) / len(replicas)
        return max(0.0, time.monotonic() - self._opened - waited) / report.batches or None

    def write_trace(self, path):
        """Writes the spans of the last batches as JSON for ui.perfetto.dev and chrome://tracing."""
        self._start().write_trace(arguments.path("path", path))

    def _start(self):
        """The _core.Pipeline, opened if it was not."""
        if self._core is None:
            with self._opening:  # threads of several replicas may come at once
                if self._closed is not None:
                    raise ClosedError(self._closed)
                if self._core is None:
                    self._opened = time.monotonic()
                    self._core = self._dataset._open(self._position)
                    self._core.on_wait = _log_later(self)
        return self._core

    def _leave_to_parent(self):
        """In a child of fork(): the engine's threads, and one that was about to open this pipeline, are not here."""
        self._opening = threading.Lock()
        if self._core is not None:
            self._closed = "the pipeline was opened before fork() and cannot be used in the child; open it there"
            self._core = None
            self._delivered = False

    def _log_warnings(self):
        if not self._logs_warnings:
            return
        for text in self._core.report().warnings:
            if text not in self._logged:
                self._logged.add(text)
                _logger.warning("%s", text)


class RecordBatchPipeline(Pipeline):
    """Iterator over batches of records that nobody parses: each element is a BytesColumn."""

    def __next__(self):
        return super().__next__()[""]


class RecordPipeline(Pipeline):
    """Iterator over single records, as bytes. The engine hands them over in batches; the state counts records."""

    def __init__(self, dataset):
        super().__init__(dataset)
        self._rows = []
        self._row = 0
        self._rows_to_skip = 0

    def __next__(self):
        while self._row >= len(self._rows):
            self._rows = super().__next__()[""].tolist()
            self._row = self._rows_to_skip
            self._rows_to_skip = 0
        record = self._rows[self._row]
        self._row += 1
        return record

    def _start(self):
        core = super()._start()
        # Rows of a batch that was begun are not whole rounds of the workers, which another number of them could go on with.
        if self._rows_to_skip and core.position().spec != self._position.spec:
            raise ArgumentError(
                "state: was taken between two records of a worker; another worker goes on behind whole batches alone: use batch()"
            )
        return core

    def _leave_to_parent(self):
        if self._core is not None:
            self._rows = []
            self._row = 0
        super()._leave_to_parent()

    def state_dict(self):
        if self._rows_to_skip:
            return {**super().state_dict(), "row": self._rows_to_skip}
        if self._row >= len(self._rows):
            return {**super().state_dict(), "row": 0}
        return {**position_to_dict(self._start().position(1)), "row": self._row}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self._rows_to_skip = arguments.integer("state['row']", state.get("row", 0), minimum=0)


_STATE_TYPES = {
    "format": int,
    "stream_version": int,
    "files": str,
    "spec": str,
    "epoch": int,
    "batches": int,
    "data": str,
}


def position_to_dict(position):
    """A _core.Position as a dict of str and int."""
    return {field: getattr(position, field) for field in _STATE_TYPES}


def position_from_dict(state):
    """The reverse; ValueError naming the field that is missing or of another type."""
    if not isinstance(state, dict):
        raise ArgumentError(f"state: must be the dict of state_dict(), not {type(state).__name__}")
    for field, kind in _STATE_TYPES.items():
        if not isinstance(state.get(field), kind):
            raise ArgumentError(f"state[{field!r}]={state.get(field)!r}: must be {kind.__name__}, as state_dict() made it")
    return _core.Position(**{field: state[field] for field in _STATE_TYPES})
