"""What does the hand-over cost?

- latency of `next()`, every column accessed, with data ready: 2 columns (cifar) and 40 (ctr), back to back and after
  the consumer was idle; beside it tf.data's floor, one resident batch
- records per CPU-second with 1 to 4 replicas (the same global batch)
- deterministic order against none, and one thread against two (wall time)
"""

import statistics

from benchmarks.harness import tables
from benchmarks.harness.comparison import Contender

_LATENCY_GOAL_US = {"cifar": 5, "ctr": 20}
_WORKLOADS = ("cifar", "ctr")


def _latency(plan, name, shards):
    children = (("headrace", "headrace_feed"), ("tf.data, resident batch", "tfdata_feed"))
    samples = {label: [] for label, _ in children}
    for _ in range(plan.repeats):
        for label, module in children:
            samples[label].append(plan.measure("feed_devices", module, name, shards, {"latency": True}))
    for label, values in samples.items():

        def middle(which, key, values=values):
            return statistics.median(value[which][key] for value in values)

        goal = _LATENCY_GOAL_US[name] if label == "headrace" else None
        p50 = middle("ready", "p50_us")
        yield (
            (name, label, f"{p50:.1f}", f"{middle('ready', 'p99_us'):.1f}", f"{middle('after_idle', 'p50_us'):.1f}",
             f"{middle('after_idle', 'p99_us'):.1f}", f"p50 {goal} us" if goal else "",
             "" if goal is None else "met" if p50 <= goal else "MISSED"),
            values,
        )  # fmt: skip


def _settings():
    for replicas in (1, 2, 4):
        yield Contender(
            f"{replicas} replicas", f"{replicas} replicas", "headrace_feed", {"replicas": replicas}, has_answers=False
        )
    yield Contender(
        "any order", "1 replica, deterministic=False", "headrace_feed", {"deterministic": False}, has_answers=False
    )
    for threads in (1, 2):
        options = {"num_threads": threads}
        yield Contender(
            f"{threads} threads", f"1 replica, {threads} threads", "headrace_feed", options, has_answers=False
        )


def _rates(name, groups):
    base = groups["1 replicas"]
    for group in groups.values():
        change = tables.ratio(group.figures("touched"), base.figures("touched"))
        yield (
            name,
            group.label,
            tables.thousands(group.median("touched")),
            tables.thousands(group.median("delivered", "records_per_s")),
            f"{change['median']:.3f} ({change['low']:.3f}-{change['high']:.3f})",
        )


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    latencies, rates, numbers, scaling = [], [], {}, []
    for name in plan.pick(_WORKLOADS):
        shards = plan.prepare(name)
        for row, values in _latency(plan, name, shards):
            latencies.append(row)
            numbers[f"{name} latency, {row[1]}"] = values
        groups = plan.compare("feed_devices", name, shards, list(_settings()))
        rates += _rates(name, groups)
        walls = [groups[f"{n} threads"].figures("delivered", "records_per_s") for n in (2, 1)]
        scaling.append(
            f"{name}: {tables.ratio_text(tables.ratio(*walls))} from one thread to two (goal: at least 1.9x)"
        )
        numbers[name] = {key: group.windows for key, group in groups.items()}
    return {
        "tables": [
            (
                "next() and every column, data ready",
                tables.markdown(("workload", "", "p50 us", "p99 us", "after idle p50", "p99", "goal", ""), latencies),
            ),
            (
                "Replicas, order and threads",
                tables.markdown(("workload", "setting", "k rec/CPU-s", "k rec/s", "against 1 replica"), rates),
            ),
            ("Wall time with two threads", "\n".join(f"- {line}" for line in scaling)),
        ],
        "json": numbers,
    }
