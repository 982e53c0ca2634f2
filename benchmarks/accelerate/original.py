"""The program as it is."""

from benchmarks.accelerate import program


def open(workload, shards, options):
    flips = options["flips"] and options["repeat"]
    return iter(program.program(shards, options["repeat"], flips)), program.columns
