"""The doctor of headrace pipelines: it names each planted fault, and says nothing of what is well.

Planted costs are far above what a busy machine adds; no test asks how fast something was.
"""

import json
import time

import headrace as hr
import numpy as np
import pytest
from headrace._doctor import diagnose, shards, storage
from headrace._doctor.rebuild import Change, rebuild
from headrace.findings import Gain
from headrace.settings import available_cpus

from number_shards import NUMBERS, ids, number_record, write_numbers, write_shard

VALUES = 2000
WIDE = {"id": hr.FixedLenFeature([], hr.int64), "x": hr.FixedLenFeature([VALUES], hr.float32)}
SHORT = 0.2  # seconds of a measurement


@pytest.fixture(autouse=True)
def trials(monkeypatch):
    """No fix is tried, since what one gains on a busy machine is chance; a function sets how many are."""
    allow = lambda count: monkeypatch.setattr(diagnose, "_MOST_TRIALS", count)
    allow(0)
    return allow


@pytest.fixture(scope="module")
def wide_records():
    values = np.random.default_rng(1).random((400, VALUES), dtype=np.float32)
    return [hr.make_example({"id": number, "x": row}) for number, row in enumerate(values)]


@pytest.fixture
def wide(tmp_path, wide_records):
    """A function that writes the wide records into shards; their paths."""

    def write(count=4, **options):
        return [write_shard(tmp_path / f"{count}-{i}.tfrecord", wide_records[i::count], **options) for i in range(count)]

    return write


def pipeline(files, features=WIDE, **options):
    return hr.TFRecordDataset(files, **options).interleave(4, 4).shuffle(50).batch(40).parse(features)


def names(diagnosis):
    return [finding.name for finding in diagnosis.findings]


def finding(diagnosis, name):
    [found] = [finding for finding in diagnosis.findings if finding.name == name]
    return found


def test_silent_where_the_accelerators_never_wait(wide):
    diagnosis = pipeline(wide()).prefetch_to_device(["/CPU:0", "/CPU:1"]).doctor(step_time=60, replicas=2, seconds=SHORT)
    assert diagnosis.input_bound is False and diagnosis.limit == "the accelerators" and names(diagnosis) == []
    assert diagnosis.facts["shards"] == 4 and diagnosis.facts["compression"] == "none"
    assert diagnosis.facts["record_bytes"] > 4 * VALUES
    assert diagnosis.facts["accelerator_utilisation"] == pytest.approx(1)
    assert min(diagnosis.timeline) > 0.99 and diagnosis.facts["timeline_seconds"] >= 60


def test_gzip(wide):
    diagnosis = pipeline(wide(compression="gzip")).doctor(seconds=SHORT)
    assert "compressed shards" in names(diagnosis)
    found = finding(diagnosis, "compressed shards")
    assert found.predicted.ratio > 1.5 and "gzip" in found.cause and "repair_file" in found.fix
    assert diagnosis.input_bound is None and diagnosis.facts["inflate_ms_per_batch"] > diagnosis.facts["parse_ms_per_batch"]


@pytest.mark.skipif(available_cpus() < 2, reason="one thread is all there is")
def test_one_shard_of_two(wide):
    diagnosis = hr.TFRecordDataset(wide(1, compression="gzip")).batch(40).parse(WIDE).doctor(seconds=SHORT)
    assert diagnosis.limit == "shards read side by side"
    found = finding(diagnosis, "few shards")
    assert found.predicted.ratio > 1.25 and "1 shard of" in found.evidence


@pytest.mark.skipif(available_cpus() < 2, reason="one thread is all there is")
def test_shards_one_after_another(tmp_path, wide_records):
    # Larger than what is read ahead of each file.
    files = [write_shard(tmp_path / f"{i}.tfrecord", wide_records, compression="gzip") for i in range(4)]
    found = finding(hr.TFRecordDataset(files).batch(40).parse(WIDE).doctor(seconds=SHORT), "sequential reads")
    assert found.predicted.ratio > 1.25 and "interleave(cycle_length=4" in found.fix


@pytest.mark.skipif(available_cpus() < 2, reason="one thread is all there is")
def test_one_thread(wide):
    found = finding(pipeline(wide(compression="gzip"), num_threads=1).doctor(seconds=SHORT), "few threads")
    assert found.predicted.ratio > 1.25 and "num_threads allows 1 worker thread;" in found.cause


def test_a_slow_function_and_what_its_end_gains(numbers):
    def slow(batch):
        time.sleep(0.03)
        return batch

    diagnosis = pipeline(numbers, NUMBERS).map(slow).doctor(seconds=SHORT, verify=True)
    assert names(diagnosis)[0] == "Python function" and diagnosis.limit == "Python functions"
    [found] = [finding for finding in diagnosis.findings if finding.name == "Python function"]
    assert "map(slow)" in found.cause
    assert found.predicted.ratio > 2 and found.achieved.ratio > 2


