"""The program shapes of accelerate_programs.py: what is taken over gives the same, what is not says why."""

import logging
from collections import Counter

import accelerate_programs as programs
import numpy as np
import pytest
import tensorflow as tf

from headrace import tensorflow as hrtf

# As fixture `shards` makes them; names are needed when tests are collected.
SHAPES = list(programs.shapes(["part-0", "part-1", "part-2"]))
DRAWS = ("flip", "random", "crop", "brightness", "Generator", "prefetch+options", "tf.function")


def flat(element):
    return [tensor.numpy() for tensor in tf.nest.flatten(element, expand_composites=True)]


def rows(dataset, leaf):
    """The rows of one output of all batches, and how often each comes."""
    return Counter(row.tobytes() for element in dataset for row in flat(element)[leaf])


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name, shards, caplog):
    make, verdict = programs.shapes(shards)[name]
    dataset = make()
    with caplog.at_level(logging.WARNING, "headrace"):
        taken = hrtf.accelerate(dataset, verify=8, seed=1)
    account = taken.takeover
    if verdict not in ("taken", "partly"):
        assert taken is dataset and not account.taken
        assert verdict in account.reason and "\n" not in account.reason
        assert [record.getMessage() for record in caplog.records] == [f"the dataset is left as it is: {account.reason}"]
        return
    assert account.taken, account.reason
    assert taken.element_spec == dataset.element_spec
    assert any("on the batches" in line for line in account.stayed) == (verdict == "partly")
    if "repeat.shuffle" in name:  # without end
        dataset, taken = dataset.take(6), taken.take(6)
        assert [array.shape for array in flat(next(iter(taken)))] == [array.shape for array in flat(next(iter(dataset)))]
    elif any(word in name for word in DRAWS) and "stateless" not in name:
        assert "random draws" in account.check or "draw anew" in account.check or "map(random)" in name
        labels = 0 if "dict" in name else -1
        assert rows(taken, labels) == rows(dataset, labels)
    elif "shuffle" in name or "list_files." in name or "sample" in name or "shard" in name:
        assert [rows(taken, leaf) for leaf in (0, 1)] == [rows(dataset, leaf) for leaf in (0, 1)]
    else:
        assert "records equal" in account.check
        batches = list(zip(taken, dataset, strict=True))
        assert batches
        for ours, theirs in batches:
            for mine, wanted in zip(flat(ours), flat(theirs), strict=True):
                assert mine.dtype == wanted.dtype
                if mine.dtype == object:
                    assert mine.tolist() == wanted.tolist()
                else:
                    np.testing.assert_allclose(mine, wanted, rtol=1e-6, atol=1e-7)


def test_strict_raises(shards):
    make, reason = programs.shapes(shards)["zip(T.map, range).batch"]
    with pytest.raises(ValueError, match=f"not taken over: {reason}"):
        hrtf.accelerate(make(), strict=True)


def test_there_are_all_shapes():
    verdicts = [verdict for _, verdict in programs.shapes(["part-0", "part-1", "part-2"]).values()]
    assert len(verdicts) >= 36 and sum(verdict in ("taken", "partly") for verdict in verdicts) >= 28
