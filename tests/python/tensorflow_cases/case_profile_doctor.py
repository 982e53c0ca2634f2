"""doctor --profile: profiles of TensorFlow read without its profiler, traces of torch, and what they say of the input."""

import gzip
import json
import subprocess
import sys
import time

import pytest
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from headrace._doctor import profile_timeline as timeline
from headrace._doctor.profile_doctor import profile

MS = 1_000_000  # ns


class Space:
    """Writes an XSpace with TensorFlow's own messages."""

    def __init__(self):
        self.space = xplane_pb2.XSpace()

    def event(self, plane, line, name, begin_ms, end_ms, **stats):
        plane = next((p for p in self.space.planes if p.name == plane), None) or self.space.planes.add(name=plane)
        line = next((x for x in plane.lines if x.name == line), None) or plane.lines.add(name=line, timestamp_ns=5 * MS)
        number = self._id(plane.event_metadata, name)
        event = line.events.add(metadata_id=number, offset_ps=begin_ms * 10**9, duration_ps=(end_ms - begin_ms) * 10**9)
        for stat, value in stats.items():
            event.stats.add(metadata_id=self._id(plane.stat_metadata, stat), int64_value=value)

    def _id(self, table, name):
        number = next((key for key, value in table.items() if value.name == name), len(table) + 1)
        table[number].id, table[number].name = number, name
        return number

    def write(self, folder, run="2026_12_01_10_00_00"):
        path = folder / "plugins/profile" / run / "host.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(self.space.SerializeToString())
        return folder


