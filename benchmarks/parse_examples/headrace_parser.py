"""headrace.parse_example on lists of bytes. options["as"]: the features of that workload instead, on the same records."""

import itertools

import headrace as hr
from benchmarks.parse_examples import serialized
from benchmarks.workloads import in_headrace
from benchmarks.workloads.catalog import WORKLOADS


def open(workload, shards, options):
    batches = serialized.batches(shards, options["batches"])
    features = in_headrace.features(WORKLOADS[options["as"]] if "as" in options else workload)
    source = itertools.cycle(batches) if options["repeat"] else batches
    return (hr.parse_example(batch, features) for batch in source), in_headrace.columns
