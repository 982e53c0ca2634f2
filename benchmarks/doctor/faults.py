"""Pipelines with one fault planted in each, and healthy ones. What must be named first is told beside each."""

import dataclasses
import os
import time
from typing import Any

import headrace as hr
from benchmarks.workloads import in_headrace

BATCH = 256
# Of a fault in how shards are read: several of them are right answers, whichever gains most on the machine.
_READING = frozenset({"compressed shards", "few shards", "sequential reads"})


@dataclasses.dataclass(frozen=True)
class Case:
    """`expected` are the names that may stand first, none for a healthy pipeline. `step_time` in seconds, or None."""

    name: str
    dataset: Any
    expected: frozenset
    step_time: float | None = None
    replicas: int = 1


class SlowFiles:
    """For open=: every read takes `seconds` longer, as from another host."""

    def __init__(self, seconds):
        self._seconds = seconds

    def __call__(self, path):
        return _SlowFile(path, self._seconds)


class _SlowFile:
    def __init__(self, path, seconds):
        self._file = open(path, "rb")
        self._seconds = seconds
        self.seek, self.tell, self.close = self._file.seek, self._file.tell, self._file.close

    def read(self, size):
        time.sleep(self._seconds)
        return self._file.read(size)


def _sleeps(seconds):
    def function(batch):
        time.sleep(seconds)
        return batch

    return function


def _computes(seconds):
    def function(batch):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        return batch

    return function


def _rewritten(shards, folder, compression, name):
    """The shards in another compression, below `folder`."""
    own = os.path.join(folder, name)
    os.makedirs(own, exist_ok=True)
    targets = [os.path.join(own, os.path.basename(shard)) for shard in shards]
    for shard, target in zip(shards, targets):
        if not os.path.exists(target):
            hr.repair_file(shard, target, compression=compression)
    return targets


def _joined(shards, target, compression):
    """All records in one shard."""
    with hr.TFRecordWriter(target, compression=compression) as writer:
        for shard in shards:
            for record in hr.open_records(shard):
                writer.write(record)
    return [target]


def faulty(workload, shards, folder):
    """The cases with a fault, one after another; files that they need are made below `folder`."""
    features = in_headrace.features(workload)
    small = {name: features[name] for name in list(features)[-1:]}

    def whole(files, cycle=16, batch=BATCH, shuffle=1000, specs=features, **options):
        dataset = hr.TFRecordDataset(files, **options)
        if cycle > 1:
            dataset = dataset.interleave(cycle, 16)
        return dataset.repeat().shuffle(shuffle, seed=1).batch(batch, drop_remainder=True).parse(specs)

    def case(name, dataset, *expected, **options):
        return Case(f"{workload.name}: {name}", dataset, frozenset(expected), **options)

    for compression in ("gzip", "zlib"):
        files = _rewritten(shards, folder, compression, compression)
        yield case(compression, whole(files), "compressed shards")
    gzip = _rewritten(shards, folder, "gzip", "gzip")
    yield case("gzip, one thread", whole(gzip, num_threads=1), "compressed shards", "few threads")
    one = _joined(shards, os.path.join(folder, "one.tfrecord"), "gzip")
    yield case("one gzip shard", whole(one), *_READING)
    two = _joined(shards, os.path.join(folder, "two.tfrecord"), "gzip")
    yield case("gzip shards one after another", whole(one + two, cycle=1), *_READING)
    yield case("one thread", whole(shards, num_threads=1), "few threads")
    for milliseconds in (10, 40):
        yield case(f"function that waits {milliseconds} ms", whole(shards).map(_sleeps(milliseconds * 1e-3)), "Python function")
    yield case("function that computes 20 ms", whole(shards).map(_computes(20e-3)), "Python function")
    limited = whole(shards).map(_sleeps(20e-3))
    yield case("function slower than the step", limited, "Python function", step_time=10e-3)
    for milliseconds in (20, 60):
        dataset = whole(shards, open=SlowFiles(milliseconds * 1e-3))
        yield case(f"reads that take {milliseconds} ms", dataset, "slow storage")
    unread = whole(shards, specs=small, open=SlowFiles(20e-3))
    yield case("most features unread, slow reads", unread, "slow storage", "unread features")
    yield case("batch of 250 on 4 replicas", whole(shards, batch=250), "uneven batch", step_time=60.0, replicas=4)
    yield case("small shuffle", whole(shards, cycle=1, shuffle=20), "small shuffle", step_time=60.0)


def healthy(workload, shards):
    """The cases without one: the training steps take far longer than the input."""
    features = in_headrace.features(workload)
    source = hr.TFRecordDataset(shards).interleave(16, 16).repeat()
    for batch, replicas in ((64, 1), (256, 4), (1024, 8)):
        dataset = source.shuffle(1000, seed=1).batch(batch, drop_remainder=True).parse(features)
        dataset = dataset.prefetch_to_device([f"/CPU:{number}" for number in range(replicas)])
        yield Case(f"{workload.name}: batch {batch}", dataset, frozenset(), 20.0, replicas)
    plain = hr.TFRecordDataset(shards).repeat().shuffle("global", seed=1).batch(256, drop_remainder=True).parse(features)
    yield Case(f"{workload.name}: global shuffle", plain, frozenset(), 20.0)
    mapped = source.shuffle(1000).batch(256, drop_remainder=True).parse(features).map(lambda batch: batch, name="same")
    yield Case(f"{workload.name}: quick function", mapped, frozenset(), 20.0)
