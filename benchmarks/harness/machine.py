"""Where and when figures were taken: processor, memory, versions, date, commit. Read once a run, printed with every
table."""

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _first(path, prefix):
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith(prefix):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _tensorflow_version():
    return _version("tensorflow-cpu") or _version("tensorflow")


def commit():
    """Short commit id of the checkout, "+" behind it when tracked files differ; "unknown" outside git."""
    try:
        head = subprocess.run(
            ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        return head + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def describe():
    """{"machine": {...}, "date": ISO 8601 in UTC, "commit": ...}."""
    memory_kb = _first("/proc/meminfo", "MemTotal").split()[0]
    machine = {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(int(memory_kb) / 1e6, 1) if memory_kb.isdigit() else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "tensorflow": _tensorflow_version(),
    }
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    return {"machine": machine, "date": now.isoformat(), "commit": commit()}


def one_line(description):
    machine = description["machine"]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB",
        f"TensorFlow {machine['tensorflow'] or 'not installed'}",
        f"Python {machine['python']}",
        description["date"],
        f"commit {description['commit']}",
    ]
    return "; ".join(parts)
