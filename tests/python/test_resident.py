"""resident(): the first batches again and again, through every way out of the engine."""

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, ids


def dataset(numbers):
    return hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS)


def test_the_first_batches_again(numbers):
    assert ids(dataset(numbers).resident(count=5)) == [*range(20), *range(20), *range(10)]
    assert ids(dataset(numbers).resident(1, count=3)) == 3 * list(range(10))
    assert len(dataset(numbers).resident(count=5)) == 5
    stated = hr.TFRecordDataset(numbers).assert_cardinality(100).batch(10).parse(NUMBERS)
    assert ids(stated.resident(1)) == 10 * list(range(10))


def test_on_replicas(numbers):
    pipeline = iter(dataset(numbers).prefetch_to_device(["/CPU:0", "/CPU:1"]).resident(1, count=2))
    for _ in range(2):
        assert pipeline.next_slice(0)["id"].numpy().tolist() == list(range(5))
        assert pipeline.next_slice(1)["id"].numpy().tolist() == list(range(5, 10))
    with pytest.raises(StopIteration):
        pipeline.next_slice(0)


def test_functions_run_all_the_same(numbers):
    calls = []
    doubled = dataset(numbers).map(lambda batch: calls.append(1) or 2 * batch["id"].numpy()).resident(1, count=4)
    assert [values.tolist() for values in doubled] == 4 * [list(range(0, 20, 2))] and len(calls) == 4


def test_what_it_does_not_have(numbers):
    with iter(dataset(numbers).resident()) as batches:
        first = next(batches)["id"].numpy()
        with pytest.raises(ValueError, match="has no position"):
            batches.state_dict()
        next(batches)
        assert np.shares_memory(next(batches)["id"].numpy(), first)
    with pytest.raises(ValueError, match="batches=0"):
        dataset(numbers).resident(0)
    with pytest.raises(ValueError, match="needs batch"):
        hr.TFRecordDataset(numbers).resident()
    with pytest.raises(ValueError, match="behind which only prefetch_to_device"):
        dataset(numbers).resident().take(3)
