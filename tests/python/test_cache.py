"""cache(): parsed batches that are kept in memory or in a file."""

import json
import os

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, ids, write_shard

FEATURES = {
    "id": hr.FixedLenFeature([], hr.int64),
    "x": hr.FixedLenFeature([3], hr.float32),
    "list": hr.VarLenFeature(hr.int64),
    "names": hr.VarLenFeature(hr.string),
    "padded": hr.FixedLenSequenceFeature([], hr.string, allow_missing=True),
    "name": hr.FixedLenFeature([], hr.string),
    "sparse": hr.SparseFeature("at", "weights", hr.float32, 9),
    "rows": hr.RaggedFeature(hr.int64, partitions=[hr.RaggedFeature.RowLengths("lengths")]),
    "lists": hr.Jagged(["jagged", "other"], hr.int64),
}


def record(number):
    lists = np.arange(number % 5)
    values = {"id": number, "x": np.arange(3, dtype=np.float32) + number, "list": lists, "name": b"n%d" % number}
    names = np.array([b"w" * n for n in range(number % 4)], object)
    values |= {"names": names, "padded": names, "jagged": lists * 2, "at": [2, 0, 1], "rows": lists, "lengths": [len(lists), 0]}
    values["weights"] = np.float32([0.5, 1, 2])
    return hr.make_example(values)


@pytest.fixture
def paths(tmp_path):
    return [write_shard(tmp_path / f"part-{s}", map(record, range(20 * s, 20 * s + 20))) for s in range(2)]


def plain(batch):
    """All arrays of a batch, as what can be compared."""
    parts = {}
    for name, column in batch.items():
        if name == "sparse":
            parts[name] = (column.indices.numpy().tolist(), column.values.numpy().tolist(), column.dense_shape)
        elif name == "lists":
            parts[name] = column.todict()
        else:
            parts[name] = column.tolist() if hasattr(column, "tolist") else column.numpy().tolist()
    return parts


def destroy(paths):
    """Leaves files of the same names and sizes, which count as the same data set, without a record."""
    for path in paths:
        size = os.path.getsize(path)
        with open(path, "wb") as file:
            file.write(b"\0" * size)


@pytest.fixture(params=["memory", "file"])
def cached(request, tmp_path):
    """What puts a cache behind a dataset."""
    return lambda dataset: dataset.cache(tmp_path / "cache" if request.param == "file" else None)


def test_the_second_epoch_reads_nothing(paths, cached):
    source = hr.TFRecordDataset(paths).interleave(2).shuffle(9, seed=1).batch(7).parse(FEATURES, origin=True)
    dataset = cached(source)
    whole = [plain(batch) for batch in source]
    assert [plain(batch) for batch in dataset] == whole
    destroy(paths)
    for _ in range(2):
        assert [plain(batch) for batch in dataset] == whole
    again = list(dataset.repeat(3).skip(1).take(11))
    assert [plain(batch) for batch in again] == (whole * 3)[1:12]
    assert ids(dataset.prefetch_to_device(["/CPU:0"])) == ids(again[5:11])


def test_batches_are_the_consumers_own(paths, cached):
    dataset = cached(hr.TFRecordDataset(paths).batch(8).parse(NUMBERS)).repeat(3)
    seen = []
    for batch in dataset:
        seen += batch["id"].numpy().tolist()
        batch["id"].numpy()[:] = -1
    assert seen == list(range(40)) * 3


def test_one_pass_that_repeats(paths, cached):
    source = hr.TFRecordDataset(paths).shuffle(9, seed=1).batch(7).parse(NUMBERS)
    dataset = cached(source).repeat(3)
    with iter(dataset) as batches:
        first = [next(batches) for _ in range(6)]
        epochs = [batch.epoch for batch in first]
        destroy(paths)
        rest = list(batches)
    assert sorted(ids(first)) == list(range(40))
    assert ids(rest) == ids(first) * 2
    assert epochs == [0] * 6 and [batch.epoch for batch in rest] == [1] * 6 + [2] * 6


def test_a_pass_that_stops_early_keeps_nothing(paths, cached, tmp_path):
    dataset = cached(hr.TFRecordDataset(paths).batch(2).parse(NUMBERS))
    with iter(dataset) as batches:
        next(batches)
    assert not (tmp_path / "cache").exists()
    del batches
    assert ids(dataset.take(2).repeat(2)) == list(range(4)) * 2
    assert ids(dataset) == list(range(40))
    assert [name for name in os.listdir(tmp_path) if "tmp" in name] == []


