"""Status pages: what other processes of the user see of a pipeline."""

import json
import os
import signal
import subprocess
import sys
import time

import headrace as hr
import pytest
from headrace.running import busiest_stage, input_bound

from number_shards import NUMBERS

READER = """
import sys, time
import headrace as hr
dataset = hr.TFRecordDataset(sys.argv[1]).repeat().batch(10).parse({"id": hr.FixedLenFeature([], hr.int64)})
pipeline = iter(dataset.prefetch_to_device(["/CPU:0", "/CPU:1"]))
for _ in range(int(sys.argv[2])):
    pipeline.next_slice(0), pipeline.next_slice(1)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """The run-time folder of this test alone."""
    session = tmp_path / "session"
    session.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
    return session / "headrace"


def start(files, batches=7):
    process = subprocess.Popen(
        [sys.executable, "-c", READER, os.path.dirname(files[0]), str(batches)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "headrace", *arguments], capture_output=True, text=True, timeout=60)


def test_a_pipeline_is_seen_as_long_as_it_is_open(numbers, folder):
    assert hr.running_pipelines() == []
    with iter(hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS)) as batches:
        for _ in range(3):
            next(batches)
        [seen] = hr.running_pipelines()
        assert (seen.process, seen.batches, seen.epoch, seen.name) == (os.getpid(), 3, 0, f"{numbers[0]} and 3 more")
        report = batches.report()
        stages = {stage.name: stage.records for stage in seen.stages}
        assert stages["deliver"] == 30 and stages["read"] >= 30
        assert list(stages) != [] and set(stages) == {stage.name for stage in report.stages}
        assert [stage.name for stage in report.stages][-1] == "deliver"
        assert sum(wait.count for wait in report.waits) == sum(wait.count for wait in seen.waits) == 3
        assert [replica.batches for replica in report.replicas] == [3]
        assert len(list(folder.iterdir())) == 1
    assert hr.running_pipelines() == [] and list(folder.iterdir()) == []


def test_another_process(numbers):
    process = start(numbers)
    try:
        found = command("report", str(process.pid))
        assert found.returncode == 0, found.stderr
        [line] = found.stdout.splitlines()
        seen = json.loads(line)
        assert seen["process"] == process.pid and seen["batches"] == 7
        assert [replica["batches"] for replica in seen["replicas"]] == [7, 7]
        assert sum(wait["count"] for wait in seen["waits"]) == 14 and seen["waits"][-1]["seconds"] is None
        shown = command("top", str(process.pid), "--interval", "0.1")
        assert shown.returncode == 0 and str(process.pid) in shown.stdout and "waiting" in shown.stdout
        assert command("top", "--interval", "0.1").stdout.count(str(process.pid)) == 1
    finally:
        process.communicate()
    assert command("report", str(process.pid)).returncode == 1
    assert command("top", str(process.pid), "--interval", "0.1").returncode == 1


def test_what_a_killed_process_left_is_not_shown_and_goes_away(numbers, folder):
    process = start(numbers)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close(), process.stdout.close()
    assert len(list(folder.iterdir())) == 1 and hr.running_pipelines() == []
    other = start(numbers)
    assert [seen.process for seen in hr.running_pipelines()] == [other.pid]
    assert len(list(folder.iterdir())) == 1
    other.communicate()


@pytest.mark.parametrize("content", [b"", b"x" * 4096, b"HRSTATUS" + b"\xff" * 4088])
def test_pages_that_are_none(folder, content):
    folder.mkdir(mode=0o700)
    (folder / "1-1-1.status").write_bytes(content)
    assert hr.running_pipelines() == []


def test_a_page_of_any_bytes_is_read_within_its_bounds(numbers, folder):
    with iter(hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS)) as batches:
        next(batches)
        [page] = folder.iterdir()
        good = page.read_bytes()
    stat = open("/proc/self/stat").read().rpartition(")")[2].split()
    assert int(stat[19]) == int.from_bytes(good[16:24], sys.byteorder)
    # The head stays, so that the page is taken for one of this process.
    (folder / "1-1-1.status").write_bytes(good[:24] + b"\xff" * (len(good) - 24))
    [seen] = hr.running_pipelines()
    assert seen.process == os.getpid() and len(seen.stages) <= 20 and len(seen.replicas) <= 32
    assert seen.name == "\\xff" * 256
    assert json.loads(seen.to_json())["stages"][0]["name"].startswith("\\xff")


def test_where_no_folder_can_be_had_nothing_is_missing(numbers, folder):
    folder.symlink_to("/proc")
    with iter(hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS)) as batches:
        next(batches)
        assert [stage.records for stage in batches.report().stages if stage.name == "deliver"] == [10]


def test_the_share_of_waiting(numbers):
    with iter(hr.TFRecordDataset(numbers).repeat().batch(10).parse(NUMBERS)) as batches:
        next(batches)
        [before] = hr.running_pipelines()
        time.sleep(0.05)
        for _ in range(50):
            next(batches)
        [now] = hr.running_pipelines()
        assert 0 <= input_bound(before, now) < 1
        assert input_bound(now, now) == 0 and busiest_stage(now, now) == ("", 0.0)
        name, seconds = busiest_stage(before, now)
        assert name in ("read", "order", "parse", "deliver") and seconds > 0


def test_a_consumer_that_waits_long_is_told_for_what(tmp_path, script, monkeypatch):
    monkeypatch.setenv("HEADRACE_STALL_SECONDS", "0.3")
    done = script(
        f"""
import io, logging, threading, time
import headrace as hr
path = {str(tmp_path / "x")!r}
with hr.TFRecordWriter(path) as writer:
    for i in range(1000):
        writer.write(bytes(1000))
data = open(path, "rb").read()
gate = threading.Event()

class Slow(io.BytesIO):
    def read(self, size=-1):
        if self.tell() >= 500_000:
            gate.wait()
        return super().read(min(size, 500_000 - self.tell()) if self.tell() < 500_000 else size)

class Seen(logging.Handler):
    def emit(self, record):
        print(record.getMessage())
        gate.set()

logging.getLogger("headrace").addHandler(Seen())
print(len(list(hr.TFRecordDataset(["a"], open=lambda path: Slow(data)))))
"""
    )
    text, count = done.stdout.splitlines()
    assert "has waited longer than 0.3" in text and "nothing comes from a behind byte" in text, done.stderr
    assert count == "1000"
