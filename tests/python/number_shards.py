"""Shards of records whose features are told by their number, for the Python tests."""

from pathlib import Path

import headrace as hr
import numpy as np

ROOT = Path(__file__).parents[2]

NUMBERS = {"id": hr.FixedLenFeature([], hr.int64), "x": hr.FixedLenFeature([3], hr.float32)}


def number_record(i):
    """A record whose features are told by its number."""
    return hr.make_example({"id": i, "x": np.arange(3, dtype=np.float32) + i})


def write_shard(path, records, **options):
    with hr.TFRecordWriter(path, **options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def write_numbers(folder, shards=4, per_shard=25, **options):
    """Shards of number_record(0), number_record(1), …; their paths."""
    return [
        write_shard(
            folder / f"part-{shard:02d}.tfrecord",
            (number_record(i) for i in range(shard * per_shard, (shard + 1) * per_shard)),
            **options,
        )
        for shard in range(shards)
    ]


def ids(batches):
    """The ids of all rows of `batches`, in order."""
    return [int(i) for batch in batches for i in batch["id"].numpy()]
