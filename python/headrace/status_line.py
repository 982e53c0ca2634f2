"""One live line about a pipeline that runs: on the terminal of stderr, or below the cell of a notebook (`progress=True`)."""

import atexit
import shutil
import sys
import threading
import time
import weakref
from typing import NamedTuple

from .running import busiest_stage, input_bound, rates

_INTERVAL_SECONDS = 0.5
_lines = weakref.WeakKeyDictionary()  # _core.Pipeline -> StatusLine


def begin(pipeline):
    """Shows the state of a _core.Pipeline until end(), or until it is gone. Nothing, where there is no place to show it."""
    if (display := _display()) is not None:
        line = StatusLine(weakref.ref(pipeline), display)
        _lines[pipeline] = line
        weakref.finalize(pipeline, line.end)
        line.start()


def end(pipeline):
    """The line stays as it is, and what is printed next stands below it. Idempotent."""
    if (line := _lines.pop(pipeline, None)) is not None:
        line.end()


@atexit.register
def _end_all():
    for line in list(_lines.values()):
        line.end()


class Look(NamedTuple):
    """What a pipeline had done when it was looked at; `open_seconds` is the time of the look."""

    open_seconds: float
    epoch: int
    batches: int
    stages: list
    replicas: list


class StatusLine:
    """The thread that looks at the pipeline twice a second. It writes when there is something new: a batch, or a wait for one."""

    def __init__(self, pipeline, display):
        self._pipeline = pipeline  # a weak reference
        self._display = display
        self._ended = threading.Event()
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="headrace progress", daemon=True)

    def start(self):
        self._thread.start()

    def end(self):
        with self._writing:
            if not self._ended.is_set():
                self._ended.set()
                self._display.end()

    def _run(self):
        before = self._look()
        while before is not None and not self._ended.wait(_INTERVAL_SECONDS):
            now = self._look()
            if now is not None and is_news(before, now):
                with self._writing:
                    if not self._ended.is_set():
                        self._display.show(text_of(before, now))
            before = now

    def _look(self):
        pipeline = self._pipeline()
        if pipeline is None:
            return None
        report = pipeline.report()
        return Look(time.monotonic(), report.epoch, report.batches, report.stages, report.replicas)


def is_news(before, now):
    """Whether there is anything to say: a consumer that keeps its batch, or has closed the pipeline, has none."""
    return now.batches != before.batches or any(replica.waiting_seconds > 0 for replica in now.replicas)


def text_of(before, now):
    """The line; all rates are of the time between two looks."""
    seconds = now.open_seconds - before.open_seconds
    rate = rates(before, now)
    stage, busy = busiest_stage(before, now)
    parts = [
        f"epoch {now.epoch}",
        f"{now.batches} batches",
        f"{rate.batches:.1f} batches/s",
        f"{rate.records:.0f} records/s",
        f"{rate.megabytes:.1f} MB/s",
        f"waiting {100 * input_bound(before, now):.1f} %",
    ]
    return ", ".join(parts + ([f"{stage} {busy / seconds:.2f} cores"] if stage else []))


class _Terminal:
    def __init__(self, stream):
        self._stream = stream
        self._shown = False

    def show(self, text):
        columns = shutil.get_terminal_size().columns
        self._stream.write(f"\r\x1b[K{text[: columns - 1]}")
        self._stream.flush()
        self._shown = True

    def end(self):
        if self._shown:
            self._stream.write("\n")
            self._stream.flush()


class _Notebook:
    """An output of the cell that opened the pipeline, which is replaced."""

    def __init__(self, display):
        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, text):
        self._handle.update({"text/plain": text}, raw=True)

    def end(self):
        pass  # what is printed next has an output of its own


def _display():
    # A notebook has imported IPython; nobody else needs it.
    ipython = sys.modules.get("IPython")
    if ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None:
        return _Notebook(ipython.display.display)
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal(sys.stderr)
    return None
