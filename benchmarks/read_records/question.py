"""What does reading cost? Shards in list order, no shuffle, over record sizes from 100 B to 1 MB.

Two tables: records alone, and parsed (one bytes feature and a label). tf.data at the best point of a grid: one reader
or interleave 4 and 16, its default and a 1 MB reader buffer, batch 256 and 4096 (small records), default and raised
malloc thresholds (large records). Beside it the reference loop, the bound of a copying design on one core. Then the goals of
reading alone (goals.py), and what inflating costs with each library (inflate_loop.cc).
"""

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC
from benchmarks.read_records import goals, inflate_loop
from benchmarks.workloads.catalog import SIZES, WORKLOADS

GOAL = 3.0
GOAL_TUNED = 2.5  # from 256 KB up, where the raised malloc thresholds alone give tf.data 2.7x
_LARGE = 256 << 10
_INFLATED = ("ctr", "ragged", "floats11k", "cifar")
HEADER = (
    "record",
    "tf.data at its best",
    "its k rec/CPU-s",
    "headrace",
    "MB/CPU-s",
    "loop",
    "of loop",
    "ratio, touched",
    "ratio, delivered",
    "goal",
    "",
)


def _grid(size, parse):
    """tf.data's settings worth trying at that record size."""
    reads = [{}, {"cycle": 4}] if size < 16 << 10 else [{"cycle": 4}, {"cycle": 16}, {"buffer": 1 << 20}]
    batches = [256, 4096] if size < 8 << 10 else [256]
    for read in reads:
        for batch in batches:
            name = ", ".join(f"{key} {value}" for key, value in read.items()) or "one reader"
            options = {**read, "batch": batch, "parse": parse}
            yield Contender("tf.data", f"{name}, batch {batch}", "tfdata_reader", options, TUNED_MALLOC)
    if size >= 16 << 10:
        options = {"cycle": 4, "batch": 256, "parse": parse}
        yield Contender("tf.data", "cycle 4, batch 256, default malloc", "tfdata_reader", options)


def contenders(size, parse):
    result = [Contender("headrace", "headrace", "headrace_reader", {"parse": parse})]
    if not parse:
        result.append(Contender("loop", "reference loop", "reference_loop", has_answers=False))
    return result + list(_grid(size, parse))


def _row(name, groups, record_bytes):
    ours, theirs, loop = groups["headrace"], groups["tf.data"], groups.get("loop")
    touched = comparison.ratio(ours, theirs, "touched")
    goal = GOAL_TUNED if record_bytes >= _LARGE else GOAL
    of_loop = ours.median("touched") / loop.median("touched") if loop else None
    near_loop = of_loop is not None and of_loop >= 0.9
    verdict = "met" if touched["median"] >= goal else "met: the loop's bound" if near_loop else "MISSED"
    return (
        name.removeprefix("size_"),
        theirs.label,
        tables.thousands(theirs.median("touched")),
        tables.thousands(ours.median("touched")),
        f"{ours.median('touched') * record_bytes / 1e6:,.0f}",
        tables.thousands(loop.median("touched")) if loop else "",
        f"{of_loop * 100:.0f} %" if loop else "",
        tables.ratio_text(touched),
        tables.ratio_text(comparison.ratio(ours, theirs, "delivered")),
        f"{goal}x",
        verdict,
    )


def _flatness(rates):
    """Largest over smallest bytes per CPU-second from 4 KB up, as a sentence."""
    large = {name: rate for name, rate in rates.items() if SIZES[name.removeprefix("size_")] >= 4 << 10}
    if len(large) < 2:
        return []
    spread = max(large.values()) / min(large.values())
    return [("Bytes per CPU-second from 4 KB up", f"largest / smallest = {spread:.2f} (goal: at most 2)")]


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    result = {"tables": [], "json": {}}
    for parse, title in ((False, "Records alone"), (True, "Parsed, in list order")):
        rows, numbers, rates = [], {}, {}
        for name in plan.pick([f"size_{size}" for size in SIZES]):
            workload = WORKLOADS[name]
            groups = plan.compare("read_records", name, plan.prepare(name), contenders(workload.record_bytes, parse))
            rows.append(_row(name, groups, workload.record_bytes))
            numbers[name] = comparison.as_json(groups)
            rates[name] = groups["headrace"].median("touched") * workload.record_bytes
        result["tables"].append((title, tables.markdown(HEADER, rows)))
        result["tables"] += _flatness(rates)
        result["json"]["parsed" if parse else "records"] = numbers
    rows, result["json"]["goals"] = goals.run(plan)
    result["tables"].append(("Goals of reading alone", tables.markdown(goals.HEADER, rows)))
    rows, result["json"]["inflate"] = inflate_loop.run(plan, _INFLATED)
    if rows:
        result["tables"].append(("Inflating alone", inflate_loop.table(rows)))
    return result
