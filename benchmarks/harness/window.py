"""The measuring window: warm up, then count records and CPU for a while; delivered, then touched."""

import time

from benchmarks.harness import usage
from benchmarks.harness.columns import touch_all

WARM_UP_S = 0.8
_SETTLE_S = 0.4
# Batches that are already under way when a window opens must not decide it.
_LEAST_BATCHES = 8


def rows_of_first(columns):
    first = next(iter(columns.values()))
    return len(first) if hasattr(first, "__len__") else len(first.row_splits) - 1


def _run(batches, columns_of, seconds, read, rows_of):
    records, count, columns = 0, 0, None
    start = usage.now()
    end = start.wall_s + seconds
    while time.perf_counter() < end or count < _LEAST_BATCHES:
        columns = columns_of(next(batches))
        if read:
            touch_all(columns)
        records += rows_of(columns)
        count += 1
    return records, count, usage.now() - start, columns


def _touch_cost_s(columns, batches):
    """CPU-seconds that reading `batches` batches costs when the batch is already in memory. All threads count, so the
    pipeline gets a moment to fill its buffers and fall asleep first."""
    repeats = max(3, min(batches, 200))
    time.sleep(_SETTLE_S)
    start = time.process_time()
    for _ in range(repeats):
        touch_all(columns)
    return (time.process_time() - start) / repeats * batches


def _figures(records, used, cpu_s, batches):
    return {
        "records": records,
        "batches": batches,
        "wall_s": used.wall_s,
        "cpu_s": cpu_s,
        "records_per_cpu_s": records / cpu_s,
        "records_per_s": records / used.wall_s,
        "context_switches_per_1000": 1000 * used.context_switches / records,
        "page_faults_per_1000": 1000 * used.page_faults / records,
        "foreign_share": used.foreign_share,
    }


def measure(batches, columns_of, seconds, warm_up_s=WARM_UP_S, rows_of=rows_of_first):
    """{"delivered": figures, "touched": figures, "peak_rss_mb": ...} of an endless iterator.

    `columns_of(batch)` gives every column of a batch (the first access is part of the cost). Touched: every byte of
    every column is read as well, and what that reading costs over a batch that stays in memory is subtracted.
    """
    _run(batches, columns_of, warm_up_s, read=True, rows_of=rows_of)
    records, count, used, columns = _run(batches, columns_of, seconds, read=False, rows_of=rows_of)
    delivered = _figures(records, used, used.cpu_s, count)
    records, count, used, columns = _run(batches, columns_of, seconds, read=True, rows_of=rows_of)
    touched = _figures(records, used, max(used.cpu_s - _touch_cost_s(columns, count), 1e-9), count)
    return {"delivered": delivered, "touched": touched, "peak_rss_mb": usage.peak_rss_mb()}
