"""Strings, ragged and sparse columns: the same tensors as tf.io.parse_example gives, slice by slice."""

import numpy as np
import pytest
import tensorflow as tf
from conftest import REPLICAS, example

import headrace as hr
from headrace import _tf_ops
from headrace import tensorflow as hrtf

FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
    "tags": tf.io.VarLenFeature(tf.int64),
    "words": tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64),
    "scores": tf.io.RaggedFeature(tf.float32, row_splits_dtype=tf.int32),
    "columns": tf.io.RaggedFeature(
        tf.float32,
        value_key="scores",
        partitions=[tf.io.RaggedFeature.UniformRowLength(1)],
        row_splits_dtype=tf.int32,
    ),
    "pairs": tf.io.RaggedFeature(
        tf.string,
        value_key="pieces",
        partitions=[tf.io.RaggedFeature.UniformRowLength(2), tf.io.RaggedFeature.RowLengths("lengths")],
        row_splits_dtype=tf.int64,
    ),
    "steps": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
}


def expected(numbers):
    return tf.io.parse_example([example(int(number)) for number in numbers], FEATURES)


def assert_same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(wanted, tf.SparseTensor):
        np.testing.assert_array_equal(found.indices, wanted.indices)
        np.testing.assert_array_equal(found.values, wanted.values)
        np.testing.assert_array_equal(found.dense_shape, wanted.dense_shape)
    elif isinstance(wanted, tf.RaggedTensor):
        assert found.row_splits.dtype == wanted.row_splits.dtype
        assert found.ragged_rank == wanted.ragged_rank
        assert found.to_list() == wanted.to_list()
        assert found.uniform_row_length is None or found.uniform_row_length == wanted.uniform_row_length
    else:
        np.testing.assert_array_equal(found, wanted)


def check(batches, strategy):
    rows = 0
    for batch in batches:
        slices = {name: strategy.experimental_local_results(value) for name, value in batch.items()}
        for replica in range(REPLICAS):
            numbers = slices["id"][replica].numpy()
            rows += len(numbers)
            wanted = expected(numbers)
            for name in FEATURES:
                if name != "steps":
                    assert_same(slices[name][replica], wanted[name])
            assert slices["steps"][replica].shape[0] == len(numbers)
    return rows


@pytest.fixture(params=["op", "python"])
def way(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(_tf_ops, "load", lambda: None)
    return request.param


def test_in_python(images, strategy, way):
    dataset = hrtf.distribute(images(features=FEATURES, drop_remainder=False), strategy)
    assert check(dataset, strategy) == 96
    spec = dataset.element_spec
    assert spec["tags"]._value_specs[0] == tf.SparseTensorSpec([None, None], tf.int64)
    assert spec["scores"]._value_specs[0].row_splits_dtype == tf.int32


def test_without_strings(images, strategy):
    features = {name: spec for name, spec in FEATURES.items() if name in ("id", "tags", "scores", "columns")}
    for batch in hrtf.distribute(images(features=features), strategy):
        for replica, numbers in enumerate(batch["id"].values):
            wanted = expected(numbers.numpy())
            for name in ("tags", "scores", "columns"):
                assert_same(strategy.experimental_local_results(batch[name])[replica], wanted[name])


def test_through_a_map_function(images, strategy):
    dataset = hrtf.distribute(images(features=FEATURES), strategy, map=lambda batch: dict(batch))
    assert check(dataset, strategy) == 96


def test_in_a_graph(images, strategy):
    iterator = iter(hrtf.distribute(images(features=FEATURES), strategy))
    step = tf.function(lambda: next(iterator))
    assert check((step() for _ in range(6)), strategy) == 96


def test_in_a_training_step(images, strategy):
    def replica_step(batch):
        words = tf.reduce_sum(tf.cast(batch["words"].row_lengths(), tf.int64))
        return tf.stack([tf.reduce_sum(tf.cast(tf.strings.length(batch["name"]), tf.int64)), words, tf.sparse.reduce_sum(batch["tags"])])

    step = tf.function(lambda batch: strategy.reduce("SUM", strategy.run(replica_step, args=(batch,)), axis=None))
    total = sum(step(batch).numpy() for batch in hrtf.distribute(images(features=FEATURES), strategy))
    names = sum(len(b"record-%d" % number) for number in range(96))
    assert total.tolist() == [names, sum((n + 1) % 3 for n in range(96)), sum(sum(range(n % 4)) for n in range(96))]


def test_strings_outlive_their_batch(images, strategy):
    dataset = hrtf.distribute(images(features=FEATURES, seed=None), strategy)
    kept = [tf.identity(batch["name"].values[0])[:1] for batch in dataset]
    del dataset
    assert [int(name.numpy()[0].split(b"-")[1]) for name in kept] == [0, 16, 32, 48, 64, 80]


def test_numeric_dtypes(strategy, tmp_path):
    dtypes = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float64"]
    path = str(tmp_path / "dtypes.tfrecord")
    values = {name: tf.cast([0, 1, 1, 0], tf.as_dtype(name)) for name in dtypes}
    with hr.TFRecordWriter(path) as writer:
        for _ in range(8):
            texts = {name: tf.io.serialize_tensor(value).numpy() for name, value in values.items()}
            writer.write(hr.make_example(texts))
    pipeline = hr.TFRecordDataset(path).batch(8).parse({name: hr.TensorFeature([4], name) for name in dtypes})
    batch = next(iter(hrtf.distribute(pipeline, strategy)))
    for name, value in values.items():
        found = batch[name].values[2]
        assert found.dtype == value.dtype and found.shape == [2, 4]
        np.testing.assert_array_equal(tf.cast(found, tf.float64)[1], tf.cast(value, tf.float64))


def test_strings_that_tensorflow_passes_on_stay_what_they_are(tmp_path):
    """Ops copy strings from tensor to tensor; those of a batch must outlive it."""
    text = lambda number: b"%06d" % number * (1 + number % 40)
    path = str(tmp_path / "strings.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for number in range(1000):
            writer.write(hr.make_example({"id": number, "text": text(number), "few": [text(number), b""]}))
    features = {
        "id": hr.FixedLenFeature([], hr.int64),
        "text": hr.FixedLenFeature([], hr.string),
        "few": hr.RaggedFeature(hr.string),
        "view": hr.features.BytesFeature(key="text", view=True),
    }
    dataset = hrtf.dataset(hr.TFRecordDataset(path).batch(16).parse(features))
    gathered = [(batch["id"], tf.gather(batch["text"], [3, 1])) for batch in dataset]
    for numbers, texts in gathered:
        assert texts.numpy().tolist() == [text(int(numbers[3])), text(int(numbers[1]))]
    seen = 0
    for row in dataset.unbatch().shuffle(300):
        number = int(row["id"])
        assert row["text"].numpy() == row["view"].numpy() == text(number)
        assert row["few"].numpy().tolist() == [text(number), b""]
        seen += 1
    assert seen == 1000
