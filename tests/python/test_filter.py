"""Dataset.filter: which records stay, what the errors say, lengths, positions and the words of the expressions."""

import headrace as hr
import pytest


@pytest.fixture
def shard(tmp_path):
    path = str(tmp_path / "filter.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for number in range(40):
            values = {"n": number, "x": number / 2, "tags": [b"even" if number % 2 == 0 else b"odd", b"all"]}
            if number % 4 == 0:
                values["rare"] = number
            writer.write(hr.make_example(values))
    return path


SPEC = {"n": hr.FixedLenFeature([], hr.int64)}


def kept(dataset):
    return [int(n) for batch in dataset.batch(7).parse(SPEC) for n in batch["n"].numpy()]


def test_what_is_kept(shard):
    records = hr.TFRecordDataset(shard)
    n, x, tags = hr.feature("n"), hr.feature("x"), hr.feature("tags")
    rare = hr.feature("rare", default=-1)
    for condition, expected in [
        (n == 3, lambda i: i == 3),
        (n != 3, lambda i: i != 3),
        (n < 3, lambda i: i < 3),
        (3 >= n, lambda i: i <= 3),
        (x > 12.5, lambda i: i > 25),
        (n.isin([1, 39, 100]), lambda i: i in (1, 39)),
        (n.isin([]), lambda i: False),
        (tags.any("odd"), lambda i: i % 2),
        (~tags.any(b"odd") & (n > 30) | (n == 1), lambda i: i % 2 == 0 and i > 30 or i == 1),
        (tags.count == 2, lambda i: True),
        (hr.feature("rare").count > 0, lambda i: i % 4 == 0),
        (rare >= 20, lambda i: i % 4 == 0 and i >= 20),
        (rare == -1, lambda i: i % 4),
    ]:
        assert kept(records.filter(condition)) == [i for i in range(40) if expected(i)], condition


def test_with_the_other_steps(shard):
    records = hr.TFRecordDataset(shard)
    odd = hr.feature("tags").any("odd")
    assert kept(records.filter(odd).take(3)) == [1, 3, 5]
    assert kept(records.take(3).filter(odd)) == [1]
    assert kept(records.shard(2, 1).filter(~odd)) == []
    assert kept(records.filter(odd).filter(hr.feature("n") > 35).repeat(2)) == [37, 39, 37, 39]
    epochs = kept(records.filter(odd).shuffle(5, seed=1).repeat(2))
    assert sorted(epochs[:20]) == sorted(epochs[20:]) == list(range(1, 40, 2))
    assert sorted(kept(records.shuffle(5, seed=1).filter(odd))) == list(range(1, 40, 2))


def test_length_is_not_known(shard):
    records = hr.TFRecordDataset(shard).assert_cardinality(40)
    odd = records.filter(hr.feature("tags").any("odd"))
    for dataset in (odd, odd.batch(3), odd.take(5), odd.repeat(2), odd.repeat()):
        with pytest.raises(TypeError, match="the length is not known"):
            len(dataset)
    assert len(odd.take(0)) == 0
    kept(odd)
    with pytest.raises(TypeError):
        len(odd)


def test_resume_behind_every_batch(shard):
    def batches():
        odd = hr.TFRecordDataset(shard).filter(hr.feature("tags").any("odd"))
        return odd.repeat(2).shuffle(5, seed=1).batch(3).parse(SPEC)

    whole = [batch["n"].numpy().tolist() for batch in batches()]
    for taken in range(1, len(whole)):
        with iter(batches()) as first:
            for _ in range(taken):
                next(first)
            state = first.state_dict()
        with iter(batches()) as second:
            second.load_state_dict(state)
            assert [batch["n"].numpy().tolist() for batch in second] == whole[taken:]
    changed = hr.TFRecordDataset(shard).filter(hr.feature("tags").any("even")).repeat(2).shuffle(5, seed=1).batch(3)
    with iter(changed.parse(SPEC)) as other:
        other.load_state_dict(state)
        with pytest.raises(ValueError, match="the pipeline changed"):
            next(other)


def test_a_record_that_cannot_be_compared_ends_the_stream_in_its_place(shard):
    with iter(hr.TFRecordDataset(shard).filter(hr.feature("rare") >= 0).batch(2).parse(SPEC)) as batches:
        assert next(batches)["n"].numpy().tolist() == [0]
        for _ in range(2):
            with pytest.raises(hr.SchemaError, match="cannot compare feature 'rare'.*the feature is missing") as failure:
                next(batches)
    assert failure.value.path == shard and failure.value.record == 1 and failure.value.key == "rare"


def test_what_is_refused(shard):
    records = hr.TFRecordDataset(shard)
    n = hr.feature("n")
    with pytest.raises(TypeError, match="joined with &"):
        (n == 1) and (n == 2)
    with pytest.raises(TypeError, match="compare the feature"):
        bool(n)
    for make in (lambda: n == None, lambda: n == [1], lambda: n.isin([1, "a"]), lambda: hr.feature("n", "x") == 1):  # noqa: E711
        with pytest.raises(ValueError):
            make()
    with pytest.raises(ValueError, match="the count of 'n' can only be compared with integers"):
        records.filter(n.count == 1.5)
    with pytest.raises(ValueError, match="condition="):
        records.filter(lambda record: True)
    with pytest.raises(ValueError, match="must stand before batch"):
        records.batch(2).filter(n == 1)


def test_the_words_of_a_condition(shard):
    condition = (hr.feature("n") == 3) & ~hr.feature("tags").any("odd")
    assert repr(condition) == "<headrace.Condition ((n == [3]) & ~(tags.any == [odd]))>"
    assert "filter(((n == [3]) & ~(tags.any == [odd])))" in repr(hr.TFRecordDataset(shard).filter(condition))
