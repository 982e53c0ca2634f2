"""The program and one line more."""

import headrace.tensorflow
from benchmarks.accelerate import program


def open(workload, shards, options):
    flips = options["flips"] and options["repeat"]
    dataset = program.program(shards, options["repeat"], flips)
    return iter(headrace.tensorflow.accelerate(dataset, strict=True)), program.columns
