"""BytesFeature(view=True): strings that stay in their records, and what keeps these in memory."""

import gc

import headrace as hr
import numpy as np
import pytest

FEATURES = {"b": hr.BytesFeature(view=True), "n": hr.FixedLenFeature([], hr.int64)}


def payload(number):
    return bytes([number % 251]) * (100 if number % 3 else 40_000)


@pytest.fixture
def shard(tmp_path):
    path = str(tmp_path / "bytes.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for number in range(60):
            writer.write(hr.make_example({"b": payload(number), "n": number}))
    return path


def test_the_usual_column():
    column = hr.parse_example([hr.make_example({"x": b"abc"})], {"b": hr.BytesFeature(key="x")})["b"]
    assert column.tolist() == [b"abc"] and not column.is_view
    assert bytes(column.view(0)) == b"abc"


def test_a_view_is_the_same_strings():
    records = [hr.make_example({"b": text}) for text in (b"", b"a", b"x" * 70_000)]
    column = hr.parse_example(records, {"b": hr.BytesFeature(view=True)})["b"]
    assert column.is_view and column.shape == (3,) and column.dtype == "bytes"
    assert column.tolist() == [b"", b"a", b"x" * 70_000] == column.numpy().tolist()
    copied = column.copy()
    assert not copied.is_view and copied.tolist() == column.tolist()
    assert copied.offsets.numpy().tolist() == [0, 0, 1, 70_001]
    for attribute in ("offsets", "payload"):
        with pytest.raises(ValueError, match="views of its records"):
            getattr(column, attribute)


def test_memoryviews_keep_the_records():
    column = hr.parse_example([hr.make_example({"b": b"y" * 5000})], {"b": hr.BytesFeature(view=True)})["b"]
    view = column.view(-1)
    del column
    gc.collect()
    assert view.readonly and view.nbytes == 5000 and bytes(view) == b"y" * 5000
    assert np.frombuffer(view, np.uint8).sum() == 5000 * ord("y")
    with pytest.raises(IndexError):
        hr.parse_example([], {"b": hr.BytesFeature(view=True)})["b"].view(0)


@pytest.mark.parametrize("devices", [["/CPU:0"], ["/CPU:0", "/CPU:1"]], ids=len)
def test_batches_outlive_the_pipeline(shard, devices):
    pipeline = hr.TFRecordDataset(shard).shuffle(20, seed=3).batch(8).parse(FEATURES).prefetch_to_device(devices)
    kept = []
    with iter(pipeline) as batches:
        for batch in batches:
            kept.append((batch["n"].numpy().tolist(), [part["b"] for part in batch.replicas]))
    gc.collect()
    assert sorted(number for numbers, _ in kept for number in numbers) == list(range(60))
    for numbers, columns in kept:
        assert [text for column in columns for text in column.tolist()] == [payload(number) for number in numbers]
        assert all(column.is_view for column in columns)


@pytest.mark.parametrize("shuffled", [False, True], ids=["in order", "shuffled, so read late"])
def test_what_the_consumer_holds_is_counted(shard, shuffled):
    records = hr.TFRecordDataset(shard, memory_bytes=4_000_000).repeat(40)
    if shuffled:
        records = records.shuffle(20, seed=3)
    with iter(records.batch(10).parse(FEATURES)) as batches:
        kept = [batch for batch in batches]  # far more than the budget: a consumer that keeps batches never blocks itself
        report = batches.report()
        assert report.held_by_consumer_bytes > 40 * 20 * 40_000
        assert report.record_bytes < 4_000_000
        assert len(kept) == 240
        del kept
        gc.collect()
        assert batches.report().held_by_consumer_bytes == 0


def test_absent_and_several():
    spec = {"b": hr.BytesFeature(view=True)}
    with pytest.raises(hr.SchemaError, match="could not be found"):
        hr.parse_example([hr.make_example({"c": b"x"})], spec)
    with pytest.raises(hr.SchemaError, match="Values size: 2"):
        hr.parse_example([hr.make_example({"b": [b"x", b"y"]})], spec)
