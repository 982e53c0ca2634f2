"""headrace reading and checking alone: `verify_files` frames every record, checks both checksums, and keeps nothing."""

import time

import headrace as hr
from benchmarks.harness import loops, usage


_ROUNDS = 16  # so that the start of the threads, for each call, does not count


def measure(workload, shards, options, seconds):
    """Figures of window.measure."""
    list(hr.verify_files(shards))
    records, start = 0, usage.now()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for check in hr.verify_files(shards * _ROUNDS):
            if check.regions or check.error:
                raise RuntimeError(f"{check.path} is damaged")
            records += check.records
    used = usage.now() - start
    return loops.delivers_nothing(
        {
            "records": records,
            "wall_s": used.wall_s,
            "cpu_s": used.cpu_s,
            "records_per_cpu_s": records / used.cpu_s,
            "records_per_s": records / used.wall_s,
            "foreign_share": used.foreign_share,
        }
    )
