"""The demo: runs whole on a small input, with and without TensorFlow, and its parts count what they say."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.demo import accelerators, chart, contender  # noqa: E402
from benchmarks.demo import input as demo_input  # noqa: E402
from benchmarks.workloads import store  # noqa: E402

FIGURES = {
    "utilisation",
    "wait_ms_p50",
    "wait_ms_p99",
    "wait_ms_max",
    "records_per_s",
    "records_per_cpu_s",
    "cpu_cores",
    "peak_rss_mb",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of data sets for this file's tests."""
    folder = tmp_path_factory.mktemp("cache")
    before = store.CACHE
    store.CACHE = folder
    yield folder
    store.CACHE = before


def run_demo(cache, tmp_path, *arguments):
    """Runs the demo on 640 records; (what it printed, its JSON, its page)."""
    files = {name: tmp_path / f"demo.{name}" for name in ("json", "html", "svg")}
    command = [sys.executable, str(ROOT / "benchmarks/demo/main.py"), "--records", "640", "--global-batch", "64"]
    command += [
        "--seconds",
        "0.5",
        "--json",
        files["json"],
        "--page",
        files["html"],
        "--picture",
        files["svg"],
        *arguments,
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "HEADRACE_BENCHMARK_CACHE": str(cache)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert files["svg"].read_text().startswith("<svg")
    return done.stdout, json.loads(files["json"].read_text()), files["html"].read_text()


def check_numbers(numbers, contenders):
    assert list(numbers["contenders"]) == contenders
    for figures in numbers["contenders"].values():
        assert set(figures) == FIGURES
        assert 0 < figures["utilisation"] <= 1
        assert 0 <= figures["wait_ms_p50"] <= figures["wait_ms_p99"] <= figures["wait_ms_max"]
        assert figures["records_per_s"] > 0 and figures["records_per_cpu_s"] > 0
        assert 0 < figures["cpu_cores"] <= (os.cpu_count() or 1) * 1.1 and figures["peak_rss_mb"] > 1
    assert numbers["machine"]["cores"] >= 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", numbers["date"])
    assert numbers["commit"]


def check_page(page, titles):
    assert all(title in page for title in titles)
    assert page.count("<svg") == len(titles)
    assert "http" not in page and "src=" not in page and "url(" not in page, "the page must stand alone"


def test_runs_alone_without_tensorflow(cache, tmp_path):
    printed, numbers, page = run_demo(cache, tmp_path, "--no-tensorflow")
    check_numbers(numbers, ["headrace", "resident"])
    check_page(page, ["headrace", "resident"])
    assert "the records are the same, bit for bit" in printed


def test_runs_beside_tensorflow(cache, tmp_path):
    pytest.importorskip("tensorflow", exc_type=ImportError)
    printed, numbers, page = run_demo(cache, tmp_path)
    check_numbers(numbers, ["tfdata_before", "tfdata_advice", "tfdata_accelerated", "headrace", "resident"])
    titles = ["tf.data, as written first", "tf.data, as advised", "tf.data, one line more", "headrace", "resident"]
    check_page(page, titles)
    assert "the records are the same, bit for bit" in printed
    step_ms = float(re.search(r"step time ([\d.]+) ms", printed)[1])
    pace_ms = float(re.search(r"0\.55 x the ([\d.]+) ms", printed)[1])
    assert step_ms == pytest.approx(0.55 * pace_ms, abs=0.05 + 0.55 * 0.05)  # both are printed with one decimal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "0"], "--seconds must be positive"),
        (["--global-batch", "10"], "not divisible by --accelerators 4"),
    ],
)
def test_refuses_what_cannot_run(arguments, message):
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/demo/main.py"), *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and message in done.stderr


def test_a_damaged_shard_is_made_again(cache):
    made = demo_input.prepare(records=320)
    assert len(made.shards) == 16 and made.records == 320 and made.gzip_records == 20
    shard = Path(made.shards[3])
    whole = shard.read_bytes()
    shard.write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
    again = demo_input.prepare(records=320)
    assert again == made
    assert shard.read_bytes() == whole


def test_each_accelerator_gets_its_slice_and_failures_come_back():
    seen = []

    class Array:
        def __init__(self, name):
            self.name = name

        def reshape(self, _):
            seen.append(self.name)
            return np.zeros(2, np.int64)

    class Broken:
        def reshape(self, _):
            raise ValueError("no such slice")

    with accelerators.Accelerators(3, step_s=0.0) as three:
        before = time.perf_counter()
        three.begin([{"x": Array(i)} for i in range(3)], begin_s=0.0)
        assert before <= three.finish() <= time.perf_counter()
        assert sorted(seen) == [0, 1, 2]
        with pytest.raises(ValueError, match="2 slices for 3 accelerators"):
            three.begin([{}, {}], begin_s=0.0)
        with pytest.raises(ValueError, match="no such slice"):
            three.begin([{"x": Broken()}, {}, {}], begin_s=0.0)
            three.finish()


def test_the_next_batch_is_taken_while_the_accelerators_work():
    class Working:
        def begin(self, slices, begin_s):
            events.append(("begin", slices))

        def finish(self):
            events.append(("finish",))
            return float("inf")  # past the end of the window

    events = []

    def slices(batch):
        events.append(("take", batch))
        return batch

    steps = contender._Steps(iter(range(100)), slices, Working())
    assert steps.until(time.perf_counter() + 60) == float("inf")
    assert events == [("take", 0), ("begin", 0), ("take", 1), ("finish",)]
    assert len(steps.waits) == 1 and steps.waits[0][0] <= steps.waits[0][1]


def test_timeline_charges_each_wait_to_its_time():
    # Four parts of one second: no wait; half a second of waiting; a wait over the border of the last two.
    waits = [(0.0, 0.0), (1.25, 1.75), (2.5, 3.25)]
    assert contender.timeline(waits, 0.0, 4.0, bins=4) == pytest.approx([1.0, 0.5, 0.5, 0.75])


def test_strip_shows_the_mean_of_each_part():
    strip = chart.blocks([0.0, 0.0, 1.0, 1.0, 0.5, 0.5], 3)
    assert [character for character, _ in strip] == ["▁", "█", "▅"]
    assert [mean for _, mean in strip] == [0.0, 1.0, 0.5]
