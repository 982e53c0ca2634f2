"""What does parsing alone cost? 256 serialized Examples in memory -> tensors, headrace.parse_example against
tf.io.parse_example (serialized tensors: the faster of the decode_proto and substr ways)."""

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC
from benchmarks.workloads.catalog import WORKLOADS

STANDARD = (
    *("ctr", "ctr_rows", "ctr_rand", "ragged", "cifar", "tensorproto"),
    *("floats11k", "floats11k_bf16", "imagenet"),
)
_BYTES_IN_MEMORY = 48 << 20  # beyond any cache
HEADER = ("workload", "tf.io.parse_example", "its k rec/CPU-s", "headrace", "ratio, touched", "ratio, delivered")


def contenders(workload):
    batches = max(2, _BYTES_IN_MEMORY // (256 * workload.record_bytes))
    result = [Contender("headrace", "headrace", "headrace_parser", {"batches": batches})]
    tensors = any(feature.kind == "tensor" for feature in workload.features.values())
    for way in ("decode_proto", "substr") if tensors else ("decode_proto",):
        label = way if tensors else "batched"
        result.append(Contender("tf.io", label, "tfio_parser", {"batches": batches, "way": way}, TUNED_MALLOC))
    return result


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    rows, numbers = [], {}
    for name in plan.pick(STANDARD):
        workload = WORKLOADS[name]
        shards = plan.prepare(name)
        groups = plan.compare("parse_examples", name, shards, contenders(workload))
        ours, theirs = groups["headrace"], groups["tf.io"]
        rows.append(
            (
                name,
                theirs.label,
                tables.thousands(theirs.median("touched")),
                tables.thousands(ours.median("touched")),
                tables.ratio_text(comparison.ratio(ours, theirs, "touched")),
                tables.ratio_text(comparison.ratio(ours, theirs, "delivered")),
            )
        )
        numbers[name] = comparison.as_json(groups)
    return {
        "tables": [("Records per CPU-second, batches of 256 in memory", tables.markdown(HEADER, rows))],
        "json": numbers,
    }
