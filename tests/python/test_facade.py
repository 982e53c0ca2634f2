"""Datasets and batches as the user meets them."""

from collections.abc import Mapping

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, ids, number_record


def test_records_are_bytes_in_file_order(numbers):
    records = list(hr.TFRecordDataset(numbers))
    assert records == [number_record(i) for i in range(100)]
    assert type(records[0]) is bytes


def test_batches_without_parse_are_bytes_columns(numbers):
    batches = list(hr.TFRecordDataset(numbers).batch(30))
    assert [len(batch) for batch in batches] == [30, 30, 30, 10]
    assert batches[3][9] == number_record(99) and batches[3][-1] == number_record(99)
    assert isinstance(batches[0], hr.BytesColumn)


def test_parsed_batches_are_mappings_in_the_order_of_the_features(numbers):
    features = {"x": NUMBERS["x"], "id": NUMBERS["id"]}
    batch = next(iter(hr.TFRecordDataset(numbers).batch(4).parse(features)))
    assert isinstance(batch, Mapping) and list(batch) == ["x", "id"] and len(batch) == 2
    assert dict(batch).keys() == features.keys() and "id" in batch and "y" not in batch
    assert batch["x"].shape == (4, 3) and batch["x"].dtype == "float32"
    np.testing.assert_array_equal(batch["x"].numpy()[2], [2, 3, 4])
    assert (batch.number, batch.epoch, batch.global_rows, batch.replica_rows) == (0, 0, 4, (4,))
    with pytest.raises(KeyError, match="y"):
        batch["y"]
    assert batch.get("y") is None and [name for name, _ in batch.items()] == ["x", "id"]


def test_a_pattern_a_folder_and_a_list_give_the_same(numbers, tmp_path):
    wanted = list(range(100))
    for files in (numbers, tmp_path, str(tmp_path), str(tmp_path / "part-*"), tmp_path / "part-0[0-3].tfrecord"):
        assert ids(hr.TFRecordDataset(files).batch(64).parse(NUMBERS)) == wanted


def test_interleave_takes_turns(numbers):
    dataset = hr.TFRecordDataset(numbers).interleave(cycle_length=2, block_length=3).batch(8).parse(NUMBERS)
    assert ids(dataset)[:12] == [0, 1, 2, 25, 26, 27, 3, 4, 5, 28, 29, 30]


def test_take_skip_and_shard_count_what_they_stand_behind(numbers):
    source = hr.TFRecordDataset(numbers)
    assert ids(source.skip(3).take(5).batch(2).parse(NUMBERS)) == [3, 4, 5, 6, 7]
    assert ids(source.batch(10).parse(NUMBERS).skip(1).take(2)) == list(range(10, 30))
    assert ids(source.shard(3, 1).batch(50).parse(NUMBERS)) == list(range(1, 100, 3))


def test_shuffle_repeat_gives_every_record_once_an_epoch(numbers):
    dataset = hr.TFRecordDataset(numbers).repeat(2).shuffle(20, seed=1).batch(25, drop_remainder=True).parse(NUMBERS)
    seen = ids(dataset)
    assert sorted(seen[:100]) == sorted(seen[100:]) == list(range(100))
    assert seen[:100] != list(range(100)) and seen[:100] != seen[100:]


def test_the_kth_iterator_starts_at_epoch_k(numbers):
    dataset = hr.TFRecordDataset(numbers).shuffle(20, seed=1).batch(25).parse(NUMBERS)
    first, second = ids(dataset), ids(dataset)
    assert first != second
    dataset.set_epoch(0)
    assert ids(dataset) == first and ids(dataset) == second


def test_an_iterator_that_delivered_nothing_does_not_count(numbers):
    dataset = hr.TFRecordDataset(numbers).shuffle(20, seed=1).batch(25).parse(NUMBERS)
    iter(dataset).close()
    next(iter(dataset))
    assert iter(dataset).state_dict()["epoch"] == 1


def test_replicas_share_the_batch(numbers):
    dataset = hr.TFRecordDataset(numbers).batch(40).parse(NUMBERS).prefetch_to_device([f"/CPU:{i}" for i in range(4)])
    batches = list(dataset)
    assert dataset.replicas == 4 and dataset.devices == ("/CPU:0", "/CPU:1", "/CPU:2", "/CPU:3")
    first, last = batches[0], batches[-1]
    assert [share["id"].numpy().tolist() for share in first.replicas][1] == list(range(10, 20))
    assert first["id"].numpy().tolist() == list(range(40)) and first["x"].shape == (40, 3)
    assert last.replica_rows == (5, 5, 5, 5) and last.global_rows == 20
    assert ids(batches) == list(range(100))


