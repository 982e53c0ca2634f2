"""Builds and runs libjpeg_loop.cc: what libjpeg-turbo alone does with the same files and windows."""

import struct
import subprocess
import tempfile
from pathlib import Path

import headrace as hr
from benchmarks.decode_images import crops
from benchmarks.harness import window
from benchmarks.parse_examples import serialized
from benchmarks.workloads import compiled

_SOURCE = Path(__file__).with_name("libjpeg_loop.cc")


def measure(workload, shards, options, seconds):
    """Figures as window.measure gives them; nothing is delivered, so touched is the same."""
    records = [record for batch in serialized.batches(shards, 2) for record in batch]
    images = hr.parse_example(records, {"image": hr.FixedLenFeature([], hr.string)})["image"].numpy()
    program = compiled.program(_SOURCE, [["-ljpeg"]])
    with tempfile.NamedTemporaryFile() as file:
        for image in images:
            file.write(struct.pack("<I", len(image)) + image)
        file.flush()
        arguments = [seconds, window.WARM_UP_S, crops.CROPS[options["crop"]], crops.SIZE, file.name]
        output = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout.split()
    count, wall_s, cpu_s = int(output[0]), float(output[1]), float(output[2])
    figures = {
        "records": count,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "records_per_cpu_s": count / cpu_s,
        "records_per_s": count / wall_s,
        "foreign_share": 0.0,
    }
    return {"delivered": figures, "touched": figures}
