"""How well do the shuffles mix, and what do they cost?

Mixing: same-shard pairs and neighbours that meet in a batch of 256, as ratio to a perfect shuffle (mixing.py), over 64 shards
of 4,096 records of 1 KB. Cost: parsed records per CPU-second from the system's cache in the order of the files, of a global
shuffle, of one with a window, and of shuffle(2000) behind interleave 16; then records per second of one epoch whose shards
the cache has forgotten.
"""

import statistics
import tempfile
from pathlib import Path

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.shuffle_quality import mixing

SHARDS, SHARD_RECORDS, BATCH = 64, 4096, 256
# (way, cycle): windows of a 64th, a 16th and a 4th of the data.
MIXED = [("in order", 1), ("global", 1), ("window 4", 1), ("window 16", 1), ("window 64", 1)]
MIXED += [(f"shuffle {buffer}", cycle) for buffer in (1000, 2000, 20_000, 100_000) for cycle in (4, 16, 64)]
WAYS = ["in order", "global", "window 16", "shuffle 2000"]
COST = ["ctr", "tensorproto", "imagenet"]
COST_GOAL, COLD_GOAL = 0.9, 0.8


def _mixing(plan):
    epochs = {"tiny": 1, "quick": 5, "full": 20}[plan.scale]
    shard_records = 512 if plan.scale == "tiny" else SHARD_RECORDS
    rows, numbers = [], {}
    with tempfile.TemporaryDirectory() as folder:
        paths = mixing.write_shards(Path(folder), SHARDS, shard_records)
        for way, cycle in MIXED:
            name = f"interleave {cycle}, {way}" if way.startswith("shuffle") else way
            plan.say(f"mixing of {name}")
            same, near = mixing.ratios(paths, shard_records, way, cycle, BATCH, epochs)
            numbers[name] = {"same_shard": same, "neighbours": near}
            rows.append((name, f"{same:.2f}", f"{near:.2f}" if near < 100 else f"{near:,.0f}"))
    return tables.markdown(("order", "same-shard pairs", "neighbours"), rows), numbers


def _cost(plan):
    rows, numbers = [], {}
    for name in plan.pick(COST):
        shards = plan.prepare(name)
        contenders = [Contender(way, way, "headrace_order", {"way": way}) for way in WAYS]
        groups = plan.compare("shuffle_quality", name, shards, contenders)
        cold = {way: _cold(plan, name, shards, way) for way in WAYS}
        numbers[name] = {"cached": comparison.as_json(groups), "cold": cold}
        for way in WAYS:
            ratio = groups[way].median("touched") / groups["in order"].median("touched")
            cold_ratio = cold[way] / cold["in order"]
            is_goal = way.startswith("window")
            met = ratio >= COST_GOAL and cold_ratio >= COLD_GOAL
            rows.append(
                (
                    name,
                    way,
                    tables.thousands(groups[way].median("touched")),
                    f"{ratio:.2f}",
                    tables.thousands(cold[way]),
                    f"{cold_ratio:.2f}",
                    ("met" if met else "MISSED") if is_goal else "",
                )
            )
    header = ("workload", "order", "k rec/CPU-s", "of in order", "cold, k rec/s", "of in order", "0.90 and 0.80")
    return tables.markdown(header, rows), numbers


def _cold(plan, name, shards, way):
    options = {"way": way}
    windows = [
        plan.measure("shuffle_quality", "cold_epoch", name, shards, options)["records_per_s"]
        for _ in range(plan.repeats)
    ]
    return statistics.median(windows)


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    mixed, mixed_numbers = _mixing(plan)
    cost, cost_numbers = _cost(plan)
    return {
        "tables": [("Pairs that meet, as ratio to a perfect shuffle", mixed), ("Cost", cost)],
        "json": {"mixing": mixed_numbers, "cost": cost_numbers},
    }
