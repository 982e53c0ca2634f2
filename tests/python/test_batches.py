"""Steps that make, undo and number batches: padded_batch, unbatch, enumerate."""

import json

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, ids, write_shard

COUNTS = [3, 0, 1, 5, 2, 4, 0, 2, 6, 1]
LIST = {"id": hr.FixedLenFeature([], hr.int64), "t": hr.VarLenFeature(hr.int64)}


def record(number):
    count = COUNTS[number % len(COUNTS)]
    values = {"id": number, "x": np.zeros(3, np.float32), "t": np.arange(count) + 10}
    values |= {"f": np.arange(count, dtype=np.float32) + 0.5, "s": np.array([b"ab"] * count, object), "pairs": np.arange(2 * count)}
    values["tensor"] = hr.make_tensor(np.full((count, 2), 7.0, np.float32))
    return hr.make_example(values)


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    return hr.TFRecordDataset([write_shard(folder / f"{s}", map(record, range(15 * s, 15 * s + 15))) for s in range(2)])


def rows_of(numbers, length, value, of=lambda n: 10 + np.arange(COUNTS[n % 10])):
    rows = [list(of(n)) for n in numbers]
    length = max(map(len, rows)) if length is None else length
    return [row + [value] * (length - len(row)) for row in rows]


@pytest.mark.parametrize(
    "spec",
    [
        hr.VarLenFeature(hr.int64),
        hr.RaggedFeature(hr.int64),
        hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True),
        hr.VarLenFeature(hr.int32),
        hr.VarLenFeature(hr.int64, transform=[hr.truncate(9)]),
    ],
)
def test_padded_to_the_longest_or_to_a_length(shards, spec):
    features = {"id": hr.FixedLenFeature([], hr.int64), "t": spec}
    for shapes, values, length, value in [
        (None, None, None, 0),
        ({"t": [None]}, -1, None, -1),
        ({"t": [8], "id": []}, {"t": 5}, 8, 5),
        ({"t": (-1,)}, None, None, 0),
        ({"t": [6]}, None, 6, 0),
    ]:
        batches = list(shards.padded_batch(4, shapes, values).parse(features))
        assert len(batches) == 8
        for batch in batches:
            expected = rows_of(batch["id"].numpy(), length, value)
            assert batch["t"].numpy().tolist() == expected
    assert len(list(shards.padded_batch(4, drop_remainder=True).parse(features))) == 7


def test_what_pads(shards):
    features = {
        "f": hr.VarLenFeature(hr.float32),
        "s": hr.RaggedFeature(hr.string),
        "pairs": hr.FixedLenSequenceFeature([2], hr.int64, allow_missing=True, default_value=9),
        "tensor": hr.TensorFeature([None, 2], hr.float32),
        "own": hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True, default_value=4, key="t"),
        "scaled": hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True, key="t", transform=[hr.cast(hr.float32), hr.scale(2, 1)]),
        "fixed": hr.VarLenFeature(hr.int64, key="t2", transform=[hr.pad(2, 1)]),
    }
    values = {"f": 0.25, "s": "pad"}
    (batch,) = shards.take(4).padded_batch(4, {"pairs": [7, 2], "own": [6], "scaled": [6]}, values).parse(features)
    assert batch["f"].numpy()[:2].tolist() == [[0.5, 1.5, 2.5, 0.25, 0.25], [0.25] * 5]
    assert batch["s"].numpy()[2].tolist() == [b"ab", b"pad", b"pad", b"pad", b"pad"]
    assert batch["pairs"].numpy().shape == (4, 7, 2) and batch["pairs"].numpy()[1].tolist() == [[9, 9]] * 7
    assert batch["pairs"].numpy()[2, :2].tolist() == [[0, 1], [9, 9]]
    assert batch["tensor"].numpy().shape == (4, 5, 2) and not batch["tensor"].numpy()[1].any()
    assert batch["own"].numpy()[0].tolist() == [10, 11, 12, 4, 4, 4]
    assert batch["scaled"].numpy()[0].tolist() == [21, 23, 25, 1, 1, 1]  # its padding passes through the transforms
    assert batch["fixed"].numpy().tolist() == [[1, 1]] * 4


def test_a_longer_record_does_not_fit(shards):
    for spec in (hr.VarLenFeature(hr.int64), hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True)):
        dataset = shards.padded_batch(2, {"t": [4]}).parse({"id": LIST["id"], "t": spec})
        seen = []
        with pytest.raises(hr.SchemaError, match="pad to a smaller size than the input.*5 values where rows have 4") as caught:
            for batch in dataset:
                seen += batch["id"].numpy().tolist()
        assert seen == [0, 1, 2] and caught.value.key == "t" and caught.value.record == 3


