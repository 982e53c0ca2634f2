"""Is anything left to tune?

Twelve pipelines (pipelines.py). For each the whole grid of num_threads and depth, and headrace without either, in turn: the share of
the best point that headrace reaches by itself, and how much less than with num_threads = CPUs. Then from a bad start (one CPU,
later all of them), when a CPU is taken away and when the storage becomes twice as slow: the share, within 10 seconds, of the best
point of the same surroundings. At last four processes in one cgroup with a quota: the share of the time in which they were throttled.
"""

import statistics

from benchmarks.harness import machine, tables
from benchmarks.knobs import pipelines, shared_quota

DEPTHS = (1, 2, 4)
GOAL, NEVER_BELOW = 0.95, 0.98
THROTTLED_GOAL = 0.02
WINDOW_S = 1.0
ADAPT_S = 5.0  # and a window behind it: within the 10 seconds of the goal


def _grid(cpus):
    threads = sorted({1, cpus, 2 * cpus} | {n for n in (2, 4, 8, 16) if n < cpus})
    return [{"num_threads": n, "depth": depth} for n in threads for depth in DEPTHS]


def _rate(plan, name, shards, options):
    options = {"case": name, **options}
    return plan.measure("knobs", "rate", pipelines.CASES[name].workload, shards, options, WINDOW_S)["records_per_s"]


def _by_itself(plan, name, shards, cpus):
    """The grid and headrace by itself, interleaved; {settings: median rate}, where () is headrace by itself."""
    points = [{}, *_grid(cpus)]
    rates = {tuple(point.items()): [] for point in points}
    for _ in range(plan.repeats):
        for point in points:
            rates[tuple(point.items())].append(_rate(plan, name, shards, point))
    return {point: statistics.median(found) for point, found in rates.items()}


def _changes(plan, name, shards, cpus, best):
    """{change: share of the best settings in the same surroundings that is reached after it}."""
    settle = 0.3 if plan.scale == "tiny" else ADAPT_S
    found, pairs = {}, {}
    if cpus > 1:
        pairs["bad start"] = ({}, {"change": "core", "cpus": 1, "cpus_then": cpus})
        pairs["CPU taken"] = ({"cpus": cpus - 1}, {"change": "core", "cpus": cpus, "cpus_then": cpus - 1})
    if pipelines.CASES[name].storage is not None:
        pairs["storage halves"] = ({"factor": 2.0}, {"change": "source", "factor": 2.0})
    for change, (there, then) in pairs.items():
        shares = []
        for _ in range(plan.repeats):
            fixed = _rate(plan, name, shards, {**dict(best), **there})
            shares.append(_rate(plan, name, shards, {**then, "settle_s": settle}) / fixed)
        found[change] = statistics.median(shares)
    return found


def _text(share, goal):
    return f"{share * 100:.0f} %" + ("" if share >= goal else ", **missed**")


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    cpus = machine.describe()["machine"]["cores"]
    rows, numbers = [], {}
    for name, case in pipelines.CASES.items():
        if not plan.pick([case.workload]):
            continue
        shards = plan.prepare(case.workload)
        rates = _by_itself(plan, name, shards, cpus)
        own = rates.pop(())
        best = max(rates, key=rates.get)
        same = rates[tuple({"num_threads": cpus, "depth": 2}.items())]
        changed = _changes(plan, name, shards, cpus, best)
        numbers[name] = {
            "own": own,
            "grid": {str(dict(point)): rate for point, rate in rates.items()},
            "changed": changed,
        }
        rows.append(
            (
                name,
                case.limit,
                tables.thousands(own),
                ", ".join(str(value) for _, value in best),
                _text(own / rates[best], GOAL),
                _text(own / same, NEVER_BELOW),
                *(_text(changed[change], GOAL) if change in changed else "" for change in ("bad start", "CPU taken", "storage halves")),
            )
        )
    header = ("pipeline", "limited by", "k rec/s", "best threads, depth", "of the best", "of threads = CPUs", "bad start", "CPU taken", "storage halves")
    result = {"tables": [("By itself, as share of the best settings", tables.markdown(header, rows))], "json": numbers}
    text, numbers["shared quota"] = shared_quota.run(plan)
    result["tables"].append(("Four processes in one cgroup", text))
    return result
