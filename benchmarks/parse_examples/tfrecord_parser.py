"""The tfrecord package of PyPI: Python's protobuf reads each Example, NumPy stacks the batch."""

import itertools

from tfrecord import example_pb2
from tfrecord.reader import extract_feature_dict

from benchmarks.parse_examples import serialized
from benchmarks.workloads import in_tfrecord


def open(workload, shards, options):
    batches = serialized.batches(shards, options["batches"])
    wanted = in_tfrecord.description(workload)
    source = itertools.cycle(batches) if options["repeat"] else batches
    parsed = ([_parsed(record, wanted) for record in batch] for batch in source)
    return parsed, lambda batch: in_tfrecord.columns(workload, batch)


def _parsed(record, wanted):
    example = example_pb2.Example()
    example.ParseFromString(record)
    return extract_feature_dict(example.features, wanted, in_tfrecord.LISTS)
