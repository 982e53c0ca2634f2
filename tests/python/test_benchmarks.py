"""The benchmarks: data sets are what they should be, answers are compared, and a question runs from end to end."""

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import headrace as hr  # noqa: E402
from benchmarks.harness import columns, comparison, processes, tables  # noqa: E402
from benchmarks.harness.answers import Answers  # noqa: E402
from benchmarks.workloads import catalog, example_bytes, store  # noqa: E402

SMALL = [name for name, workload in catalog.WORKLOADS.items() if workload.record_bytes < 10_000]


@pytest.mark.parametrize("name", SMALL)
def test_the_writer_agrees_with_the_plain_one(name, tmp_path):
    workload = catalog.WORKLOADS[name]
    path = tmp_path / "shard.tfrecord"
    store.write_shard(path, workload, first=40, count=3, compression=None)
    expected = [example_bytes.example(record) for record in workload.values(40, 3)]
    assert list(example_bytes.records(path.read_bytes())) == expected
    assert path.read_bytes() == b"".join(map(example_bytes.frame, expected))


def test_tensors_agree_with_the_plain_writer():
    image = catalog.images(7, 1)[0]
    assert hr.make_tensor(image) == example_bytes.tensor_proto(image)


def test_records_depend_on_their_number_alone():
    for name in ("ctr_rand", "ragged", "imagenet"):
        values = catalog.WORKLOADS[name].values
        whole = [example_bytes.example(record) for record in values(0, 6)]
        parts = [
            example_bytes.example(record) for first in (0, 2, 5) for record in values(first, {0: 2, 2: 3, 5: 1}[first])
        ]
        assert parts == whole
        assert len(set(whole)) == 6


class Strings:
    def __init__(self, rows):
        self._rows = rows

    def rows(self):
        return self._rows


def digest(*batches):
    answers = Answers()
    for batch in batches:
        answers.add(batch)
    return answers.digest()


def test_answers_know_the_multiset_and_nothing_else():
    a = np.arange(6, dtype=np.int64)
    b = np.arange(18, dtype=np.float32).reshape(6, 3)
    both = digest({"a": a, "b": b})
    order = [3, 1, 5, 0, 2, 4]
    assert digest({"a": a[order], "b": b[order]}) == both
    assert digest({"a": a[:2], "b": b[:2]}, {"b": b[2:], "a": a[2:]}) == both
    assert digest({"a": a[order], "b": b}) != both, "records are pairs"
    assert digest({"a": a[:5], "b": b[:5]}) != both
    assert digest({"a": a, "b": b.astype(np.float64)}) != both
    changed = b.copy()
    changed[4, 2] = np.nextafter(changed[4, 2], np.float32(100))
    assert digest({"a": a, "b": changed}) != both
    assert digest({"a": np.repeat(a[:3], 2)}) != digest({"a": a})


