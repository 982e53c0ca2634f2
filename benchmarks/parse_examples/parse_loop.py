"""Builds and runs parse_loop.cc: what one core can do when it trusts its records. TensorProtos and raw bytes stay bytes."""

from pathlib import Path

from benchmarks.harness import loops, window
from benchmarks.parse_examples import serialized

_SOURCE = Path(__file__).with_name("parse_loop.cc")


def measure(workload, shards, options, seconds):
    with loops.file_of(serialized.records(shards, options["batches"])) as path:
        (figures,) = loops.run(_SOURCE, [seconds, window.WARM_UP_S, path, *workload.features])
    return loops.delivers_nothing(figures)
