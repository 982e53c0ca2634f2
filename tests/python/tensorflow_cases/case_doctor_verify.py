"""doctor() for tf.data programs: gains, strategies, programs that cannot be read to their end."""

import dataclasses
import time

import doctor_programs as programs
import pytest
import tensorflow as tf

from headrace import tensorflow as hrtf
from headrace._doctor import tf_gain, tf_measure, tf_model, tf_rules_memory, tf_rules_speed
from headrace._doctor.tf_case import Case
from headrace._doctor.tf_program import Step, read
from headrace.findings import Gain

AUTO = tf.data.AUTOTUNE


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return programs.write(tmp_path_factory.mktemp("doctor"))


@pytest.fixture(autouse=True)
def short(monkeypatch):
    programs.shorten(monkeypatch)


def names(diagnosis):
    return {finding.name for finding in diagnosis.findings}


def finding(diagnosis, name):
    return next(finding for finding in diagnosis.findings if finding.name == name)


def as_written():
    """Options without TensorFlow's rewrites."""
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return options


def slow(records, seconds, **given):
    """A program that sleeps in each batch, however many run at once."""

    def sleep(batch):
        tf.numpy_function(lambda: time.sleep(seconds), [], [])
        return batch

    return records.batch(8, drop_remainder=True).map(sleep, **given)


def test_verify_applies_the_fix(paths, capsys):
    dataset = tf.data.TFRecordDataset(paths, num_parallel_reads=AUTO).repeat().shuffle(300).map(programs.load, AUTO).batch(16)
    diagnosis = hrtf.doctor(dataset, verify=True)
    printed = capsys.readouterr().out
    for name in ("no prefetch", "parse before batch"):
        told = finding(diagnosis, name)
        assert told.predicted.ratio > 0 and told.achieved.ratio > 0
        assert f"{name}: predicted {told.predicted}, achieved {told.achieved}" in printed
    assert diagnosis.takeover.startswith("taken over\n  the engine does:") and "  checked: " in diagnosis.takeover
    assert f"accelerate(dataset):\n    {diagnosis.takeover.splitlines()[0]}" in str(diagnosis)
    assert "hr.TFRecordDataset" in diagnosis.equivalent and diagnosis.facts["accelerate"] == "taken over"


def test_a_prefetch_hides_a_slow_batch_behind_a_slow_step(paths):
    """Sleeps of 30 ms on both sides: apart 60 ms a batch, at once 30, on any machine."""
    dataset = slow(tf.data.TFRecordDataset(paths).repeat(), 0.03)
    # TensorFlow's default rewrites add the prefetch by themselves.
    assert hrtf.doctor(dataset, step_time=10.0).input_bound is False
    diagnosis = hrtf.doctor(dataset.with_options(as_written()), step_time=0.03, verify=True)
    told = finding(diagnosis, "no prefetch")
    assert diagnosis.input_bound is True
    assert 0.1 < sum(diagnosis.timeline) / len(diagnosis.timeline) < 0.6  # as written, no batch is made while a step runs
    assert told.predicted.ratio > 1.2 and told.achieved.ratio > 1.2


def test_a_slow_tail_wants_more_batches_ahead(paths):
    """Every 16th batch takes 0.2 s, a step 30 ms: one ahead does not last, eight do."""

    def sleep(records):
        number = iter(range(1 << 30))
        pause = lambda: time.sleep(0.2 if next(number) % 16 == 15 else 0.001)
        return records.map(lambda batch: tf.py_function(lambda x: (pause(), x)[1], [batch], tf.string))

    dataset = sleep(tf.data.TFRecordDataset(paths).repeat().batch(8, drop_remainder=True)).prefetch(1)
    diagnosis = hrtf.doctor(dataset.with_options(as_written()), step_time=0.03)
    told = finding(diagnosis, "slow tail")
    assert diagnosis.input_bound and ".prefetch(8)  # changed" in told.fix and "with 1 ahead" in told.evidence
    assert not [name for name in tail_names(dataset.prefetch(tf.data.AUTOTUNE)) if name == "slow tail"]


def tail_names(dataset):
    return [found.name for found in hrtf.doctor(dataset.with_options(as_written()), step_time=0.03).findings]


def test_variables_that_nothing_reads(paths, monkeypatch):
    monkeypatch.setenv("TF_NCCL_USE_STREAM_MEMCPY", "1")
    told = finding(hrtf.doctor(tf.data.TFRecordDataset(paths[:1]).batch(8), step_time=60.0), "unwanted variables")
    assert "reads no variable of that name" in told.evidence and told.fix.startswith("unset TF_NCCL_USE_STREAM_MEMCPY")


def test_the_dataset_stays_as_it_is(paths):
    dataset = tf.data.TFRecordDataset(paths[:1]).batch(8)
    before = [batch.numpy().tolist() for batch in dataset]
    hrtf.doctor(dataset)
    assert [batch.numpy().tolist() for batch in dataset] == before


