"""The tf.data route: a real tf.data.Dataset, with and without the native op."""

import gc
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from conftest import RECORDS

import headrace as hr
from headrace import _tf_ops
from headrace import tensorflow as hrtf


@pytest.fixture(params=["op", "generator"])
def way(request, monkeypatch):
    if request.param == "generator":
        monkeypatch.setattr(_tf_ops, "load", lambda: None)
    return request.param


def ids(dataset):
    return [int(number) for batch in dataset for number in batch["id"]]


def test_a_real_dataset(images, way):
    dataset = hrtf.dataset(images())
    assert isinstance(dataset, tf.data.Dataset)
    assert int(dataset.cardinality()) == 6
    assert dataset.element_spec["image"] == tf.TensorSpec([16, 4, 4, 3], tf.float32)
    assert sorted(ids(dataset)) == list(range(RECORDS))


def test_every_iterator_reads_by_itself(images, way):
    dataset = hrtf.dataset(images(seed=None))
    first, second = iter(dataset), iter(dataset)
    a = [next(first)["id"].numpy().tolist() for _ in range(3)]
    b = [next(second)["id"].numpy().tolist() for _ in range(6)]
    a += [next(first)["id"].numpy().tolist() for _ in range(3)]
    assert a == b and sorted(sum(a, [])) == list(range(RECORDS))


def test_epochs(images, way):
    dataset = hrtf.dataset(images())
    first, second = ids(dataset), ids(dataset)
    assert first != second and sorted(second) == list(range(RECORDS))
    assert sorted(ids(hrtf.dataset(images()).repeat(2))) == sorted(2 * list(range(RECORDS)))


def test_tf_data_goes_on_behind_it(images, way):
    dataset = hrtf.dataset(images(), structure=("id", "label")).unbatch().shuffle(50).batch(8).prefetch(2)
    numbers = [int(n) for batch, _ in dataset for n in batch]
    assert sorted(numbers) == list(range(RECORDS))


def test_map_and_weights(images, way):
    structure = ("id", hr.weight("label", {2: 5.0}))
    dataset = hrtf.dataset(images(), structure=structure, map=lambda x, w, seed: (x * 2, w, tf.broadcast_to(seed, [16, 2])))
    assert dataset.element_spec[2].shape == [16, 2]
    elements = list(dataset)
    assert sorted(int(n) for x, _, _ in elements for n in x) == [2 * n for n in range(RECORDS)]
    for x, w, _ in elements:
        np.testing.assert_array_equal(w, np.where(x.numpy() // 2 % 3 == 2, 5.0, 1.0))
    seeds = [tuple(seed[0].numpy()) for _, _, seed in elements]
    assert len(set(seeds)) == 6
    assert [tuple(seed[0].numpy()) for _, _, seed in hrtf.dataset(images(), structure, lambda x, w, seed: (x, w, seed[None]))] == seeds


def test_columns_of_every_kind(images, way):
    features = {
        "name": hr.FixedLenFeature([], hr.string),
        "tags": hr.VarLenFeature(hr.int64),
        "scores": hr.RaggedFeature(hr.float32),
    }
    for batch in hrtf.dataset(images(features=features, seed=None), map=None).take(1):
        assert batch["name"].numpy().tolist() == [b"record-%d" % n for n in range(16)]
        assert tf.sparse.to_dense(batch["tags"]).numpy()[7].tolist() == [0, 1, 2]
        assert batch["scores"][4].numpy().tolist() == [4.0, 4.125, 4.25, 4.375]


def test_several_devices_are_joined(images, way):
    dataset = hrtf.dataset(images(seed=None).prefetch_to_device(["/CPU:0", "/CPU:1"]))
    assert next(iter(dataset))["id"].shape == [16]
    assert ids(dataset) == list(range(RECORDS))


def test_inside_a_tf_function(images, way):
    dataset = hrtf.dataset(images())

    @tf.function
    def total(batches):
        result = tf.constant(0, tf.int64)
        for batch in batches:
            result += tf.reduce_sum(batch["id"])
        return result

    assert int(total(dataset)) == sum(range(RECORDS))


def test_distributed_by_the_strategy(images, strategy, way):
    dataset = hrtf.distribute(images(), strategy, route="dataset")
    seen = []
    for batch in dataset:
        for part in strategy.experimental_local_results(batch["id"]):
            assert part.shape == [4]
            seen += part.numpy().tolist()
    assert sorted(seen) == list(range(RECORDS))


def test_errors(shards, tmp_path):
    damaged = tmp_path / "damaged.tfrecord"
    content = bytearray(open(shards[0], "rb").read())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    features = {"id": hr.FixedLenFeature([], hr.int64)}
    with pytest.raises(tf.errors.DataLossError, match="damaged.tfrecord"):
        list(hrtf.dataset(hr.TFRecordDataset(str(damaged)).batch(4).parse(features)))
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        list(hrtf.dataset(hr.TFRecordDataset(str(tmp_path / "nowhere.tfrecord")).batch(4).parse(features)))


def engine_threads():
    names = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    return sum("headrace" in name or name.startswith("hr") for name in names)


def test_many_iterators_dropped_in_the_middle(images, strategy):
    """Iterators of endless pipelines, by themselves and behind a strategy: dropping them ends their work."""
    before = engine_threads()
    dataset = hrtf.dataset(images(repeat=True, known=False), structure="id")
    for _ in range(12):
        iterator = iter(dataset.prefetch(2))
        assert next(iterator).shape == [16]
        del iterator
        distributed = iter(strategy.experimental_distribute_dataset(dataset))
        assert len(strategy.experimental_local_results(next(distributed))) == 4
        del distributed
    gc.collect()
    assert engine_threads() <= before + 8
