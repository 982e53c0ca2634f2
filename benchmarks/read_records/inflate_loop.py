"""Builds and runs inflate_loop.cc: what inflating costs, by format and library."""

import subprocess
from pathlib import Path

from benchmarks.harness import tables
from benchmarks.harness.processes import ChildFailed
from benchmarks.workloads import compiled

_SOURCE = Path(__file__).with_name("inflate_loop.cc")
_LIBRARIES = ["-lisal", "-ldeflate", "-lsnappy", "-lz", "-lzstd"]
HEADER = ("data", "format", "library", "ratio", "MB of output / CPU-s", "")
# What headrace reads each format with.
_OURS = {("gzip", "ISA-L"), ("zlib", "ISA-L"), ("zstd", "libzstd"), ("snappy", "libsnappy")}


def run(plan, names):
    """(rows, json) for plain workloads; no rows where a library of the comparison is not installed."""
    rows, numbers = [], {}
    for name in plan.pick(names):
        try:
            program = compiled.program(_SOURCE, [_LIBRARIES])
        except ChildFailed as failure:
            plan.say(f"no table of inflaters: {str(failure).splitlines()[-1]}")
            break
        plan.say(f"{name}: inflaters")
        done = subprocess.run(
            [program, str(plan.seconds / 2), *plan.prepare(name)], check=True, capture_output=True, text=True
        )
        numbers[name] = lines = [line.split() for line in done.stdout.splitlines()]
        for format_, library, compressed, whole, cpu_s in lines:
            ours = "headrace's" if (format_, library) in _OURS else ""
            speed = f"{int(whole) / float(cpu_s) / 1e6:,.0f}"
            rows.append((name, format_, library, f"{int(whole) / int(compressed):.2f}", speed, ours))
    return rows, numbers


def table(rows):
    return tables.markdown(HEADER, rows)
