"""Records per second of one epoch, records alone, whose shards are not in the system's cache."""

import os
import time

import headrace as hr
from benchmarks.shuffle_quality.headrace_order import ordered


def forget(paths):
    """Drops the pages of these files from the system's cache."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(workload, shards, options, seconds):
    records = ordered(hr.TFRecordDataset(shards), options["way"])
    records.cardinality(scan=True)  # makes the indexes
    forget(shards)
    begin, count = time.perf_counter(), 0
    for batch in records.batch(256):
        count += len(batch)
    return {"records_per_s": count / (time.perf_counter() - begin)}
