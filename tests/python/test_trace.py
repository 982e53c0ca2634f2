"""Recordings: what the files of hr.trace hold, read field by field; what xprof makes of them, where it is installed."""

import json
import subprocess
import sys
import time

import headrace as hr
import pytest

from number_shards import NUMBERS, ROOT
from proto_fields import fields, one, values


def names(plane, field):
    """{id: name} of the metadata of events (field 4) or stats (5)."""
    return {one(entry, 1): one(one(entry, 2), 2).decode() for entry in values(plane, field)}


@pytest.fixture
def recorded(numbers, tmp_path):
    """A recording of 10 steps of at least 2 ms, whose map() takes 1 ms: (trace, seconds of each wait)."""

    def slow(batch):
        time.sleep(0.001)
        return batch

    dataset = hr.TFRecordDataset(numbers).repeat().shuffle(20, seed=1).batch(10).parse(NUMBERS).map(slow)
    with hr.trace(tmp_path / "logs") as trace:
        batches = iter(dataset)
        waits = []
        for _ in range(10):
            asked = time.perf_counter()
            next(batches)
            waits.append(time.perf_counter() - asked)
            time.sleep(0.002)
    batches.close()
    return trace, waits


def test_the_profile_has_steps_waits_and_stages(recorded):
    trace, waits = recorded
    path = trace.files[0]
    host = path.rsplit("/", 1)[1].removesuffix(".xplane.pb")
    space = open(path, "rb").read()
    assert one(space, 4).decode() == host and "/plugins/profile/" in path
    plane = one(space, 1)
    assert one(plane, 2) == b"/host:CPU"
    events, stats = names(plane, 4), names(plane, 5)
    assert {"train", "IteratorGetNextOp::DoCompute", "step", "read", "order", "parse", "map slow"} <= set(events.values())
    steps, waited = [], []
    for line in values(plane, 3):
        spans = []
        for event in values(line, 4):
            name, begin, duration = events[one(event, 1)], one(event, 2), one(event, 3)
            assert duration >= 0 and (not spans or begin >= spans[-1][0])
            spans.append((begin, begin + duration))
            found = {stats[one(stat, 1)]: dict(fields(stat)) for stat in values(event, 4)}
            if name.startswith("IteratorGetNext"):
                waited.append(duration / 1e12)
            if name == "train":
                steps.append((found["step_num"][4], begin, duration))
            elif "_ipl_stage_id" in found:
                assert found["_ipl_stage_id"][4] > 2**40 and found["_ipl_stage_cat"][5] in (b"read", b"preprocessing")
                assert found["_ipl_stage_name"][5].decode() == name
        # One line's spans nest or follow each other.
        for (begin, end), (next_begin, next_end) in zip(spans, spans[1:]):
            assert next_begin >= end or next_end <= end or (begin == next_begin and next_end <= end)
    steps.sort()
    assert [number for number, *_ in steps] == list(range(1, len(steps) + 1)) and len(steps) == 10 == trace.steps
    assert all(duration >= 2e9 for *_, duration in steps)
    # Measured from outside, a wait is what the recording says and the way there and back.
    assert len(waited) == 10 and all(0 < inside <= outside for inside, outside in zip(waited, waits))


def test_perfetto_has_a_track_for_each_thread_and_a_flow_for_each_batch(recorded):
    trace, _ = recorded
    packets = values(open(trace.files[1], "rb").read(), 1)
    tracks = {one(one(packet, 60), 1) for packet in packets if values(packet, 60)}
    assert len(tracks) >= 4
    depth, flows, counter = dict.fromkeys(tracks, 0), {}, []
    for packet in packets:
        for event in values(packet, 11):
            kind, track = one(event, 9), one(event, 11)
            assert track in tracks and values(packet, 8) and one(packet, 10) == 1
            depth[track] += {1: 1, 2: -1, 4: 0}[kind]
            assert depth[track] in (0, 1)
            for flow in values(event, 47):
                flows.setdefault(flow, []).append(one(event, 23).decode())
            counter += values(event, 30)
    assert set(depth.values()) == {0}
    assert max(counter) >= 1 and all(count < 2**63 for count in counter)
    assert sum("order" in spans and "parse" in spans for spans in flows.values()) >= 10


