"""Records per second of one pipeline with given settings, or with none; also while its surroundings change.

options: "case"; "num_threads" and "depth" (absent: what headrace takes by itself); "cpus": how many CPUs the process may use;
"change": "core" or "source" changes one thing after a second, and the rate is that of the last window within 10 seconds of it:
CPUs from "cpus" to "cpus_then", the storage to "factor" times its time for a read.
"""

import os
import time

from benchmarks.knobs import pipelines
from benchmarks.workloads.catalog import WORKLOADS

WARM_S = 0.5


def _use(cpus):
    """Lets every thread of this process use these CPUs and no others."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), cpus)


def _read(batches, seconds, rows):
    """Records per second of at least so long."""
    begin, count = time.perf_counter(), 0
    while (took := time.perf_counter() - begin) < seconds or count < 4:
        next(batches)
        count += 1
    return count * rows / took


def measure(workload, shards, options, seconds):
    """{"records_per_s": ..., "cpu_s_per_1000": ...}."""
    all_cpus = sorted(os.sched_getaffinity(0))
    cpus = all_cpus[: options.get("cpus", len(all_cpus))]
    _use(cpus)
    case = pipelines.CASES[options["case"]]
    storage = None if case.storage is None else pipelines.SlowStorage(case.storage)
    knobs = {name: options[name] for name in ("num_threads", "depth") if name in options}
    factor = options.get("factor", 1.0)
    with iter(pipelines.dataset(case, shards, WORKLOADS[case.workload], storage, **knobs)) as batches:
        if "change" in options:
            _read(batches, 1.0, case.batch)
            _use(all_cpus[: options.get("cpus_then", len(cpus))])
        if storage is not None:
            storage.factor = factor
        _read(batches, options.get("settle_s", WARM_S), case.batch)
        cpu = time.process_time()
        begin = time.perf_counter()
        rate = _read(batches, seconds, case.batch)
        cpu_share = (time.process_time() - cpu) / (time.perf_counter() - begin)
    return {"records_per_s": rate, "cpus": cpu_share, "cpu_s_per_1000": 1000 * cpu_share / rate}