def test_the_best_fixes_are_tried(numbers, trials):
    """The model thinks that both functions are worth leaving out; the trial of one finds the same."""

    def slow(batch):
        time.sleep(0.03)
        return batch

    def slower(batch):
        time.sleep(0.06)
        return batch

    trials(1)
    diagnosis = pipeline(numbers, NUMBERS).map(slow).map(slower).doctor(seconds=SHORT)
    tried = next(found for found in diagnosis.findings if "map(slower)" in found.cause)
    assert tried.modelled.ratio > 1.5 and 1.5 < tried.predicted.ratio < 4.5
    assert f"predicted {tried.predicted}, modelled {tried.modelled}" in str(diagnosis)
    assert all(found.modelled is None for found in diagnosis.findings if found is not tried)


def test_a_trial_counts_what_the_accelerators_can_use(numbers, trials):
    def slow(batch):
        time.sleep(0.05)
        return batch

    trials(1)
    diagnosis = pipeline(numbers, NUMBERS).map(slow).doctor(step_time=0.02, seconds=SHORT)
    found = finding(diagnosis, "Python function")
    assert found.modelled is not None and 1.5 < found.predicted.ratio < 6


def test_a_fix_that_gains_nothing_when_tried_is_not_named(numbers, trials, monkeypatch):
    def slow(batch):
        time.sleep(0.03)
        return batch

    trials(1)
    monkeypatch.setattr(diagnose.applied, "predicted", lambda *_: Gain(1.01, 0.02))
    assert names(pipeline(numbers, NUMBERS).map(slow).doctor(seconds=SHORT)) == []


def test_which_of_several_functions_is_slow(numbers):
    def slow(batch):
        time.sleep(0.03)
        return batch

    diagnosis = pipeline(numbers, NUMBERS).map(lambda batch: batch, name="quick").map(slow).doctor(seconds=SHORT)
    assert names(diagnosis) == ["Python function"] and "map(slow)" in diagnosis.findings[0].cause


class SlowFile:
    """A file whose reads come late, as from the other end of a network."""

    def __init__(self, path):
        self._file = open(path, "rb")
        self.seek, self.tell, self.close = self._file.seek, self._file.tell, self._file.close

    def read(self, size):
        time.sleep(0.05)
        return self._file.read(size)


def test_slow_storage(wide):
    diagnosis = pipeline(wide(), open=SlowFile).doctor(seconds=SHORT, verify=True)
    assert names(diagnosis)[0] == "slow storage" and diagnosis.limit == "storage" and diagnosis.facts["io"] == "Python IO"
    found = diagnosis.findings[0]
    assert found.predicted.ratio > 2 and found.achieved.ratio > 2 and "open=" in found.cause


def test_input_bound_by_the_step_time(numbers):
    def slow(batch):
        time.sleep(0.05)
        return batch

    diagnosis = pipeline(numbers, NUMBERS).map(slow).doctor(step_time=0.02, seconds=SHORT)
    assert diagnosis.input_bound is True and names(diagnosis)[0] == "Python function"
    assert diagnosis.facts["accelerator_utilisation"] < 0.45
    assert 0.1 < sum(diagnosis.timeline) / len(diagnosis.timeline) < 0.5
    assert diagnosis.findings[0].predicted.ratio < 6  # no faster than the accelerators


@pytest.mark.parametrize(("batch", "replicas", "sizes"), [(42, 4, ("40", "44")), (3, 4, ("4", "4"))])
def test_a_batch_that_does_not_divide(numbers, batch, replicas, sizes):
    dataset = hr.TFRecordDataset(numbers).interleave(4, 4).batch(batch).parse(NUMBERS)
    found = finding(dataset.doctor(step_time=60, replicas=replicas, seconds=SHORT), "uneven batch")
    assert found.predicted is None and all(size in found.fix for size in sizes)


def test_a_shuffle_of_less_than_a_shard(numbers):
    def doctor(dataset):
        return names(dataset.shuffle(5).batch(10).parse(NUMBERS).doctor(step_time=60, seconds=SHORT))

    assert doctor(hr.TFRecordDataset(numbers)) == ["small shuffle"]
    assert doctor(hr.TFRecordDataset(numbers).interleave(4)) == []


def test_features_that_nobody_reads(wide):
    dataset = pipeline(wide(), {"id": WIDE["id"]}, open=SlowFile)
    found = finding(dataset.doctor(seconds=SHORT), "unread features")
    assert "only id" in found.fix and found.evidence.startswith("x: 100 %") or "x: 99" in found.evidence
    assert found.predicted.ratio > 1.5


def test_the_iterators_of_the_dataset_are_left_alone(numbers):
    dataset = hr.TFRecordDataset(numbers).shuffle(10, seed=1).batch(10).parse(NUMBERS)
    untouched = hr.TFRecordDataset(numbers).shuffle(10, seed=1).batch(10).parse(NUMBERS)
    assert ids(dataset) == ids(untouched)
    dataset.doctor(seconds=SHORT)
    running = iter(dataset)
    first = next(running)["id"].numpy().tolist()
    running.doctor(step_time=1, seconds=SHORT)
    assert first + ids(running) == ids(untouched)


