"""headrace reading in list order: records alone (batches of 256 as one bytes column), or parsed."""

import headrace as hr
from benchmarks.workloads import in_headrace


def open(workload, shards, options):
    shards = shards[: options.get("shards", len(shards))]
    dataset = hr.TFRecordDataset(shards, verify=options.get("verify", "full"), num_threads=options.get("num_threads"))
    if options.get("cycle"):
        dataset = dataset.interleave(cycle_length=options["cycle"], block_length=16)
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.batch(options.get("batch", 256), drop_remainder=options["repeat"])
    if options["parse"]:
        return iter(dataset.parse(in_headrace.features(workload))), in_headrace.columns
    return iter(dataset), lambda batch: {"record": in_headrace.column(batch)}