def test_batches_that_replicas_cannot_share(paths, strategy):
    files = tf.data.TFRecordDataset(paths, num_parallel_reads=AUTO).shuffle(300)
    odd = files.batch(30).map(programs.parse, num_parallel_calls=AUTO).prefetch(AUTO)
    diagnosis = hrtf.doctor(odd, strategy)
    assert {"batch not divisible", "remainder"} <= names(diagnosis)
    assert ".batch(28, drop_remainder=True)" in diagnosis.program
    assert not {"batch not divisible", "remainder"} & names(hrtf.doctor(odd))
    even = files.batch(32, drop_remainder=True).map(programs.parse, num_parallel_calls=AUTO).prefetch(AUTO)
    assert names(hrtf.doctor(even, strategy)) <= {"accelerate"}


def test_prefetch_to_device_under_a_strategy(paths, strategy):
    dataset = programs.end(programs.read(paths).repeat().shuffle(300))
    dataset = dataset.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
    assert "prefetch_to_device under a strategy" in names(hrtf.doctor(dataset, strategy))
    assert "prefetch_to_device under a strategy" not in names(hrtf.doctor(dataset))


def test_what_cannot_be_read(paths):
    """A zip is opaque: what stands behind it is told."""
    records = tf.data.TFRecordDataset(paths).repeat()
    zipped = tf.data.Dataset.zip((records, tf.data.Dataset.range(1 << 40))).batch(8, drop_remainder=True)
    diagnosis = hrtf.doctor(zipped)
    assert "no prefetch" in names(diagnosis)
    assert "ZipDataset" in diagnosis.facts["accelerate"]
    generated = tf.data.Dataset.from_generator(lambda: iter(range(10_000)), output_signature=tf.TensorSpec([], tf.int64))
    assert "python in loop" in names(hrtf.doctor(generated.batch(8).prefetch(2)))
    combined = tf.data.Dataset.sample_from_datasets([records, records]).batch(8).prefetch(2)
    assert "no prefetch" not in names(hrtf.doctor(combined))


def test_other_shapes_of_programs(paths, tmp_path):
    inside = tf.data.Dataset.from_tensor_slices(paths).interleave(
        lambda path: tf.data.TFRecordDataset(path).map(programs.load), cycle_length=2, num_parallel_calls=AUTO
    )
    assert "parse before batch" in names(hrtf.doctor(inside.batch(8).prefetch(2)))
    padded = programs.read(paths).map(programs.load).padded_batch(8, ([32, 32, None], [], [])).prefetch(2)
    diagnosis = hrtf.doctor(padded)
    assert {"sequential map", "parse before batch"} <= names(diagnosis)
    assert ".padded_batch(8, padded_shapes=padded_shapes, padding_values=padding_values)" in diagnosis.program
    cached = programs.read(paths).batch(8).map(programs.parse, num_parallel_calls=AUTO).cache(str(tmp_path / "cache"))
    assert "no prefetch" in names(hrtf.doctor(cached))
    again = programs.read(paths).batch(8).map(programs.parse, num_parallel_calls=AUTO).unbatch().batch(8)
    assert "no prefetch" in names(hrtf.doctor(again))


def test_a_fix_that_makes_it_slower_is_none(paths, monkeypatch):
    dataset = programs.end(tf.data.TFRecordDataset(paths).shuffle(600).repeat())
    told = {"gain": Gain(1.4, 0.1)}
    monkeypatch.setattr(tf_gain.Gains, "_run", lambda *_: told["gain"])
    diagnosis = hrtf.doctor(dataset)
    assert finding(diagnosis, "sequential read").predicted == told["gain"]
    assert ".interleave(tf.data.TFRecordDataset, cycle_length=4, block_length=16" in diagnosis.program
    told["gain"] = Gain(0.9, 0.1)  # nobody can tell
    assert "sequential read" in names(hrtf.doctor(dataset))
    told["gain"] = Gain(0.6, 0.1)
    diagnosis = hrtf.doctor(dataset)
    assert "sequential read" not in names(diagnosis) and diagnosis.program == ""
    assert found(tf_rules_speed.sequential_read, dataset) == ["sequential read"]
    assert found(tf_rules_speed.sequential_read, tf.data.TFRecordDataset(paths[:1]).batch(8)) == []


def test_bad_arguments(paths):
    with pytest.raises(ValueError, match="must be a tf.data.Dataset"):
        hrtf.doctor([1, 2])
    with pytest.raises(ValueError, match="step_time=0"):
        hrtf.doctor(tf.data.TFRecordDataset(paths), step_time=0)
    with pytest.raises(ValueError, match="gives no batch"):
        hrtf.doctor(tf.data.TFRecordDataset(paths).batch(10_000, drop_remainder=True))


