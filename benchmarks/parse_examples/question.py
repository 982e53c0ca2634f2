"""What does parsing alone cost? 256 serialized Examples in memory -> tensors, headrace.parse_example against
tf.io.parse_example (serialized tensors: the faster of the decode_proto and substr ways), and a plain C++ loop that trusts its
records. Then the goals of parsing alone; with --contenders other readers of Examples as well."""

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC
from benchmarks.parse_examples import goals, others
from benchmarks.workloads.catalog import WORKLOADS

STANDARD = (
    *("ctr", "ctr_rows", "ctr_rand", "ragged", "cifar", "tensorproto"),
    *("floats11k", "floats11k_bf16", "imagenet"),
)
_BYTES_IN_MEMORY = 48 << 20  # beyond any cache
HEADER = (
    "workload",
    "tf.io.parse_example",
    "its k rec/CPU-s",
    "headrace",
    "ratio, touched",
    "ratio, delivered",
    "plain loop",
    "of loop",
)


def batches_of(workload):
    return max(2, _BYTES_IN_MEMORY // (256 * workload.record_bytes))


def ours(workload):
    return Contender("headrace", "headrace", "headrace_parser", {"batches": batches_of(workload)})


def contenders(workload):
    batches = batches_of(workload)
    result = [ours(workload)]
    tensors = any(feature.kind == "tensor" for feature in workload.features.values())
    for way in ("decode_proto", "substr") if tensors else ("decode_proto",):
        label = way if tensors else "batched"
        result.append(Contender("tf.io", label, "tfio_parser", {"batches": batches, "way": way}, TUNED_MALLOC))
    if not any(feature.transform for feature in workload.features.values()):
        result.append(Contender("loop", "plain loop", "parse_loop", {"batches": batches}, has_answers=False))
    return result


def _row(name, groups):
    ours, theirs, loop = groups["headrace"], groups["tf.io"], groups.get("loop")
    return (
        name,
        theirs.label,
        tables.thousands(theirs.median("touched")),
        tables.thousands(ours.median("touched")),
        tables.ratio_text(comparison.ratio(ours, theirs, "touched")),
        tables.ratio_text(comparison.ratio(ours, theirs, "delivered")),
        tables.thousands(loop.median("delivered")) if loop else "",
        f"{ours.median('delivered') / loop.median('delivered') * 100:.0f} %" if loop else "",
    )


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    measured = {}
    for name in plan.pick(STANDARD):
        measured[name] = plan.compare("parse_examples", name, plan.prepare(name), contenders(WORKLOADS[name]))
    rows = [_row(name, groups) for name, groups in measured.items()]
    result = {
        "tables": [("Records per CPU-second, batches of 256 in memory", tables.markdown(HEADER, rows))],
        "json": {name: comparison.as_json(groups) for name, groups in measured.items()},
    }
    goal_rows, result["json"]["goals"] = goals.run(plan, batches_of, measured)
    if goal_rows:
        result["tables"].append(("Goals of parsing alone", tables.markdown(goals.HEADER, goal_rows)))
    if plan.contenders:
        result["tables"].append(others.table(plan, [name for name in STANDARD if name in measured], ours))
    return result
