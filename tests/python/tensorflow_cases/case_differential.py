"""Damaged records beside TensorFlow: the short run of tests/fuzz/against_tensorflow.py, and that it finds what it should."""

import random
import sys
from pathlib import Path

import pytest

_FUZZ = Path(__file__).parents[2] / "fuzz"
sys.path[:0] = [str(_FUZZ), str(Path(__file__).parents[1])]

from differential import judge, protobuf_side, reading, wire
from differential.examples import ExampleQuestion
from differential.mutations import mutate
from differential.questions import questions
from differential.sequences import SequenceQuestion
from wire_bytes import field, group, varint, varint_field

import headrace as hr

QUESTIONS = {question.name: question for question in questions()}


@pytest.mark.parametrize("name", QUESTIONS)
def test_damaged_records_are_read_alike(name):
    judged = judge.Judge(QUESTIONS[name], random.Random(f"2 {name}"))
    judged.run(256)
    assert not judged.findings, "\n".join(map(str, judged.findings[:5]))
    assert 0 < judged.accepted < judged.records


@pytest.mark.parametrize("name", QUESTIONS)
def test_records_without_damage_are_accepted(name):
    question = QUESTIONS[name]
    own = [record for record in list(question.seeds(random.Random(1)))[:16] if question.not_asked(record) is None]
    assert own and question.theirs.accepts(own).all() and question.ours_accepts(own).all()
    assert question.same(own, own)


@pytest.mark.parametrize(
    "name", [name for name, question in QUESTIONS.items() if isinstance(question, (ExampleQuestion, SequenceQuestion))]
)
def test_readings_are_protobufs(name):
    """What the judge holds against both readers is what protobuf itself reads."""
    question, generator = QUESTIONS[name], random.Random(f"3 {name}")
    seeds = list(question.seeds(generator))
    alike = 0
    for _ in range(300):
        record = mutate(generator.choice(seeds), seeds, generator)
        difference = protobuf_side.difference(record, isinstance(question, SequenceQuestion))
        assert not difference, f"{difference}: {record.hex()}"
        alike += difference is not None
    assert alike > 200


def examined(record, name="lists"):
    judged = judge.Judge(QUESTIONS[name], random.Random(1))
    judged.judge([record])
    return judged


CHUNKS = field(3, field(1, b"\1") + field(1, b"\2"))


@pytest.mark.parametrize(
    "record, rule",
    [
        (group(9, b"") + hr.make_example({"i": 1}), "group at the top"),
        (b"\x8a\x00" + hr.make_example({"i": 1})[1:], "tag longer than it needs"),
        (field(1, field(1, field(1, b"vi") + field(2, CHUNKS))), "more behind the first chunk"),
        (field(1, field(1, field(1, b"i"))), "map entry of another form than key and value"),
        (field(1, field(1, field(1, b"vf") + field(2, field(2, field(1, b"12345"))))), "packed floats of a length that is no multiple of 4"),
    ],
)
def test_a_deliberate_difference_is_met_by_its_name(record, rule):
    judged = examined(record)
    assert not judged.findings and judged.met == {rule: 1}


def test_a_difference_without_a_reason_is_a_finding(monkeypatch):
    question = QUESTIONS["lists"]
    record = hr.make_example({"i": 1, "vi": [1, 2]})
    monkeypatch.setattr(question, "ours_accepts", lambda records: [False] * len(records))
    (finding,) = examined(record).findings
    assert finding.record == record and "without a reason" in finding.what
    monkeypatch.undo()
    monkeypatch.setattr(question, "same", lambda ours, theirs: False)
    (finding,) = examined(record).findings
    assert "without a reason" in finding.what


def test_a_form_does_not_excuse_other_values(monkeypatch):
    question = QUESTIONS["lists"]
    record = field(1, field(1, field(1, b"vi") + field(2, CHUNKS)))
    monkeypatch.setattr(question, "written", lambda read: hr.make_example({"vi": [1, 3]}))
    (finding,) = examined(record).findings
    assert "other values than its plain form" in finding.what


def test_single_floats_beyond_the_shape_do_not_reach_tensorflow(monkeypatch):
    single = b"".join(varint(1 << 3 | wire.FIXED32) + b"\0\0\0\0" for _ in range(1000))
    record = field(1, field(1, field(1, b"f") + field(2, field(2, single))))
    seen = []
    accepts = QUESTIONS["lists"].theirs.accepts
    monkeypatch.setattr(QUESTIONS["lists"].theirs, "accepts", lambda records: seen.extend(records) or accepts(records))
    judged = examined(record)
    assert not judged.findings and judged.met == {"single floats beyond the shape": 1}
    assert record not in seen and len(seen) == 1


def test_a_claim_that_tensorflow_is_not_asked_about_must_be_refused(monkeypatch):
    from tensor_proto_cases import head

    question = QUESTIONS["parse_tensor float32"]
    claim = head("float32", 2**40)
    judged = judge.Judge(question, random.Random(1))
    judged.judge([claim])
    assert not judged.findings and judged.met == {"tensor of a million elements": 1}
    monkeypatch.setattr(question, "ours_accepts", lambda records: [True] * len(records))
    judged.judge([claim])
    (finding,) = judged.findings
    assert finding.record == claim and "claim" in finding.what


def test_a_reading_is_written_in_the_plainest_form():
    entry = field(2, varint_field(9, 1) + CHUNKS) + field(1, b"vi")
    record = field(1, field(1, entry)) + field(1, varint_field(1, 3))
    read = reading.read(record, {b"vi"})
    assert read.features == {b"vi": ("int64", (1, 2))}
    assert reading.written(read) == hr.make_example({"vi": [1, 2]})
    assert read.names == {
        "value before key",
        "unknown field before the list of a Feature",
        "more behind the first chunk",
        "unknown field between map entries",
    }
