"""The benchmarks. Folder = question, file = contender; answers are compared before a clock starts.

Usage: run.py [QUESTION] [--quick] [--contenders] [--workloads NAME,...] [--json FILE] [--markdown FILE]
Questions: read_records, read_remote, parse_examples, decode_images, end_to_end, feed_devices, shuffle_quality, epoch_edge, knobs,
accelerate, doctor; all of them when none is named.
"""

import argparse
import dataclasses
import importlib
import importlib.util
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import machine, processes  # noqa: E402
from benchmarks.harness.comparison import Comparison  # noqa: E402
from benchmarks.workloads import store  # noqa: E402
from benchmarks.workloads.catalog import WORKLOADS  # noqa: E402

QUESTIONS = (
    "read_records",
    "read_remote",
    "parse_examples",
    "decode_images",
    "end_to_end",
    "feed_devices",
    "shuffle_quality",
    "epoch_edge",
    "knobs",
    "accelerate",
    "doctor",
)


@dataclasses.dataclass(frozen=True)
class Plan:
    """How much is measured: size of the data sets, length of a window, number of repeats (and of pairs, where two
    settings of headrace are compared), which workloads, and whether other readers than tf.data run as well."""

    scale: str
    seconds: float
    repeats: int
    pairs: int
    workloads: tuple[str, ...] = ()
    contenders: bool = False
    started_s: float = dataclasses.field(default_factory=time.monotonic)

    def pick(self, names):
        return [name for name in names if not self.workloads or name in self.workloads]

    def say(self, text):
        print(f"[{time.monotonic() - self.started_s:5.0f} s] {text}", file=sys.stderr, flush=True)

    def prepare(self, name):
        """The shards of a workload, made if they are not there."""
        name = WORKLOADS[name].data or name
        told = []

        def on_progress(share):
            if share >= (len(told) + 1) / 4:
                told.append(share)
                self.say(f"{name}: making the data set, {share * 100:.0f} %")

        return store.shard_paths(store.prepare(name, self.scale, on_progress=on_progress))

    def compare(self, question, workload, shards, contenders):
        """Interleaved repeats of all contenders: {group: comparison.Group}."""
        return Comparison(question, workload, shards, contenders, self.seconds, self.repeats, self.say).run()

    def measure(self, question, contender, workload, shards, options, seconds=None):
        """One window of one contender, as its module measures it."""
        self.say(f"{workload}: {contender} {options}")
        request = {
            "question": question,
            "contender": contender,
            "workload": workload,
            "shards": shards,
            "options": options,
        }
        return processes.run(
            "benchmarks.harness.child",
            {**request, "task": "measure", "seconds": min(seconds or self.seconds, self.seconds)},
        )


FULL = Plan("full", 3.0, repeats=5, pairs=20)
QUICK = Plan("quick", 3.0, repeats=3, pairs=6)
TINY = Plan("tiny", 0.3, repeats=1, pairs=1)


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description="How fast is headrace, and how fast is tf.data, on this machine?")
    parser.add_argument("question", nargs="?", choices=QUESTIONS, help="one question (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller data sets, 3 repeats instead of 5")
    parser.add_argument("--smoke", action="store_true", help="tiny data sets, one short window: does everything run?")
    parser.add_argument("--workloads", default="", metavar="NAME,...", help="only these workloads")
    parser.add_argument(
        "--contenders", action="store_true", help="NVIDIA DALI, tfx-bsl and tfrecord as well (installs them: gigabytes)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there as well")
    options = parser.parse_args(arguments)
    options.workloads = tuple(name for name in options.workloads.split(",") if name)
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    if importlib.util.find_spec("tensorflow") is None:
        parser.error("the comparison needs TensorFlow in this environment")
    return options


def main(arguments=None):
    options = parse_arguments(arguments)
    plan = TINY if options.smoke else QUICK if options.quick else FULL
    plan = dataclasses.replace(
        plan, workloads=options.workloads, contenders=options.contenders, started_s=time.monotonic()
    )
    description = machine.describe()
    report = {**description, "scale": plan.scale, "repeats": plan.repeats, "seconds": plan.seconds, "questions": {}}
    text = [f"Measured on: {machine.one_line(description)}."]
    text.append(
        f"Data sets: {plan.scale} ({store.SCALES[plan.scale] >> 20} MiB each); {plan.repeats} interleaved repeats."
    )
    for question in [options.question] if options.question else QUESTIONS:
        result = importlib.import_module(f"benchmarks.{question}.question").run(plan)
        report["questions"][question] = result["json"]
        for title, table in result["tables"]:
            text += [f"### {question}: {title}", table]
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")
    print("\n\n".join(text))
    if options.markdown:
        options.markdown.write_text("\n\n".join(text) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
