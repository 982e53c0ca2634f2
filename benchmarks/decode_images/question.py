"""What does decoding cost? JPEGs of 375 x 500 to 768 x 1024, cropped and resized to 224 x 224 x 3 uint8.

headrace twice: serialized Examples in memory (`hr.parse_example`, one thread), and from shards. Beside it tf.data
from shards (`decode_and_crop_jpeg` + `tf.image.resize`), and the bound: libjpeg-turbo alone, files in memory, the same windows
at the same reduction, no resize. headrace and tf.data are compared image by image before the clock starts.
"""

from benchmarks.decode_images import crops
from benchmarks.harness import comparison, processes, tables
from benchmarks.harness.comparison import Contender
from benchmarks.harness.processes import TUNED_MALLOC

GOAL_OF_LOOP = 0.95
HEADER = (
    "crop",
    "libjpeg-turbo alone, images/CPU-s",
    "in memory",
    "of it",
    "from shards",
    "of it",
    "tf.data",
    "ratio to tf.data",
    "goal: 95 % in memory",
)


def contenders(crop):
    options = {"crop": crop}
    make = lambda group, module, more=None, environment=None: Contender(
        group, group, module, {**options, **(more or {})}, environment or {}, has_answers=False
    )
    return [
        make("memory", "headrace_images", {"from": "memory"}),
        make("loop", "libjpeg_loop"),
        make("shards", "headrace_images", {"from": "shards"}),
        make("tf.data", "tfdata_images", None, TUNED_MALLOC),
    ]


def run(plan):
    """{"tables": [(title, markdown)], "json": ...}."""
    rows, numbers = [], {}
    for workload in plan.pick(["photos"]):
        shards = plan.prepare(workload)
        plan.say("answers, image by image")
        for crop in crops.CROPS:
            processes.run("benchmarks.decode_images.near_answers", {"crop": crop, "shards": shards})
            groups = plan.compare("decode_images", workload, shards, contenders(crop))
            rates = {name: group.median("delivered") for name, group in groups.items()}
            of_loop = {name: rates[name] / rates["loop"] for name in ("memory", "shards")}
            rows.append(
                (
                    crop,
                    f"{rates['loop']:.0f}",
                    f"{rates['memory']:.0f}",
                    f"{of_loop['memory'] * 100:.0f} %",
                    f"{rates['shards']:.0f}",
                    f"{of_loop['shards'] * 100:.0f} %",
                    f"{rates['tf.data']:.0f}",
                    tables.ratio_text(comparison.ratio(groups["shards"], groups["tf.data"], "delivered")),
                    "met" if of_loop["memory"] >= GOAL_OF_LOOP else "MISSED",
                )
            )
            numbers[crop] = comparison.as_json(groups)
    return {"tables": [("JPEG to 224 x 224 x 3", tables.markdown(HEADER, rows))], "json": numbers}
