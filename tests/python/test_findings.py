"""The form of what the doctor says."""

import json

from headrace.findings import Diagnosis, Finding, Gain

FINDING = Finding(
    name="sequential read",
    cause="One of 16 shards is read at a time.",
    evidence="read busy 3.2 s of 3.3 s",
    fix="dataset.interleave(16)\n# and nothing else",
    predicted=Gain(2.0, 0.1),
)


def test_a_finding_prints_its_gain_its_evidence_and_its_code():
    assert str(FINDING).splitlines() == [
        "sequential read: predicted 2.00x ± 0.10",
        "  One of 16 shards is read at a time.",
        "  read busy 3.2 s of 3.3 s",
        "    dataset.interleave(16)",
        "    # and nothing else",
    ]


def test_a_gain_below_its_error_is_not_resolved():
    assert Gain(1.2, 0.1).resolved
    assert Gain(0.8, 0.1).resolved
    assert not Gain(1.05, 0.1).resolved


def test_a_diagnosis_says_whether_the_input_limits_and_by_what():
    text = str(Diagnosis("data/*.tfrecord", True, "storage", (FINDING,), {"records_per_second": 1234.5678, "shards": 16}))
    assert text.startswith("data/*.tfrecord: input-bound, limited by storage\n  records_per_second 1235\n  shards 16\n1. sequential read")


def test_no_finding_is_said_too():
    assert str(Diagnosis("x", False, "accelerators", (), {})) == "x: not input-bound, limited by accelerators\nnothing to gain was found"


def test_a_diagnosis_is_plain_values():
    diagnosis = Diagnosis("x", None, "cores", (FINDING,), {})
    assert json.loads(json.dumps(diagnosis.as_dict()))["findings"][0]["predicted"] == {"ratio": 2.0, "error": 0.1}
