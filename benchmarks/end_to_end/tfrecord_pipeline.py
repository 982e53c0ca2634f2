"""The whole pipeline with the tfrecord package of PyPI: shard after shard, a shuffle of 2000, batches stacked by NumPy."""

import itertools

from tfrecord.iterator_utils import shuffle_iterator
from tfrecord.reader import tfrecord_loader

from benchmarks.workloads import in_tfrecord

_BATCH = 256


def open(workload, shards, options):
    records = shuffle_iterator(_records(workload, shards, options["repeat"]), 2000)
    batches = iter(lambda: list(itertools.islice(records, _BATCH)), [])
    return batches, lambda batch: in_tfrecord.columns(workload, batch)


def _records(workload, shards, repeat):
    compression = "gzip" if workload.compression else None
    wanted = in_tfrecord.description(workload)
    for shard in itertools.cycle(shards) if repeat else shards:
        yield from tfrecord_loader(shard, None, wanted, compression_type=compression)