@pytest.mark.parametrize("threads", [1, 3])
def test_resume(paths, cached, threads):
    def make():
        source = hr.TFRecordDataset(paths, num_threads=threads).shuffle(9, seed=1, reshuffle_each_iteration=True)
        return cached(source.batch(7).parse(NUMBERS)).skip(1).repeat(3).take(13)

    def read(batches):
        return [(batch.epoch, batch["id"].numpy().tolist()) for batch in batches]

    whole = read(make())
    assert len(whole) == 13
    for cut in range(14):
        with iter(make()) as batches:
            for _ in range(cut):
                next(batches)
            state = json.loads(json.dumps(batches.state_dict()))
        with iter(make()) as batches:
            batches.load_state_dict(state)
            assert read(batches) == whole[cut:]
    assert len(state["data"]) < 100


def test_a_resumed_pass_fills_the_cache(paths):
    dataset = hr.TFRecordDataset(paths).batch(7).parse(NUMBERS).cache()
    with iter(dataset.repeat(2)) as batches:
        for _ in range(8):
            next(batches)
        state = batches.state_dict()
    other = hr.TFRecordDataset(paths).batch(7).parse(NUMBERS).cache()
    with iter(other.repeat(2)) as batches:
        batches.load_state_dict(state)
        assert ids(batches) == list(range(14, 40))
    destroy(paths)
    assert ids(other) == list(range(40))


def test_epochs_of_other_iterators(paths, cached):
    source = hr.TFRecordDataset(paths).shuffle(40, seed=1)
    dataset = cached(source.batch(40).parse(NUMBERS))
    dataset.set_epoch(5)
    (first,) = dataset
    (second,) = dataset
    assert (first.epoch, second.epoch) == (5, 6)
    assert ids([first]) == ids([second]) == ids(source.batch(40).parse(NUMBERS))  # the order of epoch 0


def test_a_python_function_stands_behind_it(paths):
    source = hr.TFRecordDataset(paths).batch(8).parse(NUMBERS)
    assert list(source.cache().map(lambda batch: int(batch["id"].numpy()[0])).repeat(2)) == [0, 8, 16, 24, 32] * 2
    with pytest.raises(ValueError, match="cannot stand behind map"):
        source.map(lambda batch: batch).cache()


def test_what_else_stands_before_it(paths, cached):
    source = hr.TFRecordDataset(paths)
    enumerated = cached(source.enumerate(3).padded_batch(9).parse({"t": hr.VarLenFeature(hr.int64, key="list")}))
    first, second = list(enumerated), list(enumerated)
    for batches in (first, second):
        assert [int(i) for batch in batches for i in batch["_index"].numpy()] == list(range(3, 43))
        assert [batch["t"].numpy().shape for batch in batches] == [(9, 4)] * 4 + [(4, 4)]
    devices = ["/CPU:0", "/CPU:1"]
    split = source.batch(8).parse(NUMBERS).cache().repeat(2).prefetch_to_device(devices)
    assert [len(replica["id"].numpy()) for batch in split for replica in batch.replicas] == [4] * 20


def test_a_file_of_something_else(paths, tmp_path):
    path = tmp_path / "cache"
    source = hr.TFRecordDataset(paths)
    assert len(list(source.batch(8).parse(NUMBERS).cache(path))) == 5
    written = path.read_bytes()
    for other in (
        source.batch(9).parse(NUMBERS).cache(path),
        source.batch(8).parse({"id": NUMBERS["id"]}).cache(path),
        source.batch(8).parse(NUMBERS).cache(path).prefetch_to_device(["/CPU:0", "/CPU:1"]),
        hr.TFRecordDataset(paths[:1]).batch(8).parse(NUMBERS).cache(path),
    ):
        with pytest.raises(ValueError, match="is of other data.*remove it"):
            next(iter(other))
    assert path.read_bytes() == written
    assert ids(source.batch(8).parse(NUMBERS).cache(path)) == list(range(40))


