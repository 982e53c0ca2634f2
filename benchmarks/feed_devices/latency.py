"""How long does the training loop stand in `next()` when the data is ready? Percentiles, in microseconds."""

import time

import numpy as np


def percentiles(times_s):
    times = np.array(times_s) * 1e6
    return {"p50_us": float(np.percentile(times, 50)), "p99_us": float(np.percentile(times, 99)), "count": len(times)}


def sample(batches, access, seconds, burst, pause_s):
    """Takes `burst` batches in a row, pauses so that the feed is full again, and so on for `seconds`.

    A time covers `next()` and the first access of every column. The first batch of a burst, taken after the consumer
    was idle, is kept apart: {"ready": ..., "after_idle": ...}.
    """
    ready, idle = [], []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(pause_s)
        for place in range(burst):
            start = time.perf_counter()
            access(next(batches))
            (ready if place else idle).append(time.perf_counter() - start)
    return {"ready": percentiles(ready), "after_idle": percentiles(idle)}