def test_padded_over_devices_and_resumed(shards):
    shuffled = shards.shuffle(9, seed=1, reshuffle_each_iteration=False).repeat(2)
    dataset = shuffled.padded_batch(6).parse(LIST).prefetch_to_device(["/CPU:0", "/CPU:1"])
    whole = [batch["t"].numpy().tolist() for batch in dataset]
    with iter(dataset) as batches:
        halves = [replica["t"].numpy() for replica in next(batches).replicas]
        assert halves[0].shape == halves[1].shape and np.concatenate(halves).tolist() == whole[0]
        state = batches.state_dict()
    with iter(dataset) as batches:
        batches.load_state_dict(state)
        assert [batch["t"].numpy().tolist() for batch in batches] == whole[1:]
    assert len(shards.assert_cardinality(30).padded_batch(4)) == 8


@pytest.mark.parametrize(
    "shapes, values, spec, text",
    [
        ({"u": [3]}, None, hr.VarLenFeature(hr.int64), "no column 'u'"),
        ({"t": [3, 4]}, None, hr.VarLenFeature(hr.int64), r'"t" has the shape \[None\].*\[3, 4\]'),
        ({"t": [0]}, None, hr.VarLenFeature(hr.int64), "count is 0"),
        ({"t": 3}, None, hr.VarLenFeature(hr.int64), r"padded_shapes\['t'\]=3"),
        ([3], None, hr.VarLenFeature(hr.int64), "padded_shapes=.*map names"),
        (None, {"t": [1]}, hr.VarLenFeature(hr.int64), r"padding_values\['t'\]"),
        (None, b"x", hr.VarLenFeature(hr.int64), "value must be a number"),
        ({"t": [5]}, None, hr.FixedLenFeature([3], hr.int64), r"shape \[3\].*\[5\]"),
        (None, {"t": 5}, hr.FixedLenFeature([3], hr.int64), "is not padded"),
        (None, None, hr.RaggedFeature(hr.int64, partitions=[hr.RaggedFeature.RowLengths("l")]), "cannot be padded"),
        (None, None, hr.SparseFeature("i", "t", hr.int64, 9), "cannot be padded"),
        ({"t": [3]}, None, hr.TensorFeature([None], hr.int64), "is a tensor"),
        (
            {"t": [3]},
            None,
            hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True, transform=[hr.truncate(2)]),
            "is truncated",
        ),
    ],
)
def test_what_cannot_be_padded(shards, shapes, values, spec, text):
    with pytest.raises(ValueError, match=text):
        shards.padded_batch(2, shapes, values).parse({"t": spec})


def test_unbatch(shards):
    assert ids(shards.batch(4).unbatch().batch(7).parse(NUMBERS)) == list(range(30))
    assert ids(shards.batch(4, drop_remainder=True).unbatch().batch(7).parse(NUMBERS)) == list(range(28))
    assert ids(shards.batch(4).skip(1).take(2).repeat(2).unbatch().batch(7).parse(NUMBERS)) == list(range(4, 12)) * 2
    assert list(shards.batch(4).unbatch()) == list(shards)
    assert sorted(ids(shards.batch(8).unbatch().shuffle(9, seed=1).batch(4).parse(NUMBERS))) == list(range(30))
    shuffled = shards.batch(8).take(2).unbatch().repeat(2).concatenate(shards.take(3))
    assert ids(shuffled.batch(5).parse(NUMBERS)) == list(range(16)) * 2 + [0, 1, 2]


def test_unbatched_lengths(shards):
    known = shards.assert_cardinality(30)
    for dataset, length in [
        (known.batch(4).unbatch(), 30),
        (known.batch(4, drop_remainder=True).unbatch(), 28),
        (known.batch(4).take(3).unbatch().batch(5), 3),
        (known.batch(4).take(8).unbatch(), 30),
        (known.batch(4).skip(7).unbatch(), 2),
        (known.batch(4).repeat(2).unbatch(), 60),
        (known.batch(5).repeat(2).take(7).unbatch(), 35),
        (known.batch(4).unbatch().take(3), 3),
        (known.batch(4).skip(9).unbatch(), 0),
    ]:
        assert len(dataset) == len(list(dataset)) == length
    for unknown in (
        known.batch(4).repeat(2).take(9).unbatch(),
        known.batch(4).repeat().take(9).unbatch(),
        known.bucket_by_sequence_length("t", [2], [2, 3]).unbatch(),
    ):
        with pytest.raises(TypeError, match="length is not known"):
            len(unknown)


def test_unbatch_resumes_and_goes_on_over_epochs(shards):
    def make():
        source = shards.interleave(2).repeat(3).shuffle(11, seed=6)
        buckets = source.bucket_by_sequence_length("t", [2, 4], [5, 3, 2]).skip(1).unbatch()
        return buckets.shuffle(8, seed=2).batch(7).parse(NUMBERS)

    whole = [batch["id"].numpy().tolist() for batch in make()]
    assert sum(map(len, whole)) in range(85, 89)
    for cut in range(len(whole) + 1):
        with iter(make()) as batches:
            for _ in range(cut):
                next(batches)
            state = json.loads(json.dumps(batches.state_dict()))
        with iter(make()) as batches:
            batches.load_state_dict(state)
            assert [batch["id"].numpy().tolist() for batch in batches] == whole[cut:]


