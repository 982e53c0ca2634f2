"""Runs the C++ loops that stand beside the contenders."""

import contextlib
import struct
import subprocess
import tempfile

from benchmarks.workloads import compiled


@contextlib.contextmanager
def file_of(items):
    """Path of a temporary file: each of the byte strings behind its length, a uint32."""
    with tempfile.NamedTemporaryFile() as file:
        for item in items:
            file.write(struct.pack("<I", len(item)) + item)
        file.flush()
        yield file.name


def run(source, arguments, choices=([],)):
    """The figures of window.measure for every `records wall_s cpu_s` that the program of `source` prints; what else stands
    behind them does not count. `choices`: see compiled.program."""
    program = compiled.program(source, choices)
    output = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout.split()
    return [_figures(int(output[i]), float(output[i + 1]), float(output[i + 2])) for i in range(0, len(output) - 2, 3)]


def delivers_nothing(figures):
    """As window.measure, of a loop that delivers nothing: touched is the same."""
    return {"delivered": figures, "touched": figures}


def _figures(records, wall_s, cpu_s):
    return {
        "records": records,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "records_per_cpu_s": records / cpu_s,
        "records_per_s": records / wall_s,
        "foreign_share": 0.0,
    }
