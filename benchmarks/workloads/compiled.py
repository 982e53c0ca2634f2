"""Small C++ programs that stand beside the contenders, compiled once for this machine and kept with the data sets."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from benchmarks.harness.processes import ChildFailed
from benchmarks.workloads import store

_FLAGS = ["-std=c++20", "-O3", "-march=native", "-Wall", "-Wextra"]
_ROOT = Path(__file__).resolve().parents[2]
_HEADERS = sorted((_ROOT / "benchmarks" / "harness").glob("*.h"))


def program(source, choices):
    """Path of the program made of `source` with the first list of `choices`, of more arguments, that compiles."""
    for extra in choices:
        path, error = _compile(source, extra)
        if path:
            return str(path)
    raise ChildFailed(f"{source.name} does not compile\n{error}")


def _compile(source, extra):
    sources = [Path(argument) for argument in extra if argument.endswith(".cc")]
    code = b"".join(path.read_bytes() for path in [source, *sources, *_HEADERS])
    key = hashlib.sha256(code + " ".join(_FLAGS + extra).encode()).hexdigest()[:12]
    path = store.CACHE / f"{source.stem}-{key}"
    if not path.exists():
        store.CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        compiler = shutil.which("g++") or "c++"
        done = subprocess.run(
            [compiler, *_FLAGS, f"-I{_ROOT}", str(source), "-o", str(part), *extra], capture_output=True, text=True
        )
        if done.returncode != 0:
            return None, done.stderr
        part.replace(path)
    return path, ""
