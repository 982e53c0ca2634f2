"""Emulated accelerators, trained synchronously: each takes its slice, reads every byte of it, and is busy for a fixed
time.

A step lasts `step_s` from its begin (reading included; the rest is slept, never spun), then all accelerators meet, as they
do to sum gradients. The caller goes on while they work, as a framework that dispatches ahead does: it takes the next batch
between begin() and finish(). Reading is NumPy's sum, which releases the interpreter lock.
"""

import threading
import time

from benchmarks.harness.columns import touch_array


class Accelerators:
    """`count` threads. One caller; close() stops and joins them."""

    def __init__(self, count, step_s):
        self.count = count
        self._step_s = step_s
        self._slices = None
        self._end = 0.0
        self._failure = None
        self._start = threading.Barrier(count + 1)
        self._done = threading.Barrier(count + 1)
        self._met = threading.Barrier(count, action=self._note_end)
        self._ended_s = 0.0
        self._threads = [threading.Thread(target=self._run, args=(i,), name=f"accelerator {i}") for i in range(count)]
        for thread in self._threads:
            thread.start()

    def _run(self, index):
        while True:
            self._start.wait()
            if self._slices is None:
                return
            try:
                for array in self._slices[index].values():
                    touch_array(array)
                rest = self._end - time.perf_counter()
                if rest > 0:
                    time.sleep(rest)
            except Exception as error:  # handed to the caller of step()
                self._failure = error
            self._met.wait()
            self._done.wait()

    def _note_end(self):
        self._ended_s = time.perf_counter()

    def begin(self, slices, begin_s):
        """Starts one training step over `slices` (name -> array, one mapping per accelerator), begun at `begin_s`."""
        if len(slices) != self.count:
            raise ValueError(f"{len(slices)} slices for {self.count} accelerators")
        self._slices = slices
        self._end = begin_s + self._step_s
        self._start.wait()

    def finish(self):
        """Waits for the step that was begun; the time at which the last accelerator was done."""
        self._done.wait()
        if self._failure is not None:
            raise self._failure
        return self._ended_s

    def close(self):
        self._slices = None
        self._start.wait()
        for thread in self._threads:
            thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
