"""How many records does a CPU-second carry through the whole pipeline, shards to parsed batches of 256?

interleave 16, repeat, shuffle(2000), batch 256, parse; headrace against tf.data as written first ("before") and as
advised ("after": deterministic on or off, whichever is better; for serialized tensors each way of decoding them is a
row). Beside them the reference loop of read_records, which reads, checks and copies, and parses nothing; with --contenders
other readers as well.
"""

from benchmarks.end_to_end import others
from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC
from benchmarks.workloads.catalog import WORKLOADS
from benchmarks.workloads.tensor_ways import WAYS

STANDARD = ("ctr", "ctr_rand", "ctr_gz", "ragged", "cifar", "tensorproto", "floats11k", "imagenet")

# (workload, row) -> the least and the hoped-for ratio.
GOALS = {
    ("ctr", "after"): (8, 12),
    ("ctr_gz", "after"): (5, 7),
    ("ragged", "after"): (5, 8),
    ("cifar", "after"): (6, 9),
    ("tensorproto", "after, decode_proto"): (5, 6),
    ("tensorproto", "after, map_fn"): (9, 11),
    ("tensorproto", "before"): (15, 19),
    ("floats11k", "after"): (3, 4),
    ("imagenet", "after"): (2.3, 3.5),
}
HEADER = (
    "workload",
    "tf.data",
    "its k rec/CPU-s",
    "headrace",
    "ratio, touched",
    "ratio, delivered",
    "at least",
    "aim",
    "",
)


def ours(workload):
    return Contender("headrace", "headrace", "headrace_pipeline")


def contenders(workload):
    result = [
        ours(workload),
        Contender("before", "before", "tfdata_before", environment=TUNED_MALLOC),
    ]
    has_tensors = any(feature.kind == "tensor" for feature in workload.features.values())
    for way in WAYS if has_tensors else (None,):
        group = f"after, {way}" if way else "after"
        for deterministic in (True, False):
            options = {"deterministic": deterministic, **({"way": way} if way else {})}
            label = f"{group}, deterministic={deterministic}"
            result.append(Contender(group, label, "tfdata_after", options, TUNED_MALLOC))
    if not workload.compression:
        result.append(Contender("loop", "reference loop", "reference_loop", has_answers=False))
    return result


def _rows(name, groups):
    ours = groups["headrace"]
    for row, theirs in groups.items():
        if row == "headrace":
            continue
        touched = comparison.ratio(ours, theirs, "touched")
        least, aim = GOALS.get((name, row), (None, None))
        verdict = (
            ""
            if least is None
            else "aim"
            if touched["median"] >= aim
            else "met"
            if touched["median"] >= least
            else "MISSED"
        )
        yield (
            name,
            theirs.label,
            tables.thousands(theirs.median("touched")),
            tables.thousands(ours.median("touched")),
            tables.ratio_text(touched),
            tables.ratio_text(comparison.ratio(ours, theirs, "delivered")),
            f"{least}x" if least else "",
            f"{aim}x" if aim else "",
            verdict,
        )


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    rows, numbers = [], {}
    for name in plan.pick(STANDARD):
        workload = WORKLOADS[name]
        shards = plan.prepare(name)
        groups = plan.compare("end_to_end", name, shards, contenders(workload))
        rows += _rows(name, groups)
        numbers[name] = comparison.as_json(groups)
    result = {
        "tables": [("Records per CPU-second, shards to parsed batches", tables.markdown(HEADER, rows))],
        "json": numbers,
    }
    if plan.contenders:
        result["tables"].append(others.table(plan, plan.pick(STANDARD), ours))
    return result
