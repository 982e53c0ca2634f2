"""ImageFeature: of serialized Examples in memory on one thread, or in a pipeline from shards."""

import itertools

import headrace as hr
from benchmarks.decode_images import crops
from benchmarks.parse_examples import serialized
from benchmarks.workloads import in_headrace


def features(crop):
    central = hr.CentralCrop(crops.CROPS[crop])
    return {
        "image": hr.ImageFeature(crops.SIZE, crops.SIZE, crop=central),
        "label": hr.FixedLenFeature([], hr.int64),
    }


def open(workload, shards, options):
    if options["from"] == "memory":
        records = serialized.records(shards, 2)
        batches = [records[i : i + crops.BATCH] for i in range(0, len(records), crops.BATCH)]
        specs = features(options["crop"])
        return (hr.parse_example(batch, specs) for batch in itertools.cycle(batches)), in_headrace.columns
    dataset = hr.TFRecordDataset(shards).repeat().batch(crops.BATCH, drop_remainder=True)
    return iter(dataset.parse(features(options["crop"]))), in_headrace.columns
