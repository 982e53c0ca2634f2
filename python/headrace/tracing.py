"""What the pipelines of this process do, recorded for TensorBoard's Profile plugin, Perfetto and PyTorch's traces."""

import json
import os
import socket
import time

from . import _core, arguments
from .errors import ArgumentError


class trace:
    """Records while a `with` block runs: what each stage did on each thread, and how long each consumer waited for each batch.

        with hr.trace("logs"):
            for _ in range(20): step(next(batches))

    On leaving the block there are, all of the same recording:
    `logs/plugins/profile/RUN/HOST.xplane.pb`, for TensorBoard's Profile plugin and xprof (`tensorboard --logdir logs`);
    `logs/headrace-RUN.perfetto-trace`, for ui.perfetto.dev;
    `logs/headrace-RUN.json`, Chrome's events, for merge_trace().

    Args:
        folder: made when it is not there.

    Attributes:
        files: the paths of these, in this order; [] before the end, and when no pipeline ran.
        steps: batches that consumers got; the last 131,072 spans are kept, which are some thousand batches.

    Raises:
        ValueError: on entering it: somebody records already. One recording at a time in a process.
    """

    def __init__(self, folder):
        self._folder = os.fsdecode(arguments.path("folder", folder))
        self.files = []
        self.steps = 0

    def __enter__(self):
        _core.start_trace()
        return self

    def __exit__(self, *_):
        host = socket.gethostname() or "localhost"
        xspace, perfetto, chrome, self.steps = _core.stop_trace(host.encode())
        if not xspace:
            return
        run, run_folder = self._new_run()
        contents = {
            os.path.join(run_folder, f"{host}.xplane.pb"): xspace,
            os.path.join(self._folder, f"headrace-{run}.perfetto-trace"): perfetto,
            os.path.join(self._folder, f"headrace-{run}.json"): chrome,
        }
        for path, content in contents.items():
            with open(path, "wb") as file:
                file.write(content)
        self.files = list(contents)

    def _new_run(self):
        """A name and a folder that no run has had: the plugin keeps what it computed beside the file."""
        profiles = os.path.join(self._folder, "plugins", "profile")
        os.makedirs(profiles, exist_ok=True)
        started = time.strftime("%Y_%m_%d_%H_%M_%S")
        for attempt in range(1000):
            run = f"{started}_{attempt}" if attempt else started
            try:
                os.mkdir(os.path.join(profiles, run))
                return run, os.path.join(profiles, run)
            except FileExistsError:
                continue
        raise FileExistsError(f"{profiles} has no place for another run of {started}")


def merge_trace(torch_trace, headrace_trace, merged):
    """Writes a trace of PyTorch's profiler with what headrace did at the same time: its stages, and the waits of the loop.

    Args:
        torch_trace: the JSON file of torch.profiler's export_chrome_trace().
        headrace_trace: the JSON file of trace(), recorded in the same process, around or within the profiler's.
        merged: the file to write.

    Returns:
        The number of events that were added.

    Raises:
        ValueError: naming the file that is no such trace.
    """
    ours = _read(headrace_trace)["traceEvents"]
    theirs = _read(torch_trace)
    # PyTorch counts from a moment that it names, in microseconds; older ones from 1970.
    base = int(theirs.get("baseTimeNanoseconds", 0)) / 1000
    theirs["traceEvents"] = [*theirs["traceEvents"], *({**event, "ts": event["ts"] - base} for event in ours)]
    with open(merged, "w", encoding="utf-8") as file:
        json.dump(theirs, file)
    return len(ours)


def _read(path):
    with open(path, encoding="utf-8") as file:
        try:
            trace = json.load(file)
        except ValueError as error:
            raise ArgumentError(f"{os.fspath(path)}: is no JSON: {error}") from error
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise ArgumentError(f"{os.fspath(path)}: has no list of traceEvents")
    return trace
