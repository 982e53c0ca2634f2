"""Datasets side by side: hr.zip."""

import importlib.util
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


def test_torch_tensors_side_by_side(sides):
    torch = pytest.importorskip("torch")
    zipped = hr.zip(batched(sides[0], buffer_size=7, seed=1), batched(sides[1], buffer_size=9, seed=2))

    def read(loader):
        return [(x["id"].tolist(), y.tolist()) for x, y in loader]

    loader = hr.torch.DataLoader(zipped, structure=(None, "id"))
    known = [hr.TFRecordDataset(side).assert_cardinality(count).batch(10).parse(NUMBERS) for side, count in zip(sides, (40, 34))]
    assert len(hr.torch.DataLoader(hr.zip(known[0], known[1].take(3)))) == 3
    batches = iter(loader)
    first = next(batches)
    assert isinstance(first, tuple) and isinstance(first[0]["x"], torch.Tensor) and isinstance(first[1], torch.Tensor)
    state = json.loads(json.dumps(loader.state_dict()))
    rest = [(x["id"].tolist(), y.tolist()) for x, y in batches]
    assert len(rest) == 3 and [(first[0]["id"].tolist(), first[1].tolist()), *rest] == pairs_of_epoch(zipped, 0)
    again = hr.torch.DataLoader(zipped, structure=(None, "id"))
    again.load_state_dict(state)
    assert read(again) == rest
    assert read(again) != rest and len(read(again)) == 4  # the next epochs, whole
    behind = again.state_dict()
    assert [own["batches"] for own in behind["zipped"]] == [0, 0]


def pairs_of_epoch(zipped, epoch):
    zipped.set_epoch(epoch)
    found = pairs(zipped)
    zipped.set_epoch(epoch + 1)
    return found


def test_the_state_behind_a_zipped_epoch_is_the_start_of_the_next(sides):
    pytest.importorskip("torch")

    def made():
        return hr.zip(batched(sides[0], buffer_size=7, seed=1), batched(sides[1], buffer_size=9, seed=2))

    loader = hr.torch.DataLoader(made(), structure=("id", "id"))
    epochs = [[(a.tolist(), b.tolist()) for a, b in loader] for _ in range(2)]
    fresh = hr.torch.DataLoader(made(), structure=("id", "id"))
    first = [(a.tolist(), b.tolist()) for a, b in fresh]
    state = fresh.state_dict()
    assert [(own["epoch"], own["batches"]) for own in state["zipped"]] == [(1, 0), (1, 0)]
    again = hr.torch.DataLoader(made(), structure=("id", "id"))
    again.load_state_dict(state)
    assert first == epochs[0] and [(a.tolist(), b.tolist()) for a, b in again] == epochs[1] != epochs[0]


def test_torch_ranks_share_every_zipped_batch(sides):
    pytest.importorskip("torch")
    zipped = hr.zip(batched(sides[0]), batched(sides[1]))
    ranks = [
        [(a.tolist(), b.tolist()) for a, b in hr.torch.DataLoader(zipped, ("id", "id"), rank=rank, world_size=2)]
        for rank in range(2)
    ]
    assert [(a + c, b + d) for (a, b), (c, d) in zip(*ranks)] == pairs(zipped)


def test_structures_that_do_not_fit_the_zipped_datasets(sides):
    pytest.importorskip("torch")
    zipped = hr.zip(batched(sides[0]), batched(sides[1]))
    for structure in ("id", ("id",), {"id": "id"}):
        with pytest.raises(ValueError, match="each of the 2 zipped datasets"):
            hr.torch.DataLoader(zipped, structure=structure)
    loader = hr.torch.DataLoader(zipped)
    with pytest.raises(ValueError, match="2 zipped datasets"):
        loader.load_state_dict(iter(batched(sides[0])).state_dict())


JAX = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, json, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import headrace as hr
features = {"id": hr.FixedLenFeature([], hr.int64)}
left, right = (hr.TFRecordDataset(path).take(30).batch(10).parse(features) for path in sys.argv[1:])
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
with hr.jax.arrays(hr.zip(left, right), sharding, structure=("id", {"y": "id"})) as arrays:
    x, y = next(arrays)
    assert x.sharding == sharding and np.asarray(x).tolist() == list(range(10))
    assert np.asarray(y["y"]).tolist() == list(range(1000, 1010))
    state = json.loads(json.dumps(arrays.state_dict()))
    assert [report.batches for report in arrays.report()] == [1, 1]
    assert len(list(arrays)) == 2
again = hr.jax.arrays(hr.zip(left, right), sharding, structure=("id", "id"))
again.load_state_dict(state)
assert np.asarray(next(again)[1]).tolist() == list(range(1010, 1020))
again.close()
"""


def test_jax_arrays_side_by_side(sides, script):
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    script(JAX, *sides, timeout=180)


TENSORFLOW = """
import sys
import headrace as hr, tensorflow as tf
features = {"id": hr.FixedLenFeature([], hr.int64)}
def side(path):
    return hr.TFRecordDataset(path).take(30).assert_cardinality(30).batch(10, drop_remainder=True).parse(features)
left, right = map(side, sys.argv[1:])
zipped = hr.zip(left, right)
made = hr.tensorflow.dataset(zipped, structure=("id", {"y": "id"}))
assert made.element_spec == (tf.TensorSpec([10], tf.int64), {"y": tf.TensorSpec([10], tf.int64)}), made.element_spec
for _ in range(2):
    found = [(x.numpy().tolist(), y["y"].numpy().tolist()) for x, y in made]
    assert found == [(list(range(i, i + 10)), list(range(1000 + i, 1010 + i))) for i in (0, 10, 20)], found
added = hr.tensorflow.dataset(zipped, structure=("id", "id"), map=lambda x, y: (x + y, y))
assert [int(x[0]) for x, _ in added] == [1000, 1020, 1040]
strategy = tf.distribute.MirroredStrategy(["/CPU:0"])
shared = hr.tensorflow.distribute(zipped, strategy, structure=("id", "id"))
assert [(int(x[0]), int(y[0])) for x, y in shared] == [(0, 1000), (10, 1010), (20, 1020)]
def refused(call, text):
    try: call()
    except ValueError as error: assert text in str(error), error
    else: raise AssertionError(text)
refused(lambda: hr.tensorflow.dataset(zipped, map=lambda x, y, seed: x), "takes no seed")
refused(lambda: hr.tensorflow.distribute(zipped, strategy, route="direct"), "by tf.data")
refused(lambda: hr.tensorflow.dataset(hr.zip(hr.TFRecordDataset(sys.argv[1]))), "add .batch")
print("ok")
"""


def test_tensorflow_datasets_side_by_side(sides, script):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    assert script(TENSORFLOW, *sides, timeout=180).stdout == "ok\n"
