"""What does `headrace.tensorflow.accelerate` gain? CPU per record of a tf.data program, before and after the one line.

The program reads serialized tensors, parses and scales record by record, flips at random, makes labels one-hot, and batches.
A second row has no flip, so that nothing is left for TensorFlow. Answers are compared without the flip.
"""

from benchmarks.harness import comparison, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC

GOALS = {"random flip": 5, "no flip": 8}
MAX_START_S = 1.5
HEADER = ("program", "tf.data, us CPU/record", "with the line", "ratio, delivered", "at least", "")


def contenders(flips):
    options = {"flips": flips}
    return [
        Contender("original", "original", "original", options, TUNED_MALLOC),
        Contender("accelerated", "accelerated", "accelerated", options, TUNED_MALLOC),
    ]


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    rows, numbers, starts = [], {}, []
    for workload in plan.pick(["tensorproto"]):
        shards = plan.prepare(workload)
        for name, goal in GOALS.items():
            groups = plan.compare("accelerate", workload, shards, contenders(name == "random flip"))
            ratio = comparison.ratio(groups["accelerated"], groups["original"], "delivered")
            cost = [f"{1e6 / groups[group].median('delivered'):.1f}" for group in ("original", "accelerated")]
            verdict = "met" if ratio["median"] >= goal else "MISSED"
            rows.append((name, *cost, tables.ratio_text(ratio), f"{goal}x", verdict))
            numbers[name] = comparison.as_json(groups)
        start = plan.measure("accelerate", "starting", workload, shards, {})
        numbers["start"] = start
        for which in ("first", "second"):
            seconds = start[which]["wall_s"]
            verdict = "met" if seconds <= MAX_START_S else "MISSED"
            starts.append((which, f"{seconds:.2f}", f"{start[which]['cpu_s']:.2f}", f"{MAX_START_S} s", verdict))
    result = {"tables": [("One line more: CPU per record", tables.markdown(HEADER, rows))], "json": numbers}
    header = ("call of accelerate()", "s", "CPU s", "at most", "")
    result["tables"].append(("How long accelerate() takes", tables.markdown(header, starts)))
    return result
