"""The stream depends on files, seed and options alone; and the stream of stream_version=1 never changes."""

import hashlib

import headrace as hr
import numpy as np
import pytest

from number_shards import write_shard

# Uneven shards, one of them empty, some records large enough to be read late.
SHARDS = (40, 3, 0, 57, 21)
FEATURES = {
    "id": hr.FixedLenFeature([], hr.int64),
    "list": hr.VarLenFeature(hr.int64),
    "text": hr.FixedLenFeature([], hr.string),
    "x": hr.FixedLenFeature([2], hr.float32),
}
# By options of the writer, and the bytes of the text of each record.
COPIES = {
    "plain": ({}, 20),
    "large": ({}, 9000),
    "gzip": ({"compression": "gzip"}, 20),
    "zlib": ({"compression": "zlib"}, 20),
    "zstd": ({"compression": "zstd"}, 20),
    "snappy": ({"compression": "snappy"}, 20),
}


def record(number, text_bytes):
    text = (b"%d." % number) * text_bytes
    example = {"id": number, "list": np.arange(number % 4), "text": text[:text_bytes], "x": np.float32([number, 0.5])}
    return hr.make_example(example)


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """The same records by every name of COPIES, but for the texts of the large ones."""
    paths = {}
    for name, (options, text_bytes) in COPIES.items():
        folder = tmp_path_factory.mktemp(name)
        numbers = iter(range(sum(SHARDS)))
        paths[name] = [
            write_shard(folder / f"{shard}.tfrecord", [record(next(numbers), text_bytes) for _ in range(count)], **options)
            for shard, count in enumerate(SHARDS)
        ]
    return paths


def source(files, **options):
    return hr.TFRecordDataset(files, **options)


def interleaved(files, **options):
    return source(files, **options).interleave(cycle_length=3, block_length=2)


def parsed(dataset, size=16):
    return dataset.batch(size).parse(FEATURES, origin=True)


# Each with the hash of its first iterator and of its second: constants of stream version 1.
STREAMS = {
    "in order": (lambda *a, **o: parsed(source(*a, **o)), "3022e75aa9df8173", "ef2c70fec9afaef2"),
    "interleave": (lambda *a, **o: parsed(interleaved(*a, **o)), "98e022ab945ded26", "73aa996006dfaa5b"),
    "shuffle": (lambda *a, **o: parsed(interleaved(*a, **o).shuffle(32, seed=9)), "2792064c2ec74ef8", "253aa08c590e1cf6"),
    "one order": (
        lambda *a, **o: parsed(interleaved(*a, **o).shuffle(32, seed=9, reshuffle_each_iteration=False)),
        "2792064c2ec74ef8",
        "6e981413dd7d5549",
    ),
    "fused": (
        lambda *a, **o: parsed(interleaved(*a, **o).repeat(3).shuffle(200, seed=9)),
        "535dd293cae8ddfa",
        "b7a834a90dbb1946",
    ),
    "mixed": (
        lambda *a, **o: parsed(interleaved(*a, **o).repeat(3).shuffle(32, seed=9, mix_epochs=True)),
        "7b1cd2c2263cb87a",
        "62d896a5e7ed98fd",
    ),
    "share": (
        lambda *a, **o: parsed(interleaved(*a, **o).shard(3, 1).shuffle(32, seed=9).repeat(2).skip(5).take(70)),
        "5d42cd105788d70c",
        "5c47968856124618",
    ),
    "to the edge": (
        lambda *a, **o: parsed(interleaved(*a, **o).shuffle(32, seed=9)).repeat(2).skip(1).take(9),
        "aa15c709f935642d",
        "7b7d239b85794e99",
    ),
}


def add_column(digest, name, column):
    digest.update(name.encode())
    if isinstance(column, hr.Ragged):
        add_column(digest, "values", column.values)
        add_column(digest, "row_splits", column.row_splits)
        return
    array = column.numpy()
    digest.update(repr((array.dtype.str, array.shape)).encode())
    digest.update(b"".join(array.tolist()) if array.dtype == object else np.ascontiguousarray(array).tobytes())


def stream_hash(dataset, with_text=True):
    """Of every delivered byte, of the epochs, and of where the batches end."""
    digest = hashlib.sha256()
    with iter(dataset) as batches:
        for batch in batches:
            digest.update(repr((batch.number, batch.epoch)).encode())
            for replica in batch.replicas:
                for name, column in replica.items():
                    if with_text or name != "text":
                        add_column(digest, name, column)
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("name", STREAMS)
def test_the_stream_of_version_1(copies, name):
    make, first, second = STREAMS[name]
    dataset = make(copies["plain"], stream_version=1)
    assert (stream_hash(dataset), stream_hash(dataset)) == (first, second)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("name", STREAMS)
def test_threads_and_containers_do_not_change_it(copies, name, copy):
    make = STREAMS[name][0]
    whole = copy != "large"
    expected = stream_hash(make(copies["plain"]), with_text=whole)
    for threads in (1, 2, 16):
        assert stream_hash(make(copies[copy], num_threads=threads), with_text=whole) == expected


@pytest.mark.parametrize("name", STREAMS)
def test_depth_and_budget_do_not_change_it(copies, name):
    make = STREAMS[name][0]
    for copy in ("plain", "large"):
        expected = stream_hash(make(copies[copy]).prefetch_to_device(["/CPU:0", "/CPU:1"]))
        for depth in (1, 7):
            dataset = make(copies[copy], memory_bytes=32 << 20).prefetch_to_device(["/CPU:0", "/CPU:1"], depth=depth)
            assert stream_hash(dataset) == expected


def test_without_an_order_only_the_turns_of_the_shards_change(copies):
    def records_by_shard(dataset):
        shards = {}
        for batch in dataset:
            for shard, number in zip(batch["_shard"].numpy().tolist(), batch["id"].numpy().tolist()):
                shards.setdefault(shard, []).append(number)
        return shards

    ordered = records_by_shard(STREAMS["interleave"][0](copies["plain"]))
    for _ in range(5):
        assert records_by_shard(STREAMS["interleave"][0](copies["plain"], deterministic=False)) == ordered


def test_another_seed_is_another_stream(copies):
    def read(seed):
        return stream_hash(parsed(interleaved(copies["plain"]).shuffle(32, seed=seed)))

    assert len({read(seed) for seed in (0, 1, -1, 2**63 - 1)}) == 4
