"""What the Python tests share: shards in a temporary folder, and scripts run by an interpreter of their own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import headrace as hr
import numpy as np
import pytest

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


@pytest.fixture
def numbers(tmp_path):
    """Paths of four shards with the records 0 … 99."""
    return write_numbers(tmp_path)


def ids(batches):
    """The ids of all rows of `batches`, in order."""
    return [int(i) for batch in batches for i in batch["id"].numpy()]


@pytest.fixture
def unprivileged(tmp_path):
    """A folder for tests of what may not be read. Root may read everything: another user does the rest of the test."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    nobody = 65534
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, nobody, nobody)
        os.seteuid(nobody)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


@pytest.fixture
def script():
    """Runs Python source in a fresh interpreter; its completed process."""

    def run(source, *arguments, timeout=60, check=True):
        done = subprocess.run(
            [sys.executable, "-c", source, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=ROOT,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run