def test_damage_is_found(paths, tmp_path):
    path = tmp_path / "cache"

    def make():
        return hr.TFRecordDataset(paths).batch(8).parse(FEATURES).cache(path)

    whole = [plain(batch) for batch in make()]
    written = path.read_bytes()
    assert [plain(batch) for batch in make()] == whole
    step = max(1, len(written) // 400)
    for place in [*range(0, len(written), step), *range(len(written) - 60, len(written))]:
        damaged = bytearray(written)
        damaged[place] ^= 0x41
        path.write_bytes(damaged)
        with pytest.raises(hr.DataLossError, match="cache file is damaged") as caught:
            list(make())
        assert caught.value.path == str(path)
    for length in (0, 7, 30, len(written) - 1):
        path.write_bytes(written[:length])
        with pytest.raises(hr.DataLossError, match="cache file is damaged"):
            list(make())
    path.write_bytes(written)
    assert [plain(batch) for batch in make()] == whole


def test_a_file_that_cannot_be_written(paths, tmp_path):
    source = hr.TFRecordDataset(paths).batch(8).parse(NUMBERS)
    with pytest.raises(FileNotFoundError, match="missing/cache"):
        list(source.cache(tmp_path / "missing" / "cache"))
    with pytest.raises(OSError):
        list(source.cache(tmp_path))


def test_failures_have_their_place(tmp_path, cached):
    path = write_shard(tmp_path / "bad", [*map(record, range(10)), b"\xff\xff", *map(record, range(11, 20))])
    dataset = cached(hr.TFRecordDataset([path]).batch(4).parse(NUMBERS))
    for _ in range(2):
        seen = []
        with pytest.raises(hr.SchemaError, match="bad"):
            for batch in dataset:
                seen += batch["id"].numpy().tolist()
        assert seen == list(range(10))
    skipping = cached(hr.TFRecordDataset([path], on_mismatch="skip").batch(4).parse(NUMBERS))
    assert ids(skipping.repeat(2)) == [i for i in range(20) if i != 10] * 2


def test_memory_is_the_pipelines(tmp_path):
    values = np.zeros(25_000, np.int64)
    path = write_shard(tmp_path / "large", (hr.make_example({"id": i, "v": values + 2**60}) for i in range(80)))
    features = {"id": NUMBERS["id"], "v": hr.FixedLenFeature([25_000], hr.int64)}
    source = hr.TFRecordDataset([path], memory_bytes=24_000_000).assert_cardinality(80).batch(4).parse(features)
    with pytest.raises(hr.BudgetError, match="memory_bytes=24000000 is too small for cache.*all of them need about") as caught:
        list(source.cache())
    needed = int(str(caught.value).split("about ")[1].split(";")[0])
    enough = hr.TFRecordDataset([path], memory_bytes=int(needed * 1.02)).batch(4).parse(features)
    assert ids(enough.cache().repeat(2)) == list(range(80)) * 2
    assert ids(source.cache(tmp_path / "cache").repeat(2)) == list(range(80)) * 2


def test_lengths_and_report(paths, cached):
    dataset = cached(hr.TFRecordDataset(paths).assert_cardinality(40).batch(7).parse(NUMBERS))
    assert len(dataset) == 6 and len(dataset.repeat(2)) == 12
    with iter(dataset.repeat(2)) as batches:
        assert len(list(batches)) == 12
        stages = {stage.name: stage for stage in batches.report().stages}
        seen = [running for running in hr.running_pipelines() if running.process == os.getpid()][-1]  # the youngest
        assert {stage.name for stage in seen.stages} == set(stages)
        assert list(stages) == ["read", "order", "parse", "cache", "deliver"]
    assert stages["parse"].records == 40 and stages["cache"].records == 80 and stages["cache"].bytes > 0


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda d: d.cache(), "needs batch.*parse"),
        (lambda d: d.batch(2).cache(), "needs batch.*parse"),
        (lambda d: d.batch(2).parse(NUMBERS).cache().cache(), "is there already"),
        (lambda d: d.repeat().batch(2).parse(NUMBERS).cache(), "endless repeat"),
        (lambda d: d.batch(2).parse(NUMBERS).cache().enumerate(), "before cache"),
        (lambda d: d.batch(2).parse({"id": hr.BytesFeature(view=True)}).cache(), "view=True"),
        (lambda d: d.batch(2).parse(NUMBERS).cache(5), "path=5"),
    ],
)
def test_what_is_refused(paths, make, text):
    with pytest.raises(ValueError, match=text):
        make(hr.TFRecordDataset(paths))
