"""Builds and runs reference_loop.cc: what one core can do when it only reads, checks and copies."""

import subprocess
from pathlib import Path

from benchmarks.harness import window
from benchmarks.workloads import compiled

_SOURCE = Path(__file__).with_name("reference_loop.cc")


def measure(workload, shards, options, seconds):
    """Figures as window.measure gives them. Reading the arena again is cheap next to the rest and is not subtracted."""
    program = compiled.program(_SOURCE, [["-DWITH_ISAL", "-lisal"], []])
    output = subprocess.run(
        [program, str(seconds), str(window.WARM_UP_S), *shards], check=True, capture_output=True, text=True
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
