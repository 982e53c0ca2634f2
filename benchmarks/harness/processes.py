"""Contenders run in processes of their own: a module with a `main(arguments, emit)` style entry, started with JSON.

The child gets one JSON object as its argument and answers with lines on standard output: `{"progress": ...}` any
number of times, `{"result": ...}` once. Everything else it prints is kept and shown only when it fails.
"""

import collections
import json
import os
import subprocess
import sys

from benchmarks.harness.machine import ROOT

_MARK = "@@ "

# glibc gives large blocks back to the kernel by default, so that every batch pays page faults for fresh memory. A fair
# tf.data gets both thresholds raised (32 MiB is the largest mmap threshold that glibc takes).
TUNED_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
    "MALLOC_TOP_PAD_": str(64 << 20),
}


class ChildFailed(RuntimeError):
    """A contender ended without a result; the text holds the end of what it printed."""


def emit(kind, value):
    """In the child: one message to the parent."""
    sys.stdout.write(f"{_MARK}{json.dumps({kind: value})}\n")
    sys.stdout.flush()


def arguments():
    """In the child: what the parent asked for."""
    return json.loads(sys.argv[1])


def run(module, request, environment=None, on_progress=None, niceness=0, python=""):
    """Starts `python -m module` (this interpreter unless `python` names one), waits, and returns its result. `on_progress` is called with each progress value."""
    settings = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONUNBUFFERED": "1",
        **(environment or {}),
    }
    command = [python or sys.executable, "-m", module, json.dumps(request)]
    if niceness:
        command = ["nice", "-n", str(niceness), *command]
    tail = collections.deque(maxlen=40)
    result = None
    child = subprocess.Popen(
        command,
        cwd=ROOT,
        env=settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with child:
        try:
            for line in child.stdout:
                if not line.startswith(_MARK):
                    tail.append(line.rstrip())
                    continue
                message = json.loads(line[len(_MARK) :])
                if "result" in message:
                    result = message["result"]
                elif on_progress:
                    on_progress(message["progress"])
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0 or result is None:
        raise ChildFailed(f"{module} {request} ended with status {child.returncode}\n" + "\n".join(tail))
    return result
