"""shuffle("global"), shard() by file and range, and cardinality(): from Python, over uneven and empty shards."""

import json

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, ids, number_record, write_numbers, write_shard

SIZES = [25, 0, 40, 1, 34]
WINDOWS = [None, 1, 2_000, 1 << 20]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def shards(tmp_path, cache):
    """Paths of uneven shards of the records 0 … 99."""
    paths, start = [], 0
    for shard, size in enumerate(SIZES):
        records = (number_record(i) for i in range(start, start + size))
        paths.append(write_shard(tmp_path / f"train-{shard}.tfrecord", records))
        start += size
    return paths


def numbers_of(records, batch_size=7):
    return ids(records.batch(batch_size).parse(NUMBERS))


@pytest.mark.parametrize("window_bytes", WINDOWS)
def test_each_record_once_an_epoch(shards, window_bytes):
    records = hr.TFRecordDataset(shards).shuffle("global", seed=1, window_bytes=window_bytes)
    first, second = numbers_of(records.repeat(2))[:100], numbers_of(records.repeat(2))[100:]
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second and first != sorted(first)
    same = hr.TFRecordDataset(shards).shuffle(
        "global", seed=1, window_bytes=window_bytes, reshuffle_each_iteration=False
    )
    assert numbers_of(same.repeat(2)) == 2 * first
    assert len(records) == 100 and len(records.batch(7)) == 15


@pytest.mark.parametrize("window_bytes", WINDOWS)
def test_set_epoch_and_later_iterators(shards, window_bytes):
    def dataset():
        return hr.TFRecordDataset(shards).shuffle("global", seed=1, window_bytes=window_bytes).batch(9).parse(NUMBERS)

    counted = dataset()
    first, second = ids(counted), ids(counted)
    assert first != second
    chosen = dataset()
    chosen.set_epoch(1)
    assert ids(chosen) == second


@pytest.mark.parametrize("window_bytes", WINDOWS)
def test_resumes_at_any_batch_with_a_small_state(shards, window_bytes):
    def dataset(threads):
        records = hr.TFRecordDataset(shards, num_threads=threads).repeat(2)
        return records.shuffle("global", seed=3, window_bytes=window_bytes).batch(11).parse(NUMBERS)

    whole = ids(dataset(1))
    assert whole == ids(dataset(16))
    for stop in range(0, 20, 3):
        with iter(dataset(2)) as batches:
            seen = [int(i) for _ in range(stop) for i in next(batches)["id"].numpy()]
            state = json.loads(json.dumps(batches.state_dict()))
        assert len(json.dumps(state)) < 1000
        with iter(dataset(3)) as batches:
            batches.load_state_dict(state)
            assert seen + ids(batches) == whole


def test_arguments(shards):
    dataset = hr.TFRecordDataset(shards)
    with pytest.raises(ValueError, match="buffer_size='all'"):
        dataset.shuffle("all")
    with pytest.raises(ValueError, match="window_bytes"):
        dataset.shuffle("global", window_bytes=0)
    with pytest.raises(ValueError, match="by='worker'"):
        dataset.shard(2, 0, by="worker")
    with pytest.raises(ValueError, match="interleave"):
        dataset.interleave(4).shuffle("global")
    with pytest.raises(ValueError, match="skip policy"):
        hr.TFRecordDataset(shards, on_corrupt="skip").shard(2, 0, drop_remainder=True)


def test_compressed_files_are_refused(cache, tmp_path):
    paths = write_numbers(tmp_path, 2, 5, compression="gzip")
    with pytest.raises(ValueError, match="compressed with gzip"):
        next(iter(hr.TFRecordDataset(paths).shuffle("global")))


@pytest.mark.parametrize("by", ["record", "file", "range"])
def test_equal_steps_on_every_worker(shards, by):
    lengths, seen = [], []
    for worker in range(3):
        records = hr.TFRecordDataset(shards).shard(3, worker, by=by, drop_remainder=True)
        dataset = records.shuffle("global", seed=1).batch(4, drop_remainder=True).parse(NUMBERS)
        got = ids(dataset)
        assert len(got) == 4 * len(dataset)
        lengths.append(len(got))
        seen += got
    assert len(set(lengths)) == 1 and len(set(seen)) == len(seen)


def test_the_rest_is_for_somebody(shards):
    for by in ("record", "file", "range"):
        shares = [numbers_of(hr.TFRecordDataset(shards).shard(3, worker, by=by)) for worker in range(3)]
        assert sorted(sum(shares, [])) == list(range(100))


def test_cardinality_scans_only_on_request(shards, cache):
    dataset = hr.TFRecordDataset(shards).batch(30)
    assert dataset.cardinality() == -2 and not cache.exists()
    assert dataset.repeat().cardinality() == -1
    assert dataset.cardinality(scan=True) == 4 and cache.exists()
    assert hr.TFRecordDataset(shards).cardinality() == 100
    assert len(hr.TFRecordDataset(shards).shard(2, 1, by="range")) == 50


def test_a_window_needs_its_memory(cache, tmp_path):
    path = write_shard(tmp_path / "large", (bytes(1000) for _ in range(4000)))

    def read(memory_bytes):
        records = hr.TFRecordDataset(path, memory_bytes=memory_bytes).shuffle("global", window_bytes=1 << 20)
        return sum(len(batch) for batch in records.batch(64))

    assert read(16 << 20) == 4000
    with pytest.raises(hr.BudgetError, match=r"memory_bytes=500000 is too small .* need [1-9]\d{6}"):
        read(500_000)


def test_without_a_cache_folder_there_is_one_warning(shards, tmp_path, monkeypatch):
    for name in ("HEADRACE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    dataset = hr.TFRecordDataset(shards).shuffle("global", seed=1).batch(50).parse(NUMBERS)
    told = []
    for _ in range(2):
        with iter(dataset) as batches:
            assert sorted(ids(batches)) == list(range(100))
            told += [text for text in batches.report().warnings if "indexes cannot be kept" in text]
    assert len(told) == 1 and "HEADRACE_CACHE_DIR" in told[0]


def test_a_read_only_home_works_from_memory(unprivileged, monkeypatch):
    monkeypatch.setenv("HOME", str(unprivileged / "home"))
    monkeypatch.delenv("HEADRACE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (unprivileged / "home").mkdir()
    paths = write_numbers(unprivileged, 2, 10)
    (unprivileged / "home").chmod(0o555)
    assert sorted(numbers_of(hr.TFRecordDataset(paths).shuffle("global"))) == list(range(20))


def test_dalis_index_is_used(shards):
    at, lines = 0, []
    for record in hr.open_records(shards[0]):
        lines.append(f"{at} {len(record) + 16}\n")
        at += len(record) + 16
    with open(shards[0] + ".idx", "w") as index:
        index.writelines(lines)
    assert sorted(numbers_of(hr.TFRecordDataset(shards[0]).shuffle("global"))) == list(range(25))


def test_the_stream_is_frozen(shards):
    def digest(window_bytes):
        records = hr.TFRecordDataset(shards).shuffle("global", seed=7, window_bytes=window_bytes).repeat(2)
        return int(np.dot(np.arange(1, 201), np.array(numbers_of(records))))

    assert [digest(window) for window in WINDOWS] == [999685, 992911, 997008, 1010228]