def test_a_padded_batch_tells_its_records(numbers):
    dataset = hr.TFRecordDataset(numbers).batch(40).parse(NUMBERS).prefetch_to_device(["/CPU:0", "/CPU:1"], remainder="pad")
    first, _, last = dataset
    assert first.mask.numpy().all() and list(last) == ["id", "x", "_mask"]
    assert last.global_rows == 20 and last.replica_rows == (20, 0) and [share.rows for share in last.replicas] == [20, 20]
    assert last.mask.numpy().tolist() == [True] * 20 + [False] * 20
    assert last["id"].numpy().tolist() == 2 * list(range(80, 100))


def test_a_remainder_that_is_dropped(numbers):
    batches = hr.TFRecordDataset(numbers).batch(40).parse(NUMBERS)
    assert len(list(batches.prefetch_to_device(["/CPU:0", "/CPU:1"], remainder="drop"))) == 2
    assert next(iter(batches)).mask is None
    with pytest.raises(ValueError, match="remainder='keep'"):
        batches.prefetch_to_device(["/CPU:0"], remainder="keep")


def test_replicas_of_unequal_weight(numbers):
    batches = hr.TFRecordDataset(numbers).batch(40).parse(NUMBERS)
    rows = [batch.replica_rows for batch in batches.prefetch_to_device(["/CPU:0", "/CPU:1"], weights=[3, 1])]
    assert rows == [(30, 10), (30, 10), (15, 5)]
    with pytest.raises(ValueError, match="38 and 40|39 and 42"):
        batches.prefetch_to_device(["/CPU:0", "/CPU:1"], weights=[2, 1])


def test_processes_parse_their_own_rows(numbers):
    batches = hr.TFRecordDataset(numbers).batch(40).parse(NUMBERS)
    devices = [f"/CPU:{replica}" for replica in range(4)]
    mine = batches.prefetch_to_device(devices, remainder="pad", local=range(1, 3))
    assert mine.replicas == 2 and mine.devices == ("/CPU:1", "/CPU:2")
    first, _, last = mine
    assert first.global_rows == 40 and first["id"].numpy().tolist() == list(range(10, 30))
    assert last.global_rows == 20 and last.replica_rows == (10, 0) and last["id"].numpy().tolist() == [*range(90, 100), *range(80, 90)]
    assert iter(mine).replicas == 2
    for wrong in ((1, 3), range(0, 4, 2), range(3, 6), range(2, 2)):
        with pytest.raises(ValueError, match="local"):
            batches.prefetch_to_device(devices, local=wrong)


def test_slices_per_replica(numbers):
    dataset = hr.TFRecordDataset(numbers).batch(50).parse(NUMBERS).prefetch_to_device(["CPU:0", "cpu:1"])
    with iter(dataset) as pipeline:
        for first in (0, 50):
            for replica in (0, 1):
                share = pipeline.next_slice(replica)
                start = first + 25 * replica
                assert share.rows == 25 and share["id"].numpy().tolist() == list(range(start, start + 25))
        with pytest.raises(StopIteration):
            pipeline.next_slice(0)
        with pytest.raises(ValueError, match="replica=2"):
            pipeline.next_slice(2)


def test_origin_names_shard_and_record(numbers):
    batch = next(iter(hr.TFRecordDataset(numbers).skip(24).batch(3).parse(NUMBERS, origin=True)))
    assert list(batch) == ["id", "x", "_shard", "_record"]
    assert batch["_shard"].numpy().tolist() == [0, 1, 1] and batch["_record"].numpy().tolist() == [24, 0, 1]


def test_length(numbers):
    source = hr.TFRecordDataset(numbers)
    dataset = source.batch(30).parse(NUMBERS)
    with pytest.raises(TypeError, match="assert_cardinality"):
        len(dataset)
    assert len(list(dataset)) == 4 and len(dataset) == 4 and len(iter(dataset)) == 4
    stated = source.assert_cardinality(100)
    assert len(stated) == 100 and len(stated.batch(30, drop_remainder=True)) == 3
    assert len(stated.repeat().batch(30)) == 4 and len(stated.repeat(3).batch(30)) == 10
    assert dataset and iter(dataset)


def test_a_wrong_cardinality_is_an_error(numbers):
    with pytest.raises(hr.Error, match="99"):
        list(hr.TFRecordDataset(numbers).assert_cardinality(99).batch(10).parse(NUMBERS))


