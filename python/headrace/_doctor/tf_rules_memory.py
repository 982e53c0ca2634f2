"""Faults of memory: buffers that take too much of it, and batches that are new to the process each time."""

import os

from .tf_rule import Fault, ms, size

_SHARE = 0.25  # of the memory, for one buffer
_FRESH = 0.5  # of the bytes of a batch: pages that the kernel made for it
_LARGE_BYTES = 4 << 20  # of a batch; smaller ones stay in malloc's own pools
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def huge_shuffle(case):
    program, shards = case.program, case.shards
    for place in program.find("shuffle"):
        rows = case.batch_size or 1
        is_batched = place > program.batch_place()
        record = shards.record_bytes if shards is not None and not case.decodes_at(place) else case.batch_bytes / rows
        held = program.steps[place].arguments["buffer_size"] * record * (rows if is_batched else 1)
        if shards is not None and shards.records is not None:
            held = min(held, shards.records * record)
        memory = memory_bytes()
        if held > _SHARE * memory:
            fitting = int(_SHARE * memory / record)
            yield Fault(
                "huge shuffle",
                "The shuffle's buffer takes a large part of the machine's memory.",
                f"{size(held)} of {size(memory)}",
                change=lambda given, at=place: given.with_step(at, given.steps[at].with_arguments(buffer_size=fitting)),
            )


def huge_prefetch(case):
    """Batches held by a prefetch of a fixed size."""
    memory = memory_bytes()
    for place in case.program.find("prefetch"):
        count = case.program.steps[place].arguments["buffer_size"]
        if place > case.program.batch_place() and count * case.batch_bytes > _SHARE * memory:
            yield Fault(
                "huge prefetch",
                "The batches made ahead take a large part of the machine's memory.",
                f"{count} batches of {size(case.batch_bytes)}, of {size(memory)}",
                change=lambda given, at=place: given.with_step(at, given.steps[at].with_arguments(buffer_size=2)),
            )


def fresh_memory(case):
    base = case.base
    fresh = base.faults * _PAGE_BYTES
    if case.batch_bytes >= _LARGE_BYTES and fresh >= _FRESH * case.batch_bytes:
        yield Fault(
            "fresh batch memory",
            "malloc gives the memory of each batch back, and the kernel clears it anew for the next.",
            f"{base.faults:.0f} page faults a batch of {size(case.batch_bytes)}; {ms(base.kernel_s)} of {ms(base.cpu_s)} of "
            "CPU time in the kernel",
            fix="export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=17179869184  # before Python starts\n"
            "# or, with memory that is used again:\nimport headrace.tensorflow\n\n"
            "dataset = headrace.tensorflow.accelerate(dataset)",
        )


def memory_bytes():
    """Of the machine, or of this process' control group where that is less."""
    memory = _PAGE_BYTES * os.sysconf("SC_PHYS_PAGES")
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            return min(memory, int(file.read()))
    except (OSError, ValueError):  # no control group, or "max"
        return memory
