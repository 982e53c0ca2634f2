"""Builds and runs reference_loop.cc: what one core can do when it only reads, checks and copies."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from benchmarks.harness import window
from benchmarks.harness.processes import ChildFailed
from benchmarks.workloads import store

_SOURCE = Path(__file__).with_name("reference_loop.cc")
_FLAGS = ["-std=c++20", "-O3", "-march=native", "-Wall", "-Wextra"]


def _compile(extra):
    key = hashlib.sha256(_SOURCE.read_bytes() + " ".join(_FLAGS + extra).encode()).hexdigest()[:12]
    program = store.CACHE / f"reference_loop-{key}"
    if not program.exists():
        store.CACHE.mkdir(parents=True, exist_ok=True)
        part = program.with_suffix(".part")
        compiler = shutil.which("g++") or "c++"
        done = subprocess.run(
            [compiler, *_FLAGS, str(_SOURCE), "-o", str(part), *extra], capture_output=True, text=True
        )
        if done.returncode != 0:
            return None, done.stderr
        part.replace(program)
    return program, ""


def build():
    """The program; with ISA-L's checksum where that library is installed."""
    for extra in (["-DWITH_ISAL", "-lisal"], []):
        program, error = _compile(extra)
        if program:
            return program
    raise ChildFailed(f"the reference loop does not compile\n{error}")


def measure(workload, shards, options, seconds):
    """Figures as window.measure gives them. Reading the arena again is cheap next to the rest and is not subtracted."""
    output = subprocess.run(
        [str(build()), str(seconds), str(window.WARM_UP_S), *shards], check=True, capture_output=True, text=True
    ).stdout.split()
    result = {}
    for which, start in (("delivered", 0), ("touched", 3)):
        records, wall_s, cpu_s = int(output[start]), float(output[start + 1]), float(output[start + 2])
        result[which] = {
            "records": records,
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "records_per_cpu_s": records / cpu_s,
            "records_per_s": records / wall_s,
            "foreign_share": 0.0,
        }
    return result
