"""Opens and closes pipelines again and again: what the process has more of afterwards.

    python tests/python/open_close_cycles.py [CYCLES]
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import headrace as hr

from number_shards import NUMBERS, write_numbers

# After so many cycles the allocator has met every size; from then on nothing grows.
FIRST_CYCLES = 100
ALLOWED_BYTES = 2 << 20


def of_process():
    """(resident bytes, threads, descriptors) of this process."""
    resident = int(re.search(r"^VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)[1]) * 1024
    return resident, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def cycle(files, number):
    """One life of a pipeline: closed early, read to its end, left to the collector, or one that cannot be opened or read."""
    dataset = hr.TFRecordDataset(files, num_threads=2).shuffle(20, seed=number).batch(10).parse(NUMBERS)
    kind = number % 5
    if kind == 0:
        with iter(dataset) as pipeline:
            next(pipeline)
    elif kind == 1:
        assert sum(len(batch["id"].numpy()) for batch in dataset) == 100
    elif kind == 2:
        next(iter(dataset))
    elif kind == 3:
        try:
            next(iter(hr.TFRecordDataset([*files, "nowhere"])))
        except FileNotFoundError:
            return
        raise AssertionError("a file that is not there was read")
    else:
        try:
            list(hr.TFRecordDataset(files).batch(10).parse({"id": hr.FixedLenFeature([], hr.float32)}))
        except hr.SchemaError:
            return
        raise AssertionError("integers were read as floats")


def main(cycles=300):
    """What grew: (bytes, threads, descriptors)."""
    with tempfile.TemporaryDirectory() as folder:
        files = write_numbers(Path(folder))
        for number in range(FIRST_CYCLES):
            cycle(files, number)
        before = of_process()
        for number in range(cycles):
            cycle(files, number)
        after = of_process()
    grown = tuple(now - then for now, then in zip(after, before))
    print(f"{cycles} cycles: {grown[0]} bytes, {grown[1]} threads, {grown[2]} descriptors more", flush=True)
    return grown


if __name__ == "__main__":
    size, threads, descriptors = main(*map(int, sys.argv[1:]))
    sys.exit(size > ALLOWED_BYTES or threads > 0 or descriptors > 0)
