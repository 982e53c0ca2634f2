"""Records of several datasets in one stream; batches of records of similar length."""

import collections
import itertools
import json

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, ids, write_shard

LISTS = {"id": hr.FixedLenFeature([], hr.int64), "tokens": hr.VarLenFeature(hr.int64)}


def record(number):
    return hr.make_example({"id": number, "x": np.zeros(3, np.float32), "tokens": np.arange(number % 11)})


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Three datasets: of 30 records from 0, of 5 from 100, of 40 from 200; in two shards each."""
    folder = tmp_path_factory.mktemp("parts")
    datasets = []
    for name, (first, count) in {"a": (0, 30), "b": (100, 5), "c": (200, 40)}.items():
        numbers = range(first, first + count)
        halves = (numbers[: count // 2], numbers[count // 2 :])
        paths = [write_shard(folder / f"{name}-{half}", map(record, part)) for half, part in enumerate(halves)]
        datasets.append(hr.TFRecordDataset(paths))
    return datasets


def read(dataset, size=8):
    return ids(dataset.batch(size).parse(NUMBERS))


A, B, C = list(range(30)), list(range(100, 105)), list(range(200, 240))


def test_concatenate(parts):
    a, b, c = parts
    assert read(a.concatenate(b)) == A + B
    assert read(b.concatenate(a).concatenate(c.take(3))) == B + A + C[:3]
    assert read(b.repeat(2).concatenate(b)) == B * 3
    assert read(b.concatenate(b).repeat(2).skip(1).take(18)) == (B * 4)[1:19]
    assert sorted(read(a.shuffle(7).concatenate(b).shuffle(100))) == A + B


def test_choose(parts):
    assert read(hr.choose_from_datasets(parts, [1, 0, 0])) == [n for i in range(5) for n in (B[i], A[2 * i], A[2 * i + 1])]
    everything = read(hr.choose_from_datasets(parts, [1, 0, 2], stop_on_empty_dataset=False))
    turns = (number for turn in itertools.zip_longest(B, A, C) for number in turn)
    assert everything == [number for number in turns if number is not None]
    assert read(hr.choose_from_datasets(parts, [2])) == C


def test_sample(parts):
    a, b, c = parts
    sampled = read(hr.sample_from_datasets(parts, seed=3))
    for part in (A, B, C):
        assert [number for number in sampled if number in set(part)] == part
    assert sampled != sorted(sampled)
    assert read(hr.sample_from_datasets(parts, [0, 1.5, 0])) == B
    stopped = read(hr.sample_from_datasets(parts, [0.5, 0.4, 0.1], seed=1, stop_on_empty_dataset=True))
    assert stopped.count(104) == 1 and 5 < len(stopped) < 40
    endless = hr.sample_from_datasets([a.repeat(), b.repeat(), c.repeat()], [0.2, 0.5, 0.3], seed=5).take(20_000)
    counts = collections.Counter(number // 100 for number in read(endless, 1000))
    assert [round(counts[part] / 20_000, 1) for part in range(3)] == [0.2, 0.5, 0.3]


def test_epochs_of_a_sample(parts):
    for again in (False, True):
        dataset = hr.sample_from_datasets(parts, seed=3, rerandomize_each_iteration=again)
        first, second = read(dataset.take(10)), None
        twice = read(dataset.take(10).repeat(2))
        assert twice[:10] == first and (twice[10:] == first) != again
        second = read(dataset.repeat(2))
        assert collections.Counter(second) == collections.Counter((A + B + C) * 2)


@pytest.mark.parametrize("threads", [1, 4])
def test_resume(parts, threads):
    def make(parts, **options):
        a, b, c = parts
        shuffled = a.interleave(2).repeat(2).shuffle(9, seed=1)
        sampled = hr.sample_from_datasets([shuffled, b.repeat(), c], [0.3, 0.3, 0.4], seed=2, stop_on_empty_dataset=True)
        return sampled.concatenate(b).shuffle(11, seed=4).batch(7).parse(NUMBERS, origin=True)

    whole = [batch["id"].numpy().tolist() for batch in make(parts)]
    origins = {(s, r) for batch in make(parts) for s, r in zip(batch["_shard"].numpy(), batch["_record"].numpy())}
    assert {shard for shard, _ in origins} == set(range(8))  # those of the last dataset are a list of their own
    for cut in range(len(whole) + 1):
        with iter(make(parts)) as batches:
            for _ in range(cut):
                next(batches)
            state = json.loads(json.dumps(batches.state_dict()))
        with iter(make(parts)) as batches:
            batches.load_state_dict(state)
            assert [batch["id"].numpy().tolist() for batch in batches] == whole[cut:]
    other = hr.choose_from_datasets(parts, [0, 1]).batch(7).parse(NUMBERS)
    with pytest.raises(ValueError, match="pipeline changed.*sample_from_datasets.*choose_from_datasets"):
        batches = iter(other)
        batches.load_state_dict({**state, "files": iter(other).state_dict()["files"]})
        next(batches)


def test_lengths(parts, tmp_path):
    a, b, _ = (part.assert_cardinality(n) for part, n in zip(parts, (30, 5, 40)))
    assert len(a.concatenate(b)) == 35
    assert len(a.concatenate(b).repeat(2).batch(4)) == 18
    assert len(hr.sample_from_datasets([a, b], [1, 0])) == 30
    assert len(hr.choose_from_datasets([a, b], [0, 1], stop_on_empty_dataset=False)) == 35
    for unknown in (
        hr.choose_from_datasets([a, b], [0, 1]),
        hr.sample_from_datasets([a.repeat(), b]),
        a.concatenate(hr.TFRecordDataset(tmp_path)),
        a.bucket_by_sequence_length("tokens", [3], [2, 2]),
    ):
        with pytest.raises(TypeError, match="length is not known"):
            len(unknown)
    learning = parts[0].concatenate(parts[1])
    assert len(read(learning)) == 35 and len(learning) == 35


def test_damage_has_its_place(parts, tmp_path):
    bad = tmp_path / "bad"
    write_shard(bad, map(record, range(300, 310)))
    data = bytearray(bad.read_bytes())
    data[-20] ^= 1
    bad.write_bytes(data)
    damaged = hr.TFRecordDataset([str(bad)])
    seen = []
    with pytest.raises(hr.DataLossError, match="bad"):
        for batch in parts[1].concatenate(damaged).concatenate(parts[0]).batch(4).parse(NUMBERS):
            seen += batch["id"].numpy().tolist()
    assert seen == B + list(range(300, 309))


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda a, b: a.concatenate([1]), "dataset=.*Dataset"),
        (lambda a, b: a.batch(2).concatenate(b), "dataset 0 has batches"),
        (lambda a, b: hr.sample_from_datasets([a, b.bucket_by_sequence_length("t", [], [2])]), "dataset 1 has batches"),
        (lambda a, b: hr.sample_from_datasets([]), "no dataset"),
        (lambda a, b: hr.sample_from_datasets([a, 5]), "datasets: has 5"),
        (lambda a, b: hr.sample_from_datasets([a, b], [1]), "1 weights for 2"),
        (lambda a, b: hr.sample_from_datasets([a, b], []), "weights is empty"),
        (lambda a, b: hr.sample_from_datasets([a, b], ["x", 1]), "weights=.*number"),
        (lambda a, b: hr.sample_from_datasets([a, b], [1, -1]), "weights has -1"),
        (lambda a, b: hr.sample_from_datasets([a, b], [1, float("nan")]), "weights has nan"),
        (lambda a, b: hr.sample_from_datasets([a, b], [0, 0]), "sum of the weights is 0"),
        (lambda a, b: hr.choose_from_datasets([a, b], []), "choices is empty"),
        (lambda a, b: hr.choose_from_datasets([a, b], [0, 2]), "choices has 2; there are 2"),
        (lambda a, b: hr.choose_from_datasets([a, b], 3), "choices=3"),
        (lambda a, b: a.concatenate(b).interleave(2), "right behind the source, not behind concatenate"),
        (lambda a, b: a.concatenate(b).assert_cardinality(3), "put it on each dataset"),
        (lambda a, b: a.concatenate(b).shuffle("global"), "from one source"),
        (lambda a, b: a.shuffle("global").concatenate(b), "shuffled as a whole"),
        (lambda a, b: a.concatenate(b).shard(2, 0, drop_remainder=True), "before datasets are combined"),
        (lambda a, b: a.bucket_by_sequence_length("t", [5], [2]), "1 bucket_boundaries.*1 bucket_batch_sizes"),
        (lambda a, b: a.bucket_by_sequence_length("t", [5, 5], [2, 2, 2]), "5 stands before 5"),
        (lambda a, b: a.bucket_by_sequence_length("t", [5], [2, 0]), "bucket_batch_sizes=0"),
        (lambda a, b: a.bucket_by_sequence_length("", [5], [2, 2]), "key is empty"),
        (lambda a, b: a.bucket_by_sequence_length(3, [5], [2, 2]), "key=3"),
        (lambda a, b: a.bucket_by_sequence_length("t", [5], [2, 2]).batch(3), "is there already"),
    ],
)
def test_what_is_refused(parts, make, text):
    with pytest.raises(ValueError, match=text):
        make(*parts[:2])


def test_options_have_to_be_the_same(parts, tmp_path):
    other = hr.TFRecordDataset(tmp_path / "x", verify="off")
    with pytest.raises(ValueError, match="dataset 1 is read with other options"):
        parts[0].concatenate(other)
    assert parts[0].concatenate(hr.TFRecordDataset(tmp_path / "x", max_record_bytes=1000, compression="gzip"))


def test_missing_files_of_all_datasets_are_named(tmp_path):
    both = hr.TFRecordDataset(tmp_path / "one").concatenate(hr.TFRecordDataset(tmp_path / "two"))
    for look in (both.check, lambda: next(iter(both))):
        with pytest.raises(FileNotFoundError, match="two.*one"):
            look()


def bucket_model(numbers, boundaries, sizes, drop_remainder=False):
    buckets, batches = [[] for _ in sizes], []
    for number in numbers:
        at = sum(boundary <= number % 11 for boundary in boundaries)
        buckets[at].append(number)
        if len(buckets[at]) == sizes[at]:
            batches.append(buckets[at])
            buckets[at] = []
    return batches + ([] if drop_remainder else [bucket for bucket in buckets if bucket])


@pytest.mark.parametrize("drop_remainder", [False, True])
@pytest.mark.parametrize("boundaries, sizes", [([], [4]), ([3], [2, 7]), ([1, 4, 9], [8, 4, 2, 1]), ([20], [6, 6])])
def test_buckets(parts, boundaries, sizes, drop_remainder):
    a, _, c = parts
    joined = a.concatenate(c)
    dataset = joined.bucket_by_sequence_length("tokens", boundaries, sizes, drop_remainder).parse(LISTS)
    batches = list(dataset)
    assert [batch["id"].numpy().tolist() for batch in batches] == bucket_model(A + C, boundaries, sizes, drop_remainder)
    for batch in batches:
        assert np.diff(batch["tokens"].row_splits.numpy()).tolist() == [n % 11 for n in batch["id"].numpy().tolist()]


def test_buckets_resume_and_go_on_over_epochs(parts):
    def make():
        shuffled = parts[0].interleave(2).repeat(3).shuffle(20, seed=6)
        return shuffled.bucket_by_sequence_length("tokens", [3, 6], [6, 4, 2]).parse(LISTS).prefetch_to_device(["/CPU:0", "/CPU:1"])

    def read_ids(batches):
        return [batch["id"].numpy().tolist() for batch in batches]

    whole = read_ids(make())
    assert collections.Counter(sum(whole, [])) == collections.Counter(A * 3)
    assert {len(batch) for batch in whole[:-3]} == {6, 4, 2}
    for cut in range(0, len(whole) + 1, 3):
        with iter(make()) as batches:
            for _ in range(cut):
                next(batches)
            state = batches.state_dict()
        with iter(make()) as batches:
            batches.load_state_dict(state)
            assert read_ids(batches) == whole[cut:]


def test_buckets_share_out_evenly(parts):
    with pytest.raises(ValueError, match="global batch of 3 rows"):
        parts[0].bucket_by_sequence_length("tokens", [3], [4, 3]).parse(LISTS).prefetch_to_device(["/CPU:0", "/CPU:1"])


def test_a_record_without_a_length_ends_the_stream(parts, tmp_path):
    path = write_shard(tmp_path / "bad", [*map(record, range(10)), b"\xff\xff", *map(record, range(11, 20))])

    def make():
        return hr.TFRecordDataset([path]).bucket_by_sequence_length("tokens", [5], [3, 4]).parse(LISTS)

    seen, batches = [], iter(make())
    with pytest.raises(hr.SchemaError, match="bad") as caught:
        for batch in batches:
            seen += batch["id"].numpy().tolist()
    assert caught.value.record == 10
    assert sorted(seen) == list(range(10))
    again = iter(make())
    again.load_state_dict(batches.state_dict())
    with pytest.raises(hr.SchemaError, match="bad"):
        list(again)


def test_steps_of_a_sequence_example(tmp_path):
    def steps(count):
        list_ = b"".join(b"\x0a\x05\x1a\x03\x0a\x01\x07" for _ in range(count))
        entry = b"\x0a\x01t\x12" + bytes([len(list_)]) + list_
        lists = b"\x0a" + bytes([len(entry)]) + entry
        return b"\x12" + bytes([len(lists)]) + lists

    counts = [1, 5, 2, 6, 7, 1, 3]
    path = write_shard(tmp_path / "steps", map(steps, counts))
    dataset = hr.TFRecordDataset([path]).bucket_by_sequence_length("t", [4], [2, 2], sequence=True)
    parsed = dataset.parse_sequence(sequence_features={"t": hr.FixedLenSequenceFeature([], hr.int64)})
    shapes = [batch["t"].numpy().shape for batch in parsed]
    assert shapes == [(2, 2), (2, 6), (2, 3), (1, 7)]
