"""Readers that others make, each in an environment of its own beside the data sets, installed when it is asked for.

They are measured in pairs with headrace, so that one that cannot be installed, cannot do a workload or delivers other records
costs nothing but its row, which says why.
"""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC, ChildFailed
from benchmarks.workloads import store
from benchmarks.workloads.catalog import WORKLOADS

HEADER = ("workload", "reader", "its k rec/CPU-s", "headrace", "ratio, touched", "ratio, delivered", "")
_REASON_CHARACTERS = 160


@dataclasses.dataclass(frozen=True)
class Package:
    """requirements: what pip installs; check: a statement that needs it all, and prints its version."""

    name: str
    requirements: tuple[str, ...]
    check: str


DALI = Package(
    "nvidia-dali",
    ("nvidia-dali-cuda120", "numpy"),
    "import nvidia.dali as d, nvidia.dali.fn, nvidia.dali.tfrecord; print(d.__version__)",
)
TFX_BSL = Package("tfx-bsl", ("tfx-bsl",), "import tfx_bsl.version, tfx_bsl.coders.example_coder; print(tfx_bsl.version.__version__)")
TFRECORD = Package(
    "tfrecord",
    ("tfrecord", "numpy", "protobuf<4", "torch"),  # it needs an old protobuf, and torch, without asking for them
    "import importlib.metadata, tfrecord; print(importlib.metadata.version('tfrecord'))",
)


@dataclasses.dataclass(frozen=True)
class Reader:
    """One of them for one question. `module` is a file of the question's folder, "" when it has no way to do it at all;
    `cannot(workload)` says why not, "" when it can."""

    package: Package
    module: str
    cannot: Callable
    options: dict = dataclasses.field(default_factory=dict)


def environment(package, say):
    """(path of its interpreter, version), made on the first call; ("", reason) when it cannot be had."""
    folder = store.CACHE / "venv-contenders" / package.name
    stamp = folder / "installed.json"
    if not stamp.exists():
        say(f"{package.name}: making its environment")
        folder.mkdir(parents=True, exist_ok=True)
        stamp.write_text(json.dumps(_install(package, folder)))
    return json.loads(stamp.read_text())


def _install(package, folder):
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary"]
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [*pip, *package.requirements],
        [python, "-c", package.check],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return "", _last_line(done.stderr or done.stdout) or f"{command[1:3]} failed"
    return python, done.stdout.split()[-1]


def table(plan, question, names, ours, readers):
    """A (title, markdown) of all readers on these workloads; `ours(workload)` is the Contender that they are paired with."""
    rows = []
    for reader in readers:
        python, version = environment(reader.package, plan.say) if reader.module else ("", "")
        for name in names:
            label = f"{reader.package.name} {version}" if python else reader.package.name
            reason = reader.cannot(WORKLOADS[name]) or ("" if python else f"not installed: {version}")
            rows.append((name, label, *(_row(plan, question, name, ours, reader, python) if not reason else _blank(reason))))
    return "Other readers, in pairs with headrace", tables.markdown(HEADER, sorted(rows, key=lambda row: names.index(row[0])))


def _blank(reason):
    return "", "", "", "", reason


def _row(plan, question, name, ours, reader, python):
    own = ours(WORKLOADS[name])
    options = {**own.options, **reader.options}
    theirs = Contender("other", reader.package.name, reader.module, options, TUNED_MALLOC, python=python)
    try:
        groups = plan.compare(question, name, plan.prepare(name), [own, theirs])
    except comparison.AnswersDiffer:
        return _blank("not timed: it delivers other records")
    except ChildFailed as failure:
        return _blank(f"failed: {_last_line(str(failure))}")
    ours_group, other = groups[own.group], groups["other"]
    return (
        tables.thousands(other.median("touched")),
        tables.thousands(ours_group.median("touched")),
        tables.ratio_text(comparison.ratio(ours_group, other, "touched")),
        tables.ratio_text(comparison.ratio(ours_group, other, "delivered")),
        "",
    )


def _last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:_REASON_CHARACTERS].replace("|", "/") if lines else ""
