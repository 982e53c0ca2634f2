"""How long does the consumer wait where one epoch ends and the next begins?

p99 of `next()` within the 100 batches around an edge, 50 on each side, as ratio to the p99 of all other batches. The consumer keeps
each batch 1.5 times as long as one takes to be made, as an accelerator that is well fed does: what is left to see are gaps. Many
epochs, so that the p99 of either side is made of hundreds of batches; the first epoch, which opens the files, counts for neither.
"""

from benchmarks.harness import tables

WORKLOADS = ["ctr", "tensorproto", "imagenet"]
WAYS = ["in order", "shuffle 2000", "global", "window 4"]
GOAL = 2.0


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    rows, numbers = [], {}
    for name in plan.pick(WORKLOADS):
        shards = plan.prepare(name)
        for way in WAYS:
            found = plan.measure("epoch_edge", "around_edges", name, shards, {"way": way, "scale": plan.scale})
            numbers[f"{name}, {way}"] = found
            ratio = found["edge_p99_us"] / found["elsewhere_p99_us"]
            rows.append(
                (
                    name,
                    way,
                    found["edges"],
                    f"{found['elsewhere_p50_us']:.0f}",
                    f"{found['elsewhere_p99_us']:.0f}",
                    f"{found['edge_p99_us']:.0f}",
                    f"{ratio:.2f}",
                    "met" if ratio <= GOAL else "MISSED",
                )
            )
    header = ("workload", "order", "edges", "p50 us", "p99 us elsewhere", "p99 us at the edge", "ratio", f"at most {GOAL:g}")
    return {"tables": [("next() around the edge of an epoch", tables.markdown(header, rows))], "json": numbers}
