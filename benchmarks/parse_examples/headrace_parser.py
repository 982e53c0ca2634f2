"""headrace.parse_example on lists of bytes."""

import itertools

import headrace as hr
from benchmarks.parse_examples import serialized
from benchmarks.workloads import in_headrace


def open(workload, shards, options):
    batches = serialized.batches(shards, options["batches"])
    features = in_headrace.features(workload)
    source = itertools.cycle(batches) if options["repeat"] else batches
    return (hr.parse_example(batch, features) for batch in source), in_headrace.columns
