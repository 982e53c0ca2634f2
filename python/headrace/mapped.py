"""Python functions on the batches of a dataset (Dataset.map), on a thread of their own."""

import collections
import sys
import threading
import time

from . import _core
from .errors import ArgumentError, ClosedError
from .pipeline import Pipeline, position_to_dict

# Results that wait for the consumer: one is being taken, one is ready.
_AHEAD = 2


class MappedPipeline(Pipeline):
    """Iterator over what the functions of Dataset.map make of the batches. One iteration at a time.

    The functions run on one thread, up to two results ahead of the consumer; report() has a stage `map NAME` for each. What
    a function raises is raised by the next() whose batch it had, and by every later one.
    """

    _worker = None

    def __init__(self, dataset, functions):
        super().__init__(dataset)
        self._functions = functions
        self._behind = None  # the position of what was delivered last; None without any

    def __next__(self):
        worker = self._start_worker()
        try:
            result, self._behind = worker.take()
        except StopIteration:
            self._log_warnings()
            raise
        self._delivered = True
        return result

    def next_slice(self, replica):
        """Not for mapped pipelines: a function sees whole batches."""
        raise ArgumentError("next_slice: the functions of map() see whole batches; use next()")

    def state_dict(self):
        core = self._start()
        self._start_worker()
        return position_to_dict(self._behind or core.position())

    def load_state_dict(self, state):
        super().load_state_dict(state)
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def close(self):
        with self._opening:  # a worker that is being started is one to stop
            self._closed = self._closed or "the pipeline is closed"
            worker = self._worker
        if worker is not None:
            worker.stop()
        super().close()

    def _start_worker(self):
        core = self._start()
        with self._opening:
            if self._worker is None:
                if self._closed is not None:
                    raise ClosedError(self._closed)
                self._behind = core.position() if core.has_position else None
                self._worker = _Worker(core, self._functions)
            return self._worker

    def __del__(self):
        # No weakref.finalize: the worker's failure holds the frames it was raised in, and so this pipeline; what the registry of
        # finalizers held would hold both forever. At the exit of the interpreter the core is closed, which ends the thread.
        if self._worker is not None and not sys.is_finalizing():
            self._worker.stop()

    def _leave_to_parent(self):
        super()._leave_to_parent()
        self._worker = None


class _Worker:
    """The thread. It knows the core, not the pipeline, which may so be garbage while the thread waits."""

    def __init__(self, core, functions):
        self._core = core
        self._functions = functions
        self._results = collections.deque()  # (result, position, failure); a failure is the last one and stays
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="headrace map", daemon=True)
        self._thread.start()

    def take(self):
        asked_ns = time.monotonic_ns()
        with self._changed:
            self._changed.wait_for(lambda: self._results or self._stopped)
            if not self._results:
                raise ClosedError("the pipeline is closed")
            result, position, failure = self._results[0]
            if failure is not None:
                raise failure
            self._results.popleft()
            self._changed.notify_all()
        _core.add_to_trace("wait", asked_ns, time.monotonic_ns())
        return result, position

    def stop(self):
        with self._changed:
            self._stopped = True
            self._results.clear()
            self._changed.notify_all()
        self._core.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self):
        _core.trace_works_ahead()
        goes_on = True
        while goes_on:
            item = self._make()
            goes_on = item[2] is None
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or len(self._results) < _AHEAD)
                if self._stopped:
                    return
                self._results.append(item)
                self._changed.notify_all()

    def _make(self):
        try:
            result = batch = self._core.next()
            position = self._core.position() if self._core.has_position else None
            for name, function in self._functions:
                begin = time.perf_counter_ns()
                result = function(result)
                self._core.count_map(name, time.perf_counter_ns() - begin, batch.global_rows)
        except BaseException as failure:  # whatever it is, the consumer gets it
            return None, None, failure
        return result, position, None
