"""The demo: the same accelerators fed by tf.data and by headrace, on this machine, from real shards.

Usage: main.py [--seconds S] [--no-tensorflow] [--json FILE] [--page FILE] [--picture FILE] ...
Order of events: make or check the input; compare the records that all contenders deliver, and measure how fast the
first tf.data program is, which sets the step time; run each contender in a process of its own; show the result.
"""

import argparse
import importlib.util
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rich.console import Console  # noqa: E402

from benchmarks.demo import input as demo_input  # noqa: E402
from benchmarks.demo import page  # noqa: E402
from benchmarks.harness import machine, processes  # noqa: E402

STEP_SHARE = 0.55
STEP_MS_ALONE = 25.0  # with no tf.data to set it
TENSORFLOW = ("tfdata_before", "tfdata_advice", "tfdata_accelerated")
OURS = ("headrace", "resident")


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description="Feed emulated accelerators with tf.data and with headrace.")
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="measuring window per contender (default: %(default)s)"
    )
    parser.add_argument("--no-tensorflow", action="store_true", help="run headrace alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    parser.add_argument("--page", type=Path, metavar="FILE", help="the HTML page (default: .cache/demo/demo.html)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write the strip charts as one SVG file")
    parser.add_argument("--accelerators", type=int, default=4, metavar="N")
    parser.add_argument(
        "--global-batch", type=int, default=1024, metavar="N", help="records per step, over all accelerators"
    )
    parser.add_argument("--records", type=int, default=demo_input.RECORDS, metavar="N", help="size of the input")
    parser.add_argument("--step-ms", type=float, metavar="MS", help="step time, instead of the measured one")
    options = parser.parse_args(arguments)
    for name in ("seconds", "accelerators", "global_batch", "records"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} must be positive")
    if options.step_ms is not None and options.step_ms <= 0:
        parser.error("--step-ms must be positive")
    if options.global_batch % options.accelerators:
        parser.error(f"--global-batch {options.global_batch} is not divisible by --accelerators {options.accelerators}")
    if not options.no_tensorflow and importlib.util.find_spec("tensorflow") is None:
        parser.error("TensorFlow is not installed; run with --no-tensorflow")
    return options


class Demo:
    """One run. Steps in order: prepare, compare, set_pace, run_all, show."""

    def __init__(self, options, console):
        self._options = options
        self._console = console
        self._start = time.monotonic()
        self._names = OURS if options.no_tensorflow else (*TENSORFLOW, *OURS)
        self._input = None
        self._pace_s = None  # of the first tf.data program, per global batch
        self._step_s = 0.0
        self._step_reason = ""
        self._answers = ""
        self.runs = {}

    def _say(self, text):
        self._console.print(f"[{time.monotonic() - self._start:3.0f} s] {text}", markup=False, highlight=False)

    def _child(self, contender, task, **more):
        request = {
            "contender": contender,
            "task": task,
            "shards": self._input.shards,
            "gzip_shards": self._input.gzip_shards,
            "batch": self._options.global_batch,
            "accelerators": self._options.accelerators,
            **more,
        }
        width = min(60, self._console.width - 30)
        seen = []
        with self._console.status(f"{contender}: {task}") as status:

            def show(value):
                seen.append(value)
                status.update(page.strip_text(seen[-width:], min(len(seen), width)))

            return processes.run("benchmarks.demo.contender", request, on_progress=show)

    def prepare(self):
        self._say("input: made at the first run, checked against its hashes")
        with self._console.status("input") as status:
            self._input = demo_input.prepare(
                self._options.records, lambda share: status.update(f"input: making shards, {share * 100:.0f} %")
            )
        self._say(
            f"input: {self._input.records:,} records, {self._input.megabytes:.0f} MB in {len(self._input.shards)} "
            f"shards, sha256 {self._input.digest[:16]}; GZIP copy of {self._input.gzip_records:,} records"
        )

    def compare(self):
        """All contenders must deliver what was written, bit for bit; otherwise the demo ends here."""
        contenders = [name for name in self._names if name != "resident"]
        seconds = self._options.seconds
        self._say(f"comparing the records of one epoch: {', '.join(contenders)}")
        written = {
            "epoch": demo_input.written_answers(self._input.records),
            "gzip": demo_input.written_answers(self._input.gzip_records),
        }
        for name in contenders:
            measure_pace = name == "tfdata_before" and self._options.step_ms is None
            checked = self._child(
                name, "check", pace=measure_pace, warm_up_s=min(2.0, seconds), seconds=min(5.0, seconds)
            )
            self._pace_s = checked.get("pace_s", self._pace_s)
            for part, digest in checked["digests"].items():
                if digest != written[part]:
                    raise SystemExit(f"{name} delivers other records ({part}): {digest} instead of {written[part]}")
        self._answers = (
            f"Before the clock started, one epoch of {self._input.records:,} records and the GZIP copy "
            f"({self._input.gzip_records:,} records) were compared with what was written: every contender "
            "delivers exactly that, bit for bit."
        )
        self._say("the records are the same, bit for bit")

    def set_pace(self):
        if self._options.step_ms is not None:
            self._step_s = self._options.step_ms / 1000
            self._step_reason = "The step time was given."
        elif self._pace_s is None:
            self._step_s = STEP_MS_ALONE / 1000
            self._step_reason = "The step time is a fixed one, for want of tf.data."
        else:
            self._step_s = STEP_SHARE * self._pace_s
            self._step_reason = (
                f"That is {STEP_SHARE} x the {self._pace_s * 1000:.1f} ms "
                "in which the first tf.data program makes a global batch."
            )
        self._say(f"step time {self._step_s * 1000:.1f} ms. {self._step_reason}")

    def run_all(self):
        for name in self._names:
            self._say(f"{name}: {self._options.seconds:g} s with {self._options.accelerators} accelerators")
            self.runs[name] = self._child(
                name,
                "run",
                step_s=self._step_s,
                warm_up_s=min(2.0, self._options.seconds),
                seconds=self._options.seconds,
            )

    def setup(self):
        return {
            "accelerators": self._options.accelerators,
            "global_batch": self._options.global_batch,
            "step_ms": self._step_s * 1000,
            "step_reason": self._step_reason,
            "seconds": self._options.seconds,
            "records": self._input.records,
            "megabytes": self._input.megabytes,
            "shards": len(self._input.shards),
        }

    def show(self, description):
        options, setup = self._options, self.setup()
        path = options.page or machine.ROOT / ".cache" / "demo" / "demo.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.html(self.runs, setup, self._answers, description))
        if options.picture:
            options.picture.write_text(page.picture(self.runs, setup))
        if options.json:
            contenders = {name: run["figures"] for name, run in self.runs.items()}
            options.json.write_text(
                json.dumps({**description, "setup": setup, "contenders": contenders}, indent=2) + "\n"
            )
        self._console.print()
        self._console.print(page.terminal(self.runs, setup, self._console.width))
        self._console.print()
        self._console.print(page.distance(self.runs), markup=False, highlight=False)
        self._console.print(machine.one_line(description), markup=False, highlight=False)
        for name, run in self.runs.items():
            if run["foreign_share"] > 0.1:
                self._say(f"{name}: other programs used {run['foreign_share'] * 100:.0f} % of the processor meanwhile")
        self._say(f"page: {path}")


def main(arguments=None):
    options = parse_arguments(arguments)
    console = Console(width=None if sys.stdout.isatty() else 118)
    demo = Demo(options, console)
    demo.prepare()
    demo.compare()
    demo.set_pace()
    demo.run_all()
    demo.show(machine.describe())
    return 0


if __name__ == "__main__":
    sys.exit(main())
