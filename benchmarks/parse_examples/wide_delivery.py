"""What a batch of 1024 wide records (400 sparse keys, 11,000 floats) costs the thread that takes it: next() and the first
access of every column, with the batch ready. The keys are one Jagged column, as an embedding table takes them."""

import time

import headrace as hr
from benchmarks.feed_devices.latency import percentiles
from benchmarks.workloads.catalog import WIDE_KEYS

_BATCH = 1024
_LEAST = 8


def pipeline(shards):
    features = {
        "values": hr.FixedLenFeature([11000], hr.float32),
        "label": hr.FixedLenFeature([], hr.int64),
        "sparse": hr.Jagged(WIDE_KEYS),
    }
    return hr.TFRecordDataset(shards).interleave(cycle_length=4).repeat().batch(_BATCH).parse(features)


def access(batch):
    """The arrays of every column: what a training step is handed."""
    sparse = batch["sparse"]
    return batch["values"].numpy(), batch["label"].numpy(), sparse.values.numpy(), sparse.offsets.numpy(), sparse.lengths.numpy()


def measure(workload, shards, options, seconds):
    """{"p50_us", "p99_us", "count"}. The pause before each batch is twice what making one took at the start."""
    with iter(pipeline(shards)) as batches:
        start = time.perf_counter()
        for _ in range(3):
            access(next(batches))
        pause_s = 2 * (time.perf_counter() - start) / 3
        times, end = [], time.perf_counter() + seconds
        while len(times) < _LEAST or time.perf_counter() < end:
            time.sleep(pause_s)
            start = time.perf_counter()
            access(next(batches))
            times.append(time.perf_counter() - start)
    return percentiles(times)