def test_steps_leave_their_dataset_alone(numbers):
    source = hr.TFRecordDataset(numbers)
    source.take(1)
    assert len(list(source)) == 100
    assert "take" in repr(source.take(1)) and "take" not in repr(source)


def test_check_finds_files_and_reads_nothing(numbers, tmp_path):
    assert hr.TFRecordDataset(numbers).check() == []
    warnings = hr.TFRecordDataset([*numbers, numbers[0]]).check()
    assert len(warnings) == 1 and "part-00" in warnings[0]


def test_report_and_stats(numbers, caplog):
    dataset = hr.TFRecordDataset([*numbers, numbers[0]]).shuffle(7, seed=5).batch(25).parse(NUMBERS)
    with caplog.at_level("WARNING", logger="headrace"), iter(dataset) as pipeline:
        batches = list(pipeline)
        report = pipeline.report()
    assert (report.batches, report.seeds, len(batches)) == (5, [5], 5)
    assert [stage.name for stage in report.stages][0] == "read" and report.skipped == 0
    assert len(report.warnings) == 1
    assert [record.message for record in caplog.records] == report.warnings
    assert pipeline.stats()["batches"] == 5


@pytest.mark.parametrize(
    "step, text",
    [
        (lambda d: d.batch(0), "batch_size=0"),
        (lambda d: d.batch(True), "batch_size=True"),
        (lambda d: d.batch("8"), "batch_size='8'"),
        (lambda d: d.shuffle(0), "buffer_size=0"),
        (lambda d: d.shuffle(2**70), "buffer_size"),
        (lambda d: d.interleave(0), "cycle_length=0"),
        (lambda d: d.interleave(1, 0), "block_length=0"),
        (lambda d: d.shard(2, 2), "index=2"),
        (lambda d: d.take(-2), "count=-2"),
        (lambda d: d.repeat(-2), "count=-2"),
        (lambda d: d.parse(NUMBERS), "batch"),
        (lambda d: d.batch(1).batch(1), "batch"),
        (lambda d: d.batch(1).shuffle(2), "shuffle"),
        (lambda d: d.shuffle(2).interleave(2), "interleave"),
        (lambda d: d.prefetch_to_device("/CPU:0"), "batch"),
        (lambda d: d.batch(6).parse(NUMBERS).prefetch_to_device(["/CPU:0"] * 4), "4.*8|8.*4"),
        (lambda d: d.batch(8).parse(NUMBERS).prefetch_to_device([]), "devices"),
        (lambda d: d.batch(8).parse(NUMBERS).prefetch_to_device(["/TPU:0"]), "TPU"),
        (lambda d: d.batch(8).parse(NUMBERS).prefetch_to_device(["/CPU:0"], depth=0), "depth=0"),
        (lambda d: d.set_epoch(-1), "epoch=-1"),
        (lambda d: d.batch(1).parse({"x": 3}), "'x'"),
        (lambda d: d.batch(1).parse([]), "features"),
    ],
)
def test_a_wrong_step_raises_at_once(step, text):
    with pytest.raises(ValueError, match=text) as caught:
        step(hr.TFRecordDataset("nowhere"))
    assert isinstance(caught.value, hr.Error)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"compression": "lz4"}, "compression='lz4'"),
        ({"verify": "no"}, "verify='no'"),
        ({"on_corrupt": "ignore"}, "on_corrupt='ignore'"),
        ({"on_mismatch": "ignore"}, "on_mismatch='ignore'"),
        ({"max_skipped": -1}, "max_skipped=-1"),
        ({"num_threads": 0}, "num_threads=0"),
        ({"memory_bytes": 0}, "memory_bytes=0"),
        ({"max_record_bytes": 0}, "max_record_bytes=0"),
        ({"stream_version": 2}, "stream_version=2"),
    ],
)
def test_a_wrong_option_raises_at_once(options, text):
    with pytest.raises(ValueError, match=text):
        hr.TFRecordDataset("nowhere", **options)


@pytest.mark.parametrize("files", [[], 3, [3], None])
def test_files_that_are_none(files):
    with pytest.raises(ValueError, match="files"):
        hr.TFRecordDataset(files)


def test_an_environment_variable_that_cannot_be_used(script):
    done = script(
        "import os; os.environ['HEADRACE_THREADS'] = 'many'\nimport headrace\n"
        "try: headrace.TFRecordDataset('x')\nexcept ValueError as error: print(error)"
    )
    assert "HEADRACE_THREADS" in done.stdout and "many" in done.stdout