def test_a_trace_of_pytorch_gets_our_events(recorded, tmp_path):
    trace, _ = recorded
    ours = json.load(open(trace.files[2]))["traceEvents"]
    base = 1_700_000_000_000_000_000
    theirs = {"traceEvents": [{"name": "aten::mm", "ph": "X", "ts": 5.0, "dur": 1.0, "pid": 1, "tid": 1}], "baseTimeNanoseconds": base}
    (tmp_path / "torch.json").write_text(json.dumps(theirs))
    assert hr.merge_trace(tmp_path / "torch.json", trace.files[2], tmp_path / "both.json") == len(ours)
    both = json.load(open(tmp_path / "both.json"))
    assert both["baseTimeNanoseconds"] == base and both["traceEvents"][0]["name"] == "aten::mm"
    first = both["traceEvents"][1]
    assert first["ts"] == pytest.approx(ours[0]["ts"] - base / 1000) and first["name"] == ours[0]["name"]
    assert abs(ours[0]["ts"] / 1e6 - time.time()) < 3600
    (tmp_path / "no.json").write_text("[]")
    with pytest.raises(ValueError, match="no.json"):
        hr.merge_trace(tmp_path / "no.json", trace.files[2], tmp_path / "both.json")


def test_one_recording_at_a_time(tmp_path):
    with hr.trace(tmp_path) as outer:
        with pytest.raises(ValueError, match="under way"):
            hr.trace(tmp_path).__enter__()
    assert outer.files == [] and outer.steps == 0
    with hr.trace(tmp_path):
        pass


def test_runs_do_not_share_a_folder(numbers, tmp_path):
    paths = []
    for _ in range(2):
        with hr.trace(tmp_path) as trace:
            list(hr.TFRecordDataset(numbers).batch(50).parse(NUMBERS))
        paths += trace.files
    assert len(set(paths)) == 6


def test_the_command_runs_a_script(numbers, tmp_path):
    pytest.importorskip("click")
    script = tmp_path / "loop.py"
    script.write_text(
        "import sys, headrace as hr\n"
        "for batch in hr.TFRecordDataset(sys.argv[1:]).batch(10).parse({'id': hr.FixedLenFeature([], hr.int64)}): pass\n"
        "sys.exit(3)\n"
    )
    command = [sys.executable, "-m", "headrace", "trace", str(tmp_path / "logs"), str(script), *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin"})
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 3, done.stderr
    assert list((tmp_path / "logs/plugins/profile").glob("*/*.xplane.pb"))


def wait_milliseconds(trace):
    """Of the events of Chrome's form, in order."""
    events = json.load(open(trace.files[2]))["traceEvents"]
    return [event["dur"] / 1e3 for event in sorted(events, key=lambda event: event["ts"]) if event["name"] == "wait"]


def test_xprof_reads_the_profile(recorded):
    convert = pytest.importorskip("xprof.convert.raw_to_tool_data")
    trace, _ = recorded
    data, _ = convert.xspace_to_tool_data([trace.files[0]], "input_pipeline_analyzer", {})
    steps = next(table for table in json.loads(data) if "infeed_time_ms_avg" in table.get("p", {}))
    # The first and the last step may be cut, and are left out.
    assert [row["c"][0]["v"] for row in steps["rows"]] == [f"train {number}" for number in range(2, 10)]
    column = {entry["id"]: place for place, entry in enumerate(steps["cols"])}
    input_ms = sum(row["c"][column["infeedTimeMs"]]["v"] for row in steps["rows"])
    assert input_ms == pytest.approx(sum(wait_milliseconds(trace)[1:9]), rel=1e-3)
    viewer, _ = convert.xspace_to_tool_data([trace.files[0]], "trace_viewer", {})
    assert {"read", "order", "parse", "map slow"} <= {event.get("name") for event in json.loads(viewer)["traceEvents"]}