def test_enumerate_counts_records(shards):
    dataset = shards.shuffle(9, seed=3).enumerate(100).batch(4).parse(NUMBERS, origin=True)
    batches = list(dataset)
    assert list(batches[0]) == ["id", "x", "_shard", "_record", "_index"]
    assert [int(i) for batch in batches for i in batch["_index"].numpy()] == list(range(100, 130))
    over_epochs = shards.take(5).repeat(2).enumerate().batch(4).parse(NUMBERS)
    assert [batch["_index"].numpy().tolist() for batch in over_epochs] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    anew = shards.take(5).enumerate().padded_batch(4).parse(LIST).repeat(2)
    assert [batch["_index"].numpy().tolist() for batch in anew] == [[0, 1, 2, 3], [4]] * 2
    skipped = shards.enumerate().batch(4).parse(NUMBERS).skip(2).prefetch_to_device(["/CPU:0", "/CPU:1"])
    assert [replica["_index"].numpy().tolist() for replica in next(iter(skipped)).replicas] == [[8, 9], [10, 11]]


def test_enumerate_counts_batches(shards):
    for dataset in (
        shards.batch(8).skip(1).enumerate(5).parse(NUMBERS).repeat(2),
        shards.batch(8).parse(NUMBERS).skip(1).enumerate(5).repeat(2),
    ):
        assert [batch["_index"].numpy().tolist() for batch in dataset] == [[5] * 8, [6] * 8, [7] * 6] * 2
    on = shards.batch(20).parse(NUMBERS).repeat(2).enumerate()
    assert [batch["_index"].numpy().tolist() for batch in on] == [[0] * 20, [1] * 10, [2] * 20, [3] * 10]
    buckets = shards.bucket_by_sequence_length("t", [2], [3, 3]).parse(LIST).enumerate()
    assert [set(batch["_index"].numpy()) for batch in buckets] == [{i} for i in range(len(list(buckets)))]


@pytest.mark.parametrize("per_row", [True, False])
def test_enumerate_resumes(shards, per_row):
    def make():
        source = shards.repeat(2).shuffle(9, seed=1)
        batches = source.enumerate(-3).batch(4) if per_row else source.batch(4).enumerate(-3)
        return batches.parse(NUMBERS).repeat(2)

    def read(batches):
        return [(batch["_index"].numpy().tolist(), batch["id"].numpy().tolist()) for batch in batches]

    whole = read(make())
    for cut in range(0, len(whole) + 1, 3):
        with iter(make()) as batches:
            for _ in range(cut):
                next(batches)
            state = batches.state_dict()
        with iter(make()) as batches:
            batches.load_state_dict(state)
            assert read(batches) == whole[cut:]


def test_unbatch_beside_rows_that_are_left_out(tmp_path):
    path = write_shard(tmp_path / "bad", [*map(record, range(6)), b"\xff\xff", *map(record, range(6, 9))])
    skipping = hr.TFRecordDataset([path], on_mismatch="skip")
    assert ids(skipping.batch(2).unbatch().batch(4).parse(NUMBERS)) == list(range(9))
    with pytest.raises(ValueError, match="on_mismatch"):
        skipping.enumerate()


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda d: d.unbatch(), "needs batch"),
        (lambda d: d.batch(2).unbatch().unbatch(), "needs batch"),
        (lambda d: d.batch(2).parse(NUMBERS).unbatch(), "before parse"),
        (lambda d: d.padded_batch(2).unbatch(), "would undo padded_batch"),
        (lambda d: d.batch(2).enumerate().unbatch(), "would undo enumerate"),
        (lambda d: d.batch(2).unbatch().parse(NUMBERS), "needs batch"),
        (lambda d: d.batch(2).unbatch().shuffle("global"), "unbatch.* must stand behind it"),
        (lambda d: d.batch(2).unbatch().shard(2, 0, drop_remainder=True), "before records are batched"),
        (lambda d: d.enumerate().shuffle(3), "right before batch"),
        (lambda d: d.enumerate().bucket_by_sequence_length("t", [], [2]), "right before batch"),
        (lambda d: d.enumerate().concatenate(d), "is enumerated"),
        (lambda d: d.enumerate().batch(2).parse(NUMBERS).enumerate(), "is there already"),
        (lambda d: d.enumerate("x"), "start='x'"),
        (lambda d: next(iter(d.enumerate())), "needs parse"),
        (lambda d: next(iter(d.batch(2).enumerate())), "needs parse"),
        (lambda d: d.batch(2).parse({"_index": NUMBERS["id"]}).enumerate(), "taken by a column of enumerate"),
        (lambda d: d.batch(2).enumerate().parse({"_index": NUMBERS["id"]}), "taken by a column of enumerate"),
    ],
)
def test_what_is_refused(shards, make, text):
    with pytest.raises(ValueError, match=text):
        make(shards)