def costed(dataset, source, *costs):
    """The Program with such costs, ms a batch, as CPU time."""
    program = read(dataset)
    steps = tuple(dataclasses.replace(step, cpu_s=cost / 1e3, wall_s=cost / 1e3) for step, cost in zip(program.steps, costs))
    assert len(steps) == len(program.steps) == len(costs)
    return dataclasses.replace(program, steps=steps, cpu_s=source / 1e3, wall_s=source / 1e3)


def test_the_model(paths):
    """By hand: parts that one thread does are added, the slowest part counts, and all of the CPU time on all cores."""
    records = tf.data.TFRecordDataset(paths)
    plain = as_written()
    ms = lambda dataset, costs, cores, step=0: 1e3 * tf_model.period_s(costed(dataset, *costs), cores, step / 1e3)  # noqa: E731
    sequential = records.shuffle(8).map(programs.load).batch(4).with_options(plain)
    assert ms(sequential, (1, 1, 6, 2), 4) == pytest.approx(10)
    assert ms(sequential, (1, 1, 6, 2), 4, step=5) == pytest.approx(15)
    ahead = records.shuffle(8).map(programs.load).batch(4).prefetch(2).with_options(plain)
    assert ms(ahead, (1, 1, 6, 2, 0), 4, step=5) == pytest.approx(10)
    parallel = records.shuffle(8).map(programs.load, AUTO).batch(4).with_options(plain)
    assert ms(parallel, (1, 1, 6, 2), 4) == pytest.approx(2.5)  # 10 ms on 4 cores
    assert ms(parallel, (1, 1, 6, 2), 100) == pytest.approx(2)  # the batch, in the consumer's thread, or the reading
    two = records.shuffle(8).map(programs.load, 2).batch(4).with_options(plain)
    assert ms(two, (1, 1, 6, 2), 100) == pytest.approx(3)
    cached = records.map(programs.load).cache().batch(4).with_options(plain)
    assert ms(cached, (1, 6, 0, 2), 4) == pytest.approx(2)
    rewritten = records.shuffle(8).map(programs.load).batch(4)
    assert ms(rewritten, (1, 1, 6, 2), 4) == pytest.approx(2.5)
    assert tf_model.as_run(read(rewritten)).steps[-1] == Step("prefetch", {"buffer_size": AUTO}, None, 0.0, 0.0)


def found(rule, dataset, **run):
    """Names of the Faults of a rule for a program that ran like that."""
    base = tf_measure.Run(**{"batches": 9, "wall_s": 0.1, "cpu_s": 0.1, "spread": 0.0, "free_cores": 2.0, **run})
    case = Case(read(dataset), base, dataset.element_spec)
    return [fault.name for fault in rule(case)]


def test_memory(monkeypatch, paths):
    floats = tf.data.Dataset.from_tensors(tf.zeros([1 << 18])).repeat()  # 1 MiB
    batches = floats.batch(8, drop_remainder=True)
    assert found(tf_rules_memory.fresh_memory, batches, faults=2048.0) == ["fresh batch memory"]
    assert found(tf_rules_memory.fresh_memory, batches, faults=100.0) == []
    assert found(tf_rules_memory.fresh_memory, floats.batch(2, drop_remainder=True), faults=2048.0) == []
    monkeypatch.setattr(tf_rules_memory, "memory_bytes", lambda: 1 << 30)
    assert found(tf_rules_memory.huge_prefetch, batches.prefetch(33)) == ["huge prefetch"]
    assert found(tf_rules_memory.huge_prefetch, batches.prefetch(31)) == []
    assert found(tf_rules_memory.huge_prefetch, batches.prefetch(AUTO)) == []
    assert found(tf_rules_memory.huge_shuffle, floats.shuffle(300).batch(8)) == ["huge shuffle"]
    assert found(tf_rules_memory.huge_shuffle, floats.shuffle(200).batch(8)) == []
    assert found(tf_rules_memory.huge_shuffle, batches.shuffle(33)) == ["huge shuffle"]
    # Records of 24 KiB, of which the files have 1024, however large the buffer.
    assert found(tf_rules_memory.huge_shuffle, tf.data.TFRecordDataset(paths).shuffle(1 << 20).batch(8)) == []


def test_huge_records(tmp_path):
    value = tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes(300_000)]))
    record = tf.train.Example(features=tf.train.Features(feature={"text": value})).SerializeToString()
    path = str(tmp_path / "huge.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(8):
            writer.write(record)
    spec = {"text": tf.io.FixedLenFeature([], tf.string)}
    dataset = tf.data.TFRecordDataset(path).batch(4)
    dataset = dataset.map(lambda records: tf.io.parse_example(records, spec), num_parallel_calls=AUTO).prefetch(2)
    assert "batched parse of huge records" in names(hrtf.doctor(dataset))