def test_answers_see_the_borders_of_ragged_rows_and_strings():
    values = np.array([5, 5, 5, 0, 0], np.int64)

    def rows(*splits):
        return digest({"x": columns.Ragged(values, np.array(splits, np.int64))})

    assert rows(0, 2, 5) == rows(0, 2, 5)
    assert rows(0, 2, 5) != rows(0, 3, 5)
    assert rows(0, 4, 5) != rows(0, 3, 5), "zeros count"
    assert digest({"x": Strings([b"a", b"b"])}) == digest({"x": Strings([b"b", b"a"])})
    assert digest({"x": Strings([b"a", b"b"])}) != digest({"x": Strings([b"ab", b""])})


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.int64])
def test_touch_reads_every_byte(dtype):
    array = np.arange(1, 22, dtype=np.uint8)[: 21 // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize].view(dtype)
    words = array.view(np.uint8)[: array.nbytes // 8 * 8].view(np.uint64)
    assert columns.touch_array(array) == int(words.sum())
    assert columns.touch_array(array[:0]) == 0


def window(rate):
    figures = {"records_per_cpu_s": rate, "records_per_s": rate, "foreign_share": 0.0}
    return {"delivered": figures, "touched": figures}


def compare(monkeypatch, contenders, answers, rates, repeats=3):
    calls = []

    def run(_, request, environment, python):
        calls.append((request["task"], request["contender"], request["options"].get("setting")))
        if request["task"] == "answers":
            return answers[request["contender"]]
        return window(rates[request["contender"], request["options"].get("setting")])

    monkeypatch.setattr(processes, "run", run)
    groups = comparison.Comparison("q", "w", [], contenders, 1.0, repeats, lambda _: None).run()
    return groups, calls


CONTENDERS = [
    comparison.Contender("ours", "ours", "ours"),
    comparison.Contender("theirs", "theirs slow", "theirs", {"setting": "slow"}),
    comparison.Contender("theirs", "theirs fast", "theirs", {"setting": "fast"}),
]
RATES = {("ours", None): 60.0, ("theirs", "slow"): 10.0, ("theirs", "fast"): 20.0}


def test_repeats_are_interleaved_and_the_best_setting_stands(monkeypatch):
    groups, calls = compare(monkeypatch, CONTENDERS, {"ours": "same", "theirs": "same"}, RATES)
    assert [call[1:] for call in calls if call[0] == "measure"] == [
        ("ours", None),
        ("theirs", "slow"),
        ("theirs", "fast"),
        ("ours", None),
        ("theirs", "fast"),
        ("ours", None),
        ("theirs", "fast"),
    ]
    assert [call[0] for call in calls[:2]] == ["answers", "answers"]
    assert groups["theirs"].label == "theirs fast"
    assert comparison.ratio(groups["ours"], groups["theirs"], "touched") == {"median": 3.0, "low": 3.0, "high": 3.0}


def test_nothing_is_timed_when_answers_differ(monkeypatch):
    with pytest.raises(comparison.AnswersDiffer, match="theirs None: other"):
        compare(monkeypatch, CONTENDERS, {"ours": "same", "theirs": "other"}, RATES)


def test_a_failing_contender_says_what_it_printed():
    with pytest.raises(processes.ChildFailed, match="No module named"):
        processes.run("benchmarks.no_such_module", {})


def test_tables_are_markdown():
    assert tables.markdown(("a", "b"), [("x", 1.5)]) == "| a | b   |\n|---|-----|\n| x | 1.5 |"
    assert [tables.thousands(value) for value in (123_456, 12_345, 1_234)] == ["123", "12.3", "1.23"]


def test_an_interval_needs_six_values_and_decides_only_outside():
    assert tables.median_interval([1, 2, 3, 4, 5]) == (3, None, None)
    assert tables.median_interval(range(6)) == (2.5, 0, 5)
    assert tables.median_interval(range(20)) == (9.5, 5, 14)
    assert tables.limit_text([0.01] * 20, 0.03).endswith("limit 3 %: met")
    assert tables.limit_text([0.05] * 20, 0.03).endswith("limit 3 %: MISSED")
    assert tables.limit_text([0.0, 0.05] * 10, 0.03).endswith("limit 3 %: not resolved")


def test_a_question_runs_from_end_to_end(tmp_path):
    pytest.importorskip("tensorflow", exc_type=ImportError)
    numbers = tmp_path / "numbers.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/run.py"), "parse_examples", "--smoke", "--workloads", "ragged"]
        + ["--json", str(numbers), "--markdown", str(tmp_path / "tables.md")],
        env={**os.environ, "HEADRACE_BENCHMARK_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(numbers.read_text())
    assert {"machine", "date", "commit", "questions"} <= set(report)
    groups = report["questions"]["parse_examples"]["ragged"]
    assert list(groups) == ["headrace", "tf.io", "loop"]
    assert all(group["windows"][0]["touched"]["records_per_cpu_s"] > 0 for group in groups.values())
    assert "| ragged " in done.stdout
    assert (tmp_path / "tables.md").read_text() == done.stdout


def test_the_edges_of_epochs_are_measured_apart(tmp_path):
    pytest.importorskip("tensorflow", exc_type=ImportError)
    numbers = tmp_path / "numbers.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/run.py"), "epoch_edge", "--smoke", "--workloads", "ctr", "--json", str(numbers)],
        env={**os.environ, "HEADRACE_BENCHMARK_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(numbers.read_text())["questions"]["epoch_edge"]
    assert list(found) == ["ctr, in order", "ctr, shuffle 2000", "ctr, global", "ctr, window 4"]
    assert all(one["edges"] == 4 and one["edge_p99_us"] > 0 < one["elsewhere_p99_us"] for one in found.values())


def test_the_knobs_are_compared_with_none(tmp_path, monkeypatch):
    from benchmarks import run
    from benchmarks.knobs import question

    cores = len(os.sched_getaffinity(0))
    monkeypatch.setattr(store, "CACHE", tmp_path)
    monkeypatch.setattr(question, "_grid", lambda cpus: [{"num_threads": cpus, "depth": 2}, {"num_threads": 1, "depth": 1}])
    found = question.run(dataclasses.replace(run.TINY, workloads=("ragged",)))
    rates = found["json"]["lists"]
    assert rates["own"] > 0 and len(rates["grid"]) == 2 and all(rate > 0 for rate in rates["grid"].values())
    assert set(rates["changed"]) == ({"bad start", "CPU taken"} if cores > 1 else set())
    assert "| lists " in found["tables"][0][1]
    quota = found["json"]["shared quota"]
    assert "not measured" in quota or quota["cpus"] > 0


def test_slow_storage_takes_its_time(tmp_path):
    from benchmarks.knobs import pipelines

    path = tmp_path / "cifar-00000-of-00016.tfrecord"
    path.write_bytes(bytes(100))
    opener = pipelines.SlowStorage(pipelines.Storage(0.02, slow_file=16))
    opener.factor = 0.5
    file = opener(str(path))
    begin = time.monotonic()
    assert file.read(60) == bytes(60) and file.tell() == 60
    assert time.monotonic() - begin >= 0.1  # ten times 20 ms, at half of it
    file.close()


def test_unknown_workloads_are_named():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/run.py"), "--workloads", "ctr,nothing"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "no workload nothing" in done.stderr
