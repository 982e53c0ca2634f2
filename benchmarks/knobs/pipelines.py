"""Twelve pipelines that are limited by different things: the CPUs, the storage, a tail of slow reads or records, or two of them.

The storage is emulated: a read of up to a block takes the time that is said here, on top of the page cache's.
"""

import dataclasses
import random
import time

import headrace as hr
from benchmarks.workloads import in_headrace

BATCH = 256


@dataclasses.dataclass(frozen=True)
class Storage:
    """What a read takes.

    Attributes:
        read_s: seconds of each.
        spread: sigma of a lognormal factor on them, of mean 1; 1.27 is a coefficient of variation of 2.
        slow_file: the one file in so many whose reads take ten times as long; 0: none.
    """

    read_s: float
    spread: float = 0.0
    slow_file: int = 0


@dataclasses.dataclass(frozen=True)
class Case:
    limit: str
    workload: str
    storage: Storage | None = None
    cycle: int = 16
    batch: int = BATCH


CASES = {
    "ids": Case("CPU", "ctr"),
    "lists": Case("CPU", "ragged"),
    "tensors": Case("CPU", "tensorproto", batch=64),
    "gzip": Case("CPU", "ctr_gz"),
    "slow storage": Case("IO", "cifar", Storage(0.004)),
    "slow storage, 4 files": Case("IO", "cifar", Storage(0.004), cycle=4),
    "slow storage, large": Case("IO", "imagenet", Storage(0.002), batch=32),
    "one slow file": Case("tail", "cifar", Storage(0.0005, slow_file=16)),
    "uneven reads": Case("tail", "cifar", Storage(0.002, spread=1.27)),
    "uneven lists": Case("tail", "varints", batch=16),
    "gzip, slow storage": Case("mixed", "ctr_gz", Storage(0.004)),
    "tensors, uneven reads": Case("mixed", "tensorproto", Storage(0.001, spread=1.27), batch=64),
}


class SlowStorage:
    """Opens files whose reads take a while; `factor` may be changed meanwhile."""

    def __init__(self, storage):
        self._storage = storage
        self.factor = 1.0

    def __call__(self, path):
        read_s = self._storage.read_s
        if self._storage.slow_file and shard_number(path) % self._storage.slow_file == 0:
            read_s *= 10
        return SlowFile(path, self, read_s, self._storage.spread)


def shard_number(path):
    """The number of the shard that a path names: shards are NAME-00007-of-00016."""
    return int(path.rsplit("-of-", 1)[0].rsplit("-", 1)[1])


class SlowFile:
    def __init__(self, path, owner, read_s, spread):
        self._file = open(path, "rb")
        self._owner = owner
        self._read_s = read_s
        self._spread = spread
        self._draw = random.Random(path)

    def read(self, size):
        factor = self._draw.lognormvariate(-(self._spread**2) / 2, self._spread) if self._spread else 1.0
        time.sleep(self._read_s * factor * self._owner.factor)
        return self._file.read(size)

    def seek(self, *place):
        return self._file.seek(*place)

    def tell(self):
        return self._file.tell()

    def close(self):
        self._file.close()


def dataset(case, shards, workload, storage, num_threads=None, depth=2):
    """The endless pipeline of a case. `storage`: a SlowStorage, or None."""
    source = hr.TFRecordDataset(shards, num_threads=num_threads, open=storage)
    batches = source.interleave(case.cycle, 16).repeat().shuffle(2000, seed=1).batch(case.batch, drop_remainder=True)
    return batches.parse(in_headrace.features(workload)).prefetch_to_device(["/CPU:0"], depth=depth)
