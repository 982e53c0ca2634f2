"""doctor() for tf.data programs: a planted fault is named, a healthy program has none."""

import doctor_programs as programs
import pytest

from headrace import tensorflow as hrtf
from headrace._doctor import tf_gain
from headrace._doctor.tf_program import read as program_of
from headrace.findings import Gain

FAULTS = (
    *("no prefetch", "early prefetch", "sequential map", "fixed parallelism", "sequential read", "tiny records", "compressed"),
    *("parse before batch", "nested tensor", "python in loop", "wasted features", "order forced", "few shards"),
    *("skewed shards", "shuffle after batch", "shuffle of decoded data", "small shuffle", "epochs mixed"),
    *("refill at the epoch edge", "repeat after batch", "cache misplaced"),
)
HEALTHY = ("interleave", "shuffle before repeat", "num_parallel_reads", "one file", "cache")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doctor")
    paths = programs.write(folder)
    return programs.healthy(paths), programs.faulty(paths, folder), paths


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Short runs: here the names matter, not the numbers. What is told by trying it gains."""
    monkeypatch.setattr(tf_gain.Gains, "_run", lambda *_: Gain(1.5, 0.1))
    programs.shorten(monkeypatch)


def names(diagnosis):
    return {finding.name for finding in diagnosis.findings}


def corrected(diagnosis):
    """The corrected program, made from its source."""
    namespace = {**vars(programs), "files": ["a", "b"]}
    exec(diagnosis.program, namespace)
    return namespace["dataset"]


def test_every_fault_is_planted(made):
    healthy, faulty, _ = made
    assert tuple(faulty) == FAULTS and tuple(healthy) == HEALTHY


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name, made):
    diagnosis = hrtf.doctor(made[1][name])
    assert name in names(diagnosis), str(diagnosis)
    finding = next(finding for finding in diagnosis.findings if finding.name == name)
    assert finding.cause and finding.evidence and finding.fix
    assert name in str(diagnosis)
    if diagnosis.program:
        assert corrected(diagnosis).element_spec == made[1][name].element_spec


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(name, made):
    # The line is proposed wherever it gains; there is nothing else to say.
    diagnosis = hrtf.doctor(made[0][name])
    assert names(diagnosis) <= {"accelerate"}, str(diagnosis)
    assert diagnosis.program == "" and diagnosis.input_bound is None


def test_nothing_is_said_where_the_accelerators_are_busy(made):
    diagnosis = hrtf.doctor(made[1]["parse before batch"], step_time=60.0)
    assert diagnosis.input_bound is False and diagnosis.limit == "accelerators"
    assert diagnosis.findings == ()


def test_a_fast_step_waits(made):
    diagnosis = hrtf.doctor(made[1]["parse before batch"], step_time=1e-6)
    assert diagnosis.input_bound is True and diagnosis.limit != "accelerators"
    assert "parse before batch" in names(diagnosis)


def test_the_corrected_program(made):
    healthy, _, paths = made
    batches = programs.read(paths).shuffle(300).batch(32, drop_remainder=True)
    diagnosis = hrtf.doctor(batches.map(programs.parse, num_parallel_calls=999).repeat())
    assert {"repeat after batch", "no prefetch", "fixed parallelism"} <= names(diagnosis)
    wanted = program_of(healthy["shuffle before repeat"])
    assert [str(step) for step in program_of(corrected(diagnosis)).steps] == [str(step) for step in wanted.steps]