def training(wait_ms, work_ms, steps=10, step_ms=100, stage="Map"):
    """Steps in which the device waits, works and idles."""
    made = Space()
    for step in range(steps):
        at = step * step_ms
        made.event("/host:CPU", "python", "train", at, at + step_ms, step_num=step, _r=1)
        made.event("/host:CPU", "python", "IteratorGetNextOp::DoCompute", at, at + wait_ms)
        prefix = "Iterator::Root::Prefetch"
        made.event("/host:CPU", "tf_data", f"{prefix}::{stage}", at, at + wait_ms, id=3, parent_id=2)
        made.event("/host:CPU", "tf_data", f"{prefix}::{stage}::Shuffle", at, at + wait_ms // 4)
        made.event("/host:CPU", "python", prefix, at, at + wait_ms, buffer_limit=4, buffer_size=1)
        made.event("/device:GPU:0", "Stream #7(Compute)", "kernel", at + wait_ms, at + wait_ms + work_ms)
        made.event("/device:GPU:0", "Steps", str(step), at, at + step_ms)
    return made


def test_input_gaps(tmp_path):
    diagnosis = profile(training(wait_ms=40, work_ms=50).write(tmp_path))
    facts = diagnosis.facts
    assert facts["idle_because_of_input_percent"] == pytest.approx(40)
    assert sum(diagnosis.timeline) / len(diagnosis.timeline) == pytest.approx(
        1 - (facts["idle_because_of_input_percent"] + facts["idle_for_other_reasons_percent"]) / 100, abs=0.01
    )
    assert facts["idle_for_other_reasons_percent"] == pytest.approx(10)
    assert facts["step_median_ms"] == pytest.approx(100) and facts["devices"] == 1 and facts["steps"] == 10
    assert facts["Map_busy_ms"] == pytest.approx(300) and facts["Shuffle_busy_ms"] == pytest.approx(100)  # without each other
    assert facts["Prefetch_buffer_full_percent"] == pytest.approx(25)
    (finding,) = diagnosis.findings
    assert diagnosis.input_bound is True and diagnosis.limit == "Map"
    assert finding.name == "input starves the accelerators" and "num_parallel_calls" in finding.fix
    assert finding.predicted.ratio == pytest.approx(1 / 0.6)
    assert "40.0%" in str(diagnosis)


def test_it_needs_no_tensorflow(tmp_path):
    training(wait_ms=40, work_ms=50).write(tmp_path)
    program = "import sys; from headrace._doctor.profile_doctor import profile; print(profile(sys.argv[1]).limit)"
    program += "; assert not {'tensorflow', 'tensorboard'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True)
    assert done.stdout == "Map\n"


def test_launch_gaps(tmp_path):
    diagnosis = profile(training(wait_ms=1, work_ms=59).write(tmp_path))
    (finding,) = diagnosis.findings
    assert finding.name == "late launches" and "gpu_private" in finding.fix
    assert diagnosis.input_bound is False and diagnosis.limit == "launches"


def test_busy_devices(tmp_path):
    diagnosis = profile(training(wait_ms=2, work_ms=97).write(tmp_path))
    assert diagnosis.findings == () and diagnosis.input_bound is False and diagnosis.limit == "accelerators"


def test_a_wait_behind_work_costs_nothing(tmp_path):
    made = Space()
    for step in range(4):
        at = 100 * step
        made.event("/host:CPU", "python", "train", at, at + 100, step_num=step)
        made.event("/host:CPU", "python", "IteratorGetNext", at, at + 90)
        made.event("/device:GPU:0", "Stream #7(Compute)", "kernel", at, at + 98)
    diagnosis = profile(made.write(tmp_path))
    assert diagnosis.input_bound is False and diagnosis.facts["idle_because_of_input_percent"] == pytest.approx(0)


def test_without_prefetch(tmp_path):
    made = training(wait_ms=40, work_ms=50)
    for plane in made.space.planes:
        for value in plane.event_metadata.values():
            value.name = value.name.replace("::Prefetch", "::Repeat")
    assert ".prefetch(" in profile(made.write(tmp_path)).findings[0].fix


def test_the_newest_run_is_read(tmp_path):
    training(wait_ms=40, work_ms=50).write(tmp_path, "2026_12_01_10_00_00")
    time.sleep(0.02)
    training(wait_ms=1, work_ms=98).write(tmp_path, "2026_12_01_11_00_00")
    assert profile(tmp_path).findings == ()
    assert profile(tmp_path / "plugins/profile/2026_12_01_10_00_00").findings != ()


@pytest.mark.parametrize("slow", ["input", "step"])
def test_a_profile_that_tensorflow_wrote(tmp_path, slow):
    """On the CPU; the slow side sleeps 100 ms, the other nothing."""

    def wait(number):
        tf.numpy_function(lambda: time.sleep(0.1) if slow == "input" else None, [], [])
        return number

    batches = iter(tf.data.Dataset.range(1000).map(wait).batch(1).prefetch(4))
    next(batches)
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for step in range(10):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                next(batches)
                time.sleep(0.1 if slow == "step" else 0)
    diagnosis = profile(tmp_path)
    assert diagnosis.input_bound is (slow == "input"), str(diagnosis)
    assert diagnosis.facts["steps"] == 10 and diagnosis.facts["Root_calls"] >= 9
    assert bool(diagnosis.findings) is (slow == "input")


@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_of_torch(tmp_path, packed):
    events = []
    for step in range(5):
        at = 1000 * 100 * step  # microseconds
        wait = {"name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "cat": "user_annotation"}
        events += [
            {"ph": "X", "ts": at, "dur": 100_000, "name": f"ProfilerStep#{step}", "cat": "user_annotation"},
            {"ph": "X", "ts": at, "dur": 30_000, **wait},
            {"ph": "X", "ts": at + 30_000, "dur": 65_000, "name": "sgemm", "cat": "kernel", "args": {"device": 1}},
            {"ph": "X", "ts": at, "dur": 100_000, "name": f"ProfilerStep#{step}", "cat": "gpu_user_annotation"},
        ]
    text = json.dumps({"traceEvents": events}).encode()
    path = tmp_path / ("host.pt.trace.json" + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(text) if packed else text)
    for where in (path, tmp_path):
        diagnosis = profile(where)
        assert diagnosis.input_bound is True and diagnosis.facts["steps"] == 5
        assert diagnosis.facts["idle_because_of_input_percent"] == pytest.approx(30)
        assert diagnosis.facts["idle_for_other_reasons_percent"] == pytest.approx(5)


def test_what_is_no_profile(tmp_path):
    with pytest.raises(FileNotFoundError, match="no profile"):
        profile(tmp_path)
    (tmp_path / "a.xplane.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ValueError, match="a.xplane.pb: not a profile"):
        profile(tmp_path)
    (tmp_path / "a.xplane.pb").write_bytes(b"")
    with pytest.raises(ValueError, match="no device and no training step"):
        profile(tmp_path)
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(ValueError, match="not a trace"):
        profile(tmp_path / "b.json")


def test_intervals():
    assert timeline.union([(5, 9), (1, 3), (2, 6)]) == [(1, 9)]
    assert timeline.gaps([(2, 4), (6, 8)], 0, 7) == [(0, 2), (4, 6)]
    assert timeline.gaps([], 0, 7) == [(0, 7)]
    assert timeline.overlap([(0, 5), (6, 9)], [(1, 2), (4, 7), (8, 20)]) == [(1, 2), (4, 5), (6, 7), (8, 9)]
    assert dict(timeline.own_times([(0, 10), (1, 4), (2, 3), (6, 9), (12, 14)])) == {
        (0, 10): 4,
        (1, 4): 2,
        (2, 3): 1,
        (6, 9): 3,
        (12, 14): 2,
    }
