"""headrace feeding host devices: latency of next(), and the rate with one or more replicas, threads, either order."""

import headrace as hr
from benchmarks.feed_devices import latency
from benchmarks.harness import window
from benchmarks.harness.columns import Ragged
from benchmarks.workloads import in_headrace

_DEPTH = 48
_BURST = 32


def open(workload, shards, options):
    dataset = hr.TFRecordDataset(
        shards, deterministic=options.get("deterministic", True), num_threads=options.get("num_threads")
    ).interleave(cycle_length=16, block_length=16)
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.shuffle(2000, seed=1).batch(options.get("batch", 256), drop_remainder=options["repeat"])
    dataset = dataset.parse(in_headrace.features(workload))
    devices = [f"/CPU:{i}" for i in range(options.get("replicas", 1))]
    return iter(dataset.prefetch_to_device(devices, depth=options.get("depth", 2))), _columns


def _columns(batch):
    """The columns of all replicas, named by replica."""
    return {f"{i}/{name}": in_headrace.column(part[name]) for i, part in enumerate(batch.replicas) for name in part}


def _access(batch):
    for part in batch.replicas:
        for name in part:
            part[name].numpy()


def _rows(columns):
    """Rows of the global batch: those of one column, over all replicas."""
    first = next(iter(columns)).split("/", 1)[1]
    parts = (column for name, column in columns.items() if name.split("/", 1)[1] == first)
    return sum(len(part.row_splits) - 1 if isinstance(part, Ragged) else len(part) for part in parts)


def measure(workload, shards, options, seconds):
    if not options.get("latency"):
        batches, columns_of = open(workload, shards, {**options, "repeat": True})
        return window.measure(batches, columns_of, seconds, rows_of=_rows)
    batches, _ = open(workload, shards, {**options, "repeat": True, "depth": _DEPTH})
    latency.sample(batches, _access, window.WARM_UP_S, _BURST, 0.1)
    return latency.sample(batches, _access, seconds, _BURST, 0.1)
