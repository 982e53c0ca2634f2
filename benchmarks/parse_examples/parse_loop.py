"""Builds and runs parse_loop.cc: what one core can do when it trusts its records. TensorProtos and raw bytes stay bytes."""

from pathlib import Path

from benchmarks.harness import window
from benchmarks.parse_examples import loops

_SOURCE = Path(__file__).with_name("parse_loop.cc")


def measure(workload, shards, options, seconds):
    with loops.record_file(shards, options["batches"]) as path:
        return loops.run(_SOURCE, [seconds, window.WARM_UP_S, path, *workload.features])
