"""The whole pipeline in headrace: interleave, repeat, shuffle, batch, parse."""

import headrace as hr
from benchmarks.workloads import in_headrace


def open(workload, shards, options):
    dataset = hr.TFRecordDataset(
        shards, deterministic=options.get("deterministic", True), num_threads=options.get("num_threads")
    ).interleave(cycle_length=16, block_length=16)
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.shuffle(2000, seed=1).batch(options.get("batch", 256), drop_remainder=options["repeat"])
    dataset = dataset.parse(in_headrace.features(workload))
    return iter(dataset), in_headrace.columns
