"""Runs the C++ loops of this folder on the records that the parsers get, written to a file."""

import contextlib
import struct
import subprocess
import tempfile

from benchmarks.parse_examples import serialized
from benchmarks.workloads import compiled


@contextlib.contextmanager
def record_file(shards, batches):
    """Path of a temporary file: each record behind its length, a uint32."""
    with tempfile.NamedTemporaryFile() as file:
        for batch in serialized.batches(shards, batches):
            for record in batch:
                file.write(struct.pack("<I", len(record)) + record)
        file.flush()
        yield file.name


def run(source, arguments):
    """Figures as window.measure gives them; nothing is delivered, so touched is the same."""
    program = compiled.program(source, [[]])
    output = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout.split()
    records, wall_s, cpu_s = int(output[0]), float(output[1]), float(output[2])
    figures = {
        "records": records,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "records_per_cpu_s": records / cpu_s,
        "records_per_s": records / wall_s,
        "foreign_share": 0.0,
    }
    return {"delivered": figures, "touched": figures}
