"""What does the hand-over cost?

- latency of `next()`, every column accessed, with data ready: 2 columns (cifar) and 40 (ctr), back to back and after
  the consumer was idle; beside it tf.data's floor, one resident batch
- records per CPU-second with 1 to 4 replicas (the same global batch)
- wall time of one thread against two
- what deterministic order costs, from interleaved pairs
"""

import statistics

from benchmarks.harness import tables
from benchmarks.harness.comparison import Contender

_LATENCY_GOAL_US = {"cifar": 5, "ctr": 20}
_ORDER_LIMIT = 0.03
_WORKLOADS = ("cifar", "ctr")
_LATENCY_HEADER = ("workload", "", "p50 us", "p99 us", "after idle p50", "p99", "goal", "")
_RATE_HEADER = ("workload", "setting", "k rec/CPU-s", "k rec/s", "CPU against 1 replica")


def _latency_row(name, label, samples):
    def middle(which, key):
        return statistics.median(sample[which][key] for sample in samples)

    goal = _LATENCY_GOAL_US[name] if label == "headrace" else None
    p50 = middle("ready", "p50_us")
    figures = [p50, middle("ready", "p99_us"), middle("after_idle", "p50_us"), middle("after_idle", "p99_us")]
    verdict = "" if goal is None else "met" if p50 <= goal else "MISSED"
    return (name, label, *(f"{figure:.1f}" for figure in figures), f"p50 {goal} us" if goal else "", verdict)


def _latencies(plan, name, shards):
    """label -> one sample a repeat."""
    children = (("headrace", "headrace_feed"), ("tf.data, resident batch", "tfdata_feed"))
    samples = {label: [] for label, _ in children}
    for _ in range(plan.repeats):
        for label, module in children:
            samples[label].append(plan.measure("feed_devices", module, name, shards, {"latency": True}))
    return samples


def _settings():
    settings = {f"{replicas} replicas": {"replicas": replicas} for replicas in (1, 2, 4)}
    settings |= {f"1 replica, {threads} threads": {"num_threads": threads} for threads in (1, 2)}
    return [Contender(name, name, "headrace_feed", options, has_answers=False) for name, options in settings.items()]


def _rate_rows(name, groups):
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


def _order_costs(plan, name, shards):
    """CPU per record of deterministic order over that of any order, minus one; a value a pair."""
    costs = []
    for pair in range(plan.pairs):
        orders = (True, False) if pair % 2 else (False, True)
        rates = {}
        for order in orders:
            window = plan.measure("feed_devices", "headrace_feed", name, shards, {"deterministic": order}, seconds=1.0)
            rates[order] = window["touched"]["records_per_cpu_s"]
        costs.append(rates[False] / rates[True] - 1)
    return costs


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    latencies, rates, scaling, order, numbers = [], [], [], [], {}
    for name in plan.pick(_WORKLOADS):
        shards = plan.prepare(name)
        samples = _latencies(plan, name, shards)
        latencies += [_latency_row(name, label, values) for label, values in samples.items()]
        groups = plan.compare("feed_devices", name, shards, _settings())
        rates += _rate_rows(name, groups)
        walls = [groups[f"1 replica, {n} threads"].figures("delivered", "records_per_s") for n in (2, 1)]
        scaling.append(f"- {name}: {tables.ratio_text(tables.ratio(*walls))} (goal: at least 1.9x)")
        costs = _order_costs(plan, name, shards)
        order.append(f"- {name}: {tables.limit_text(costs, _ORDER_LIMIT)}")
        windows = {label: group.windows for label, group in groups.items()}
        numbers[name] = {"latency": samples, "rates": windows, "order_costs": costs}
    return {
        "tables": [
            ("next() and every column, data ready", tables.markdown(_LATENCY_HEADER, latencies)),
            ("Replicas and threads", tables.markdown(_RATE_HEADER, rates)),
            ("Wall time, one thread to two", "\n".join(scaling)),
            ("CPU that deterministic order costs", "\n".join(order)),
        ],
        "json": numbers,
    }
