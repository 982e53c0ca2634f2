"""headrace over many epochs of a few shards: the time of each next(), sorted by whether an edge is near."""

import time

import numpy as np

import headrace as hr
from benchmarks.shuffle_quality.headrace_order import ordered
from benchmarks.workloads import in_headrace

NEAR = 50  # batches on each side of an edge
EPOCH = 400  # batches of one, so that three quarters of them are elsewhere
EDGES = {"tiny": 3, "quick": 40, "full": 100}
KEPT = 1.5  # times as long as a batch takes to be made
MOST_RECORDS = 256 * EPOCH


def measure(workload, shards, options, seconds):
    """Percentiles of next(), in microseconds. An epoch is 400 batches, however many records that makes each; `seconds` is not
    looked at, since the number of edges decides what the percentiles are worth."""
    records = min(MOST_RECORDS, hr.TFRecordDataset(shards).cardinality(scan=True)) // EPOCH * EPOCH
    batches = _records(shards, records, options["way"]).repeat().batch(records // EPOCH)
    batches = batches.parse(in_headrace.features(workload))
    kept_s = KEPT * _seconds_a_batch(batches)
    batches.set_epoch(0)
    edges = EDGES[options["scale"]]
    near, far = [], []
    with iter(batches) as pipeline:
        for number in range((edges + 1) * EPOCH + NEAR):
            begin = time.perf_counter()
            batch = next(pipeline)
            took = time.perf_counter() - begin
            assert batch.epoch == number // EPOCH
            place = number % EPOCH
            if number >= EPOCH - NEAR:
                (near if place < NEAR or place >= EPOCH - NEAR else far).append(took)
            time.sleep(kept_s)
    return {
        "edges": edges + 1,
        "kept_us": kept_s * 1e6,
        "edge_p50_us": _percentile(near, 50),
        "edge_p99_us": _percentile(near, 99),
        "elsewhere_p50_us": _percentile(far, 50),
        "elsewhere_p99_us": _percentile(far, 99),
    }


def _records(shards, count, way):
    if way.startswith("shuffle"):
        return hr.TFRecordDataset(shards).interleave(16, 16).take(count).shuffle(int(way.split()[1]), seed=1)
    return ordered(hr.TFRecordDataset(shards).take(count), way)


def _seconds_a_batch(batches):
    with iter(batches) as pipeline:
        for _ in range(EPOCH // 2):
            next(pipeline)
        begin = time.perf_counter()
        for _ in range(EPOCH):
            next(pipeline)
        return (time.perf_counter() - begin) / EPOCH


def _percentile(times_s, percent):
    return float(np.percentile(times_s, percent)) * 1e6
