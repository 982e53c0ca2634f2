"""Datasets side by side: hr.zip."""

import json

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, write_shard


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """Two datasets of records, 40 with ids from 0 and 34 with ids from 1000, as paths."""
    folder = tmp_path_factory.mktemp("sides")
    records = lambda first, count: [hr.make_example({"id": first + i, "x": np.zeros(3, np.float32)}) for i in range(count)]
    return write_shard(folder / "left", records(0, 40)), write_shard(folder / "right", records(1000, 34))


def batched(path, size=10, **shuffle):
    source = hr.TFRecordDataset(path)
    return (source.shuffle(**shuffle) if shuffle else source).batch(size).parse(NUMBERS)


def pairs(zipped):
    return [(left["id"].numpy().tolist(), right["id"].numpy().tolist()) for left, right in zipped]


def test_elements_stand_side_by_side_up_to_the_shortest(sides):
    left, right = sides
    found = pairs(hr.zip(batched(left), batched(right)))
    assert [len(a) for a, _ in found] == [10] * 4 and [len(b) for _, b in found] == [10, 10, 10, 4]
    assert [a for a, _ in found] == [list(range(i, i + 10)) for i in range(0, 40, 10)]
    assert found[0][1] == list(range(1000, 1010))
    assert len(pairs(hr.zip([batched(right, 20), batched(left)]))) == 2
    assert [left_record == right_record for left_record, right_record in hr.zip(hr.TFRecordDataset(left), hr.TFRecordDataset(left))] == [True] * 40


def test_shuffles_of_one_seed_keep_rows_together(sides):
    left, right = sides
    size = {"buffer_size": 12, "seed": 5}
    zipped = hr.zip(hr.TFRecordDataset(left).take(34).shuffle(**size).batch(10).parse(NUMBERS), batched(right, **size))
    for _ in range(2):
        found = pairs(zipped)
        assert all(b == [n + 1000 for n in a] for a, b in found) and found[0][0] != list(range(10))


def test_the_rest_follows_a_state(sides):
    left, right = sides
    zipped = hr.zip(batched(left, buffer_size=7, seed=1), batched(right, buffer_size=9, seed=2))
    everything = pairs(zipped)
    for taken in range(len(everything) + 1):
        zipped.set_epoch(0)
        with iter(zipped) as first:
            for _ in range(taken):
                next(first)
            state = json.loads(json.dumps(first.state_dict()))
        with iter(zipped) as second:
            second.load_state_dict(state)
            assert pairs(second) == everything[taken:]


def test_states_that_do_not_fit(sides):
    zipped = iter(hr.zip(batched(sides[0]), batched(sides[1])))
    for state in ({}, [], {"format": 1, "zipped": []}, iter(batched(sides[0])).state_dict()):
        with pytest.raises(ValueError, match="2 zipped datasets"):
            zipped.load_state_dict(state)
    next(zipped)
    with pytest.raises(ValueError, match="before the first"):
        zipped.load_state_dict(zipped.state_dict())


def test_length(sides):
    left, right = (hr.TFRecordDataset(side) for side in sides)
    zipped = hr.zip(left.assert_cardinality(40).batch(10), right.batch(10))
    assert zipped.cardinality() == -2
    zipped = hr.zip(left.assert_cardinality(40).repeat().batch(10), right.assert_cardinality(34).batch(10))
    assert zipped.cardinality() == 4 and len(zipped) == 4
    assert hr.zip(left.assert_cardinality(40).repeat()).cardinality() == -1


def test_a_failure_stays(sides, tmp_path):
    torn = tmp_path / "torn"
    torn.write_bytes(open(sides[1], "rb").read()[:-5])
    zipped = iter(hr.zip(batched(sides[0], 4), batched(torn, 12)))
    seen = 0
    for _ in range(2):
        with pytest.raises(hr.DataLossError, match="torn"):
            for _ in zipped:
                seen += 1
    assert seen == 3


def test_close_and_reports(sides):
    zipped = iter(hr.zip(batched(sides[0]), batched(sides[1])))
    next(zipped)
    assert [report.batches for report in zipped.report()] == [1, 1]
    zipped.close()
    zipped.close()
    with pytest.raises(hr.ClosedError):
        next(zipped)


def test_what_is_refused(sides):
    with pytest.raises(ValueError, match="there is none"):
        hr.zip()
    with pytest.raises(ValueError, match="has 3"):
        hr.zip(batched(sides[0]), 3)
    assert list(zip([1], [2])) == [(1, 2)]
