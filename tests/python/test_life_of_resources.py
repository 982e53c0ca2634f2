"""What pipelines take and give back: CPU while idle, memory, threads, descriptors; how many threads there are while CPUs change."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, write_shard
from open_close_cycles import of_process

HERE = Path(__file__).parent


def settled(wanted, seconds=10):
    """Whether wanted() becomes true in time: a thread that was joined may stand in /proc a moment longer."""
    end = time.monotonic() + seconds
    while not wanted() and time.monotonic() < end:
        time.sleep(0.01)
    return wanted()


def test_a_pipeline_that_nobody_reads_uses_no_cpu(numbers):
    with iter(hr.TFRecordDataset(numbers).repeat().shuffle(10).batch(5).parse(NUMBERS)) as pipeline:
        next(pipeline)
        time.sleep(0.5)  # until it has read ahead
        before = time.process_time()
        time.sleep(2)
        assert time.process_time() - before < 0.05


@pytest.fixture
def large(tmp_path):
    """A shard of 96 MiB in 24 records."""
    return write_shard(tmp_path / "large", (hr.make_example({"x": np.arange(2**20, dtype=np.float32) + i}) for i in range(24)))


LARGE = {"x": hr.FixedLenFeature([2**20], hr.float32)}


def test_close_gives_the_memory_back(large):
    before = of_process()[0]
    pipeline = iter(hr.TFRecordDataset(large, num_threads=2).repeat().shuffle(12, seed=1).batch(8).parse(LARGE))
    for _ in range(6):
        batch = next(pipeline)
    assert of_process()[0] - before > 64 << 20
    del batch
    pipeline.close()
    assert of_process()[0] - before < 16 << 20


def test_a_batch_that_is_kept_stays_alone(large):
    before = of_process()[0]
    pipeline = iter(hr.TFRecordDataset(large, num_threads=2).repeat().batch(8).parse(LARGE))
    kept = next(pipeline)["x"].numpy()
    pipeline.close()
    del pipeline
    gc.collect()
    assert kept[7, -1] == 2**20 - 1 + 7
    assert of_process()[0] - before < kept.nbytes + (16 << 20)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda files: hr.TFRecordDataset([*files, "nowhere"]), FileNotFoundError),
        (lambda files: hr.TFRecordDataset(files, memory_bytes=1).batch(5), hr.BudgetError),
        (lambda files: hr.TFRecordDataset(files).batch(5).parse({"id": hr.FixedLenFeature([], hr.float32)}), hr.SchemaError),
    ],
)
def test_an_error_leaves_no_thread_behind(numbers, make, error):
    gc.collect()
    before = of_process()[1:]
    pipeline = iter(make(numbers))
    with pytest.raises(error):
        next(pipeline)
    pipeline.close()
    del pipeline
    gc.collect()
    assert settled(lambda: of_process()[1:] == before), (before, of_process())


def test_cycles_of_open_and_close_leave_nothing():
    done = subprocess.run([sys.executable, HERE / "open_close_cycles.py", "300"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")
def test_threads_follow_the_affinity_while_it_runs(numbers, script):
    source = """
import os, sys, time
import headrace as hr
features = {"id": hr.FixedLenFeature([], hr.int64)}
cpus = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, cpus)
pipeline = iter(hr.TFRecordDataset(sys.argv[1:]).repeat().batch(4).parse(features))
by_hand = iter(hr.TFRecordDataset(sys.argv[1:], num_threads=2).repeat().batch(4).parse(features))
def threads_after_a_while(wanted):
    end = time.monotonic() + 20
    while pipeline.report().threads != wanted and time.monotonic() < end:
        next(pipeline), next(by_hand)
    return pipeline.report().threads
print(threads_after_a_while(2))
os.sched_setaffinity(0, cpus[:1])
print(threads_after_a_while(1))
os.sched_setaffinity(0, cpus)
print(threads_after_a_while(2), by_hand.report().threads)
"""
    assert script(source, *numbers).stdout.split() == ["2", "1", "2", "2"]
