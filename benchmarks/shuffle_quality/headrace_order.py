"""headrace in an order of choice: `way` is "in order", "global", "window N" (MiB), or "shuffle B"."""

import headrace as hr
from benchmarks.workloads import in_headrace


def ordered(dataset, way, cycle=16, seed=1):
    """The records of a dataset in the order that `way` names."""
    name, _, number = way.partition(" ")
    if name == "window":
        return dataset.shuffle("global", seed=seed, window_bytes=int(float(number) * 2**20))
    if name == "shuffle":
        return dataset.interleave(cycle, 16).shuffle(int(number), seed=seed)
    return dataset.shuffle("global", seed=seed) if name == "global" else dataset


def open(workload, shards, options):
    dataset = ordered(hr.TFRecordDataset(shards), options["way"])
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.batch(256, drop_remainder=options["repeat"])
    return iter(dataset.parse(in_headrace.features(workload))), in_headrace.columns