def test_the_step_time_of_an_iteration(numbers):
    dataset = hr.TFRecordDataset(numbers).repeat().batch(10).parse(NUMBERS)
    with iter(dataset) as batches:
        assert batches._step_time() is None
        for _ in range(12):
            next(batches)
            time.sleep(0.05)
        assert batches._step_time() > 0.045
        assert batches.doctor(seconds=SHORT).facts["step_ms"] > 45


def test_combined_datasets(numbers):
    parts = [hr.TFRecordDataset(numbers[:2]), hr.TFRecordDataset(numbers[2:])]
    dataset = hr.sample_from_datasets(parts, seed=1).batch(10).parse(NUMBERS)
    diagnosis = dataset.doctor(step_time=60, seconds=SHORT)
    assert names(diagnosis) == [] and "shards" not in diagnosis.facts

    def slow(batch):
        time.sleep(0.03)
        return batch

    assert names(dataset.map(slow).doctor(seconds=SHORT)) == ["Python function"]


@pytest.mark.parametrize(
    "steps",
    [
        lambda dataset: dataset.shuffle("global", seed=1).batch(10).parse(NUMBERS),
        lambda dataset: dataset.filter(hr.feature("id") < 50).batch(10).parse(NUMBERS),
        lambda dataset: dataset.batch(10).parse(NUMBERS).cache(),
        lambda dataset: dataset.batch(10).parse(NUMBERS).resident(),
        lambda dataset: dataset.batch(10),
        lambda dataset: dataset.take(15).batch(10).unbatch().batch(5).parse(NUMBERS),
        lambda dataset: dataset.bucket_by_sequence_length("x", [3], [5, 10]).parse(NUMBERS),
    ],
)
def test_silent_on_pipelines_of_all_forms(numbers, steps):
    assert names(steps(hr.TFRecordDataset(numbers, memory_bytes=1 << 28)).doctor(step_time=60, seconds=SHORT)) == []


def test_whole_files(numbers):
    dataset = hr.FileDataset(numbers).batch(2).parse({"path": hr.FixedLenFeature([], hr.string)})
    diagnosis = dataset.doctor(step_time=60, seconds=SHORT)
    assert names(diagnosis) == [] and diagnosis.subject.endswith("and 3 more")


def test_no_batch_at_all(numbers):
    with pytest.raises(ValueError, match="no record in any shard"):
        hr.TFRecordDataset(numbers).take(0).batch(10).parse(NUMBERS).doctor(seconds=SHORT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step_time": 0}, "step_time=0"),
        ({"step_time": "fast"}, "step_time='fast'"),
        ({"replicas": 0}, "replicas=0"),
        ({"seconds": -1}, "seconds=-1"),
        ({"seconds": None}, "seconds=None"),
    ],
)
def test_bad_arguments(numbers, arguments, message):
    with pytest.raises(ValueError, match=message):
        hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS).doctor(**arguments)


def test_needs_batches(numbers):
    with pytest.raises(ValueError, match="add .batch"):
        hr.TFRecordDataset(numbers).doctor()


def test_the_same_pipeline_again(numbers):
    dataset = hr.TFRecordDataset(iter(numbers)).interleave(2, block_length=3).skip(3).batch(10).parse(NUMBERS)
    assert ids(rebuild(dataset)) == ids(dataset)
    other = rebuild(dataset, Change(source={"files": numbers[:1]}, steps={"interleave": {"cycle_length": 1}}))
    assert ids(other) == list(range(3, 25))
    doubled = dataset.map(lambda batch: {"id": batch["id"]}).map(lambda batch: 2 * batch["id"].numpy(), name="double")
    assert next(iter(rebuild(doubled)))[0] == 2 * ids(dataset)[0]
    single = rebuild(doubled, Change(without_functions=frozenset({1})))
    assert next(iter(single))["id"].numpy().tolist() == ids(dataset)[:10] and len(single._functions) == 1


def test_shards_and_storage(tmp_path):
    paths = write_numbers(tmp_path, per_shard=2000)
    write_shard(tmp_path / "part-99.tfrecord", [number_record(0)])
    looked = shards.look_at(str(tmp_path / "part-*.tfrecord"))
    assert len(looked.names) == 5 and looked.skew == 1.0 and looked.resident > 0.9
    probed = storage.probe(looked, 0.1)
    assert probed.warm > 0 and (probed.cold is None or probed.cold > 0)
    late = storage.probe(shards.look_at(paths, SlowFile), 0.1)
    assert late.warm is None and late.block_seconds > 0.04


def test_as_json(numbers):
    diagnosis = hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS).doctor(step_time=60, replicas=4, seconds=SHORT)
    document = json.loads(json.dumps(diagnosis.as_dict()))
    assert document["findings"][0]["name"] == "uneven batch" and document["facts"]["replicas"] == 4


def test_the_order_tells_its_waits_apart(wide):
    with iter(pipeline(wide(), open=SlowFile)) as batches:
        for _ in batches:
            pass
        stages = {stage.name: stage for stage in batches.report().stages}
    # At least the first read of the first shard is waited for; putting 400 records in order is no work beside it.
    assert stages["order"].starved_seconds > 0.045
    assert stages["order"].busy_seconds < stages["order"].starved_seconds
