"""headrace reading the shards below a URL, or as they lie when there is none; 16 of them at once, or one after another."""

from pathlib import Path

import headrace as hr
from benchmarks.workloads import in_headrace

COPIES = 64


def open(workload, shards, options):
    base = options["url"]
    files = [f"{base}/{Path(shard).name}" for shard in shards] if base else shards
    # An epoch of many seconds: what its start costs is not asked here.
    dataset = hr.TFRecordDataset(files * (COPIES if options["repeat"] else 1))
    if options["cycle"] > 1:
        dataset = dataset.interleave(options["cycle"], 16)
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.batch(64, drop_remainder=options["repeat"])
    return iter(dataset), lambda batch: {"record": in_headrace.column(batch)}
