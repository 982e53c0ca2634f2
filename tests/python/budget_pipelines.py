"""Random pipelines under a memory limit: what they take beyond it, and whether they go on at the smallest one.

    python tests/python/budget_pipelines.py [COUNT [SEED]]     # says what went wrong, and the most that was taken

Each pipeline is opened with a budget of one byte, whose error names the number needed; with that number; and with a random one
above it. It runs in a child of its own, so that the growth of the child's memory is that of the pipeline.
"""

import os
import random
import re
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import headrace as hr

MEBIBYTE = 1 << 20
# What a process takes whatever the limit is: stacks of threads, code that is used first, and what the allocator keeps for each
# thread, old windows of decompressors among it.
CONSTANT_BYTES = 32 * MEBIBYTE
ALLOWED = 1.05
BATCHES = 3  # that the smallest budget holds: one on its way and two of the consumer
SECONDS = 60


@dataclass
class Case:
    """One data set and the steps that read it."""

    record_bytes: int
    spread: float
    records: int
    shards: int
    compression: str
    cycle: int
    block: int
    shuffle: int
    batch: int
    way: str
    threads: int
    epochs: int

    def dataset(self, folder, memory_bytes):
        # Of compressed files the default is a quarter of the memory, which says nothing about the pipeline.
        records = hr.TFRecordDataset(
            str(folder / "part-*"), memory_bytes=memory_bytes, max_record_bytes=1 << 30, num_threads=self.threads
        )
        records = records.interleave(cycle_length=self.cycle, block_length=self.block).repeat(self.epochs)
        if self.shuffle:
            records = records.shuffle(self.shuffle, seed=1)
        batches = records.batch(self.batch)
        if self.way == "records":
            return batches
        view = self.way == "views"
        return batches.parse({"payload": hr.BytesFeature(view=True) if view else hr.FixedLenFeature([], hr.string)})


def random_case(draw):
    """A Case of between 4 and 48 MiB."""
    record_bytes = round(100 * 2 ** draw.uniform(0, 15.3))
    records = max(6, round(2 ** draw.uniform(2, 5.6) * MEBIBYTE / record_bytes))
    shards = draw.randint(1, 8)
    return Case(
        record_bytes=record_bytes,
        spread=draw.choice([0, 0, 0.5, 1.0]),
        records=min(records, 20_000),
        shards=shards,
        compression=draw.choice(["none", "none", "gzip", "zlib", "zstd", "snappy"]),
        cycle=draw.randint(1, 8),
        block=draw.choice([1, 1, 4, 16]),
        shuffle=draw.choice([0, round(2 ** draw.uniform(1, 9))]),
        batch=round(2 ** draw.uniform(0, 6)),
        way=draw.choice(["bytes", "bytes", "records", "views"]),
        threads=draw.randint(1, 6),
        epochs=draw.randint(1, 3),
    )


def write(case, folder, draw):
    """Makes the shards of a case; the sizes of their records."""
    sizes = []
    compression = None if case.compression == "none" else case.compression
    noise = draw.randbytes(min(4 * MEBIBYTE, 40 * case.record_bytes + 1000))
    for shard in range(case.shards):
        with hr.TFRecordWriter(folder / f"part-{shard}", compression=compression) as writer:
            for _ in range(shard, case.records, case.shards):
                size = round(case.record_bytes * (draw.lognormvariate(0, case.spread) if case.spread else 1))
                size = min(max(size, 1), len(noise))
                sizes.append(size)
                begin = draw.randrange(len(noise) - size + 1)
                writer.write(hr.make_example({"payload": noise[begin : begin + size]}))
    return sizes


def of_status(name):
    """A number of kilobytes that /proc/self/status tells, in bytes."""
    return int(re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)[1]) * 1024


def consume(dataset):
    """Reads it with one batch kept beside the one that comes."""
    kept, rows = None, 0
    for batch in dataset:
        rows += batch.global_rows if hasattr(batch, "global_rows") else len(batch)
        kept = batch
    del kept
    return rows


def run(case, folder, memory_bytes):
    """(rows, growth of the resident memory at its highest, what the error of the budget says or "") of a child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        Path("/proc/self/clear_refs").write_text("5")  # the highest value starts anew
        before = of_status("VmRSS")
        rows, text = 0, ""
        try:
            rows = consume(case.dataset(folder, memory_bytes))
        except hr.BudgetError as error:
            text = str(error)
        os.write(writer, f"{rows} {of_status('VmHWM') - before} {text}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        raise AssertionError(f"ended with {status}" + (" (waits for ever)" if status == -signal.SIGALRM else ""))
    rows, growth, text = answer.split(" ", 2)
    return int(rows), int(growth), text


def needed(text):
    """The number of bytes that the error names."""
    found = re.search(r" need (\d+)", text)
    if found is None:
        raise AssertionError(f"names no number: {text}")
    return int(found[1])


def granted(case, sizes, memory_bytes):
    """The most that the pipeline may take: a batch of the largest records may come behind a first one of small ones."""
    largest = sum(sorted(sizes)[-case.batch :])
    return ALLOWED * max(memory_bytes, BATCHES * largest) + CONSTANT_BYTES


def check(case, folder, sizes, draw):
    """(what is wrong, or None; the part that was taken at most of what is granted)."""
    _, growth, text = run(case, folder, 1)
    if not text:
        return "a budget of one byte is accepted", 0
    smallest = needed(text)
    if growth > granted(case, sizes, smallest):
        return f"took {growth} before it said that {smallest} are needed", growth / smallest
    worst = 0
    for memory_bytes in (smallest, round(smallest * draw.uniform(1, 4))):
        rows, growth, text = run(case, folder, memory_bytes)
        if text:
            return f"with the {memory_bytes} of {smallest} asked for: {text}", worst
        if rows != case.records * case.epochs:
            return f"{rows} rows instead of {case.records * case.epochs}", worst
        worst = max(worst, growth / granted(case, sizes, memory_bytes))
        if worst > 1:
            return f"took {growth} of {memory_bytes} (smallest: {smallest})", worst
    return None, worst


def main(count=20, seed=0):
    """The number of pipelines that do not hold."""
    failures, worst = 0, 0.0
    for number in range(seed, seed + count):
        draw = random.Random(number)
        case = random_case(draw)
        folder = Path(tempfile.mkdtemp())
        try:
            wrong, taken = check(case, folder, write(case, folder, draw), draw)
        except AssertionError as error:
            wrong, taken = str(error), 0
        finally:
            shutil.rmtree(folder)
        worst = max(worst, taken)
        if wrong:
            failures += 1
            print(f"{number}: {wrong}\n    {case}", flush=True)
    print(f"{count} pipelines, {failures} do not hold; most taken: {worst:.2f} of what is granted", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
