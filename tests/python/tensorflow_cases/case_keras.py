"""Keras under a MirroredStrategy: fit, evaluate and predict on both routes, as with tf.data."""

import collections
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import RECORDS, parts

import headrace as hr
from headrace import tensorflow as hrtf

PAIR = ("image", "label")


@pytest.fixture(autouse=True)
def quiet():
    warnings.filterwarnings("ignore", message=".*shuffle=True.*")


def make_model(strategy, **options):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(8, "relu"), keras.layers.Dense(3)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.SGD(0.1), loss, metrics=["accuracy"], **options)
    return model


class IdModel(keras.Sequential):
    """Takes (image, label, id) and writes the ids of each training step to a list."""

    def train_step(self, data):
        image, label, number = data
        tf.py_function(lambda n: self.seen.extend(n.numpy().tolist()), [number], [])
        return super().train_step((image, label))


def make_id_model(strategy):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = IdModel([keras.layers.Flatten(), keras.layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.seen = []
    return model


class Epochs(keras.callbacks.Callback):
    """The ids seen in each epoch, and the number of batches."""

    def __init__(self):
        super().__init__()
        self.ids, self.batches = [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.model.seen.clear()
        self.batches.append(0)

    def on_train_batch_end(self, batch, logs=None):
        self.batches[-1] += 1

    def on_epoch_end(self, epoch, logs=None):
        self.ids.append(list(self.model.seen))


@pytest.fixture(params=["direct", "dataset"])
def route(request):
    return request.param


def distribute(route, pipeline, strategy, structure=PAIR, **options):
    if route == "dataset":  # as users without a strategy would give it to Keras
        return hrtf.dataset(pipeline, structure=structure, **options)
    return hrtf.distribute(pipeline, strategy, structure=structure, route=route, **options)


def test_every_epoch_has_every_record_once(images, strategy, route):
    model, epochs = make_id_model(strategy), Epochs()
    dataset = distribute(route, images(), strategy, ("image", "label", "id"))
    model.fit(dataset, epochs=3, verbose=0, callbacks=[epochs])
    assert epochs.batches == [6, 6, 6]
    assert [sorted(seen) for seen in epochs.ids] == [list(range(RECORDS))] * 3
    assert epochs.ids[0] != epochs.ids[1] != epochs.ids[2]


def test_the_peek_costs_no_epoch(images, strategy):
    model, epochs = make_id_model(strategy), Epochs()
    model.fit(
        distribute("direct", images(), strategy, ("image", "label", "id")), epochs=2, verbose=0, callbacks=[epochs]
    )
    plain = hrtf.distribute(images(), strategy, structure="id")
    for epoch in range(2):
        wanted = [sorted(int(n) for part in parts(batch) for n in part) for batch in plain]
        found = epochs.ids[epoch]
        assert [sorted(found[at : at + 16]) for at in range(0, RECORDS, 16)] == wanted


def test_steps_per_epoch_goes_on_where_it_was(images, strategy):
    model, epochs = make_id_model(strategy), Epochs()
    dataset = distribute("direct", images(repeat=True, known=False), strategy, ("image", "label", "id"))
    model.fit(dataset, epochs=3, steps_per_epoch=4, verbose=0, callbacks=[epochs])
    assert epochs.batches == [4, 4, 4]
    counts = collections.Counter(number for seen in epochs.ids for number in seen)
    assert set(counts) == set(range(RECORDS)) and set(counts.values()) == {2}


def test_unknown_length(images, strategy):
    model, epochs = make_id_model(strategy), Epochs()
    dataset = hrtf.distribute(images(known=False), strategy, structure=("image", "label", "id"))
    assert int(dataset.cardinality) in (-2, 6)
    model.fit(dataset, epochs=2, verbose=0, callbacks=[epochs])
    assert [sorted(seen) for seen in epochs.ids] == [list(range(RECORDS))] * 2


def test_validation_evaluate_and_predict(images, strategy):
    model = make_model(strategy)
    valid = distribute("direct", images(seed=None, take=32, known=False), strategy)
    history = model.fit(distribute("direct", images(), strategy), validation_data=valid, epochs=2, verbose=0)
    assert len(history.history["val_loss"]) == 2
    loss, accuracy = model.evaluate(valid, verbose=0)
    assert loss == pytest.approx(history.history["val_loss"][-1], rel=1e-5)
    predicted = model.predict(distribute("direct", images(seed=None), strategy), verbose=0)
    assert predicted.shape == (RECORDS, 3)


def test_class_weight(images, strategy):
    make = lambda: distribute("direct", images(), strategy)
    equal = make_model(strategy).fit(make(), verbose=0, class_weight={0: 1.0, 1: 1.0, 2: 1.0}).history["loss"]
    plain = make_model(strategy).fit(make(), verbose=0).history["loss"]
    heavy = make_model(strategy).fit(make(), verbose=0, epochs=2, class_weight={0: 1.0, 1: 5.0, 2: 1.0}).history["loss"]
    np.testing.assert_allclose(equal, plain, rtol=1e-5)
    assert len(heavy) == 2 and abs(heavy[0] - plain[0]) > 1e-3


def test_steps_per_execution(images, strategy):
    model = make_model(strategy, steps_per_execution=2)
    history = model.fit(hrtf.distribute(images(), strategy, structure=PAIR), epochs=2, verbose=0)
    plain = make_model(strategy).fit(hrtf.distribute(images(), strategy, structure=PAIR), epochs=2, verbose=0)
    np.testing.assert_allclose(history.history["loss"], plain.history["loss"], rtol=1e-5)


def test_map_function_in_fit(images, strategy):
    def prepare(image, label, seed):
        image = tf.image.stateless_random_flip_left_right(image, seed)
        return tf.cast(image, tf.float32) / 255.0, label

    dataset = hrtf.distribute(images(), strategy, structure=PAIR, map=prepare)
    once = make_model(strategy).fit(dataset, epochs=2, verbose=0).history["loss"]
    again = make_model(strategy).fit(
        hrtf.distribute(images(), strategy, structure=PAIR, map=prepare), epochs=2, verbose=0
    ).history["loss"]
    np.testing.assert_allclose(once, again, rtol=1e-6)


def test_uneven_last_batch(images, strategy):
    model = make_model(strategy)
    dataset = hrtf.distribute(images(take=42, known=False, drop_remainder=False), strategy, structure=PAIR)
    assert len(model.fit(dataset, epochs=2, verbose=0).history["loss"]) == 2


def test_the_losses_are_those_of_tf_data(images, strategy, shards):
    description = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record):
        row = tf.io.parse_single_example(record, description)
        return tf.reshape(tf.io.parse_tensor(row["image"], tf.float32), [4, 4, 3]), row["label"]

    files = tf.data.Dataset.from_tensor_slices(shards)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=3, block_length=1)
    reference = records.map(parse).batch(16, drop_remainder=True)
    reference = reference.apply(tf.data.experimental.assert_cardinality(6))  # else Keras counts an empty seventh batch
    wanted = make_model(strategy).fit(reference, epochs=3, verbose=0).history
    for route, known in (("direct", True), ("direct", False), ("dataset", True)):
        data = distribute(route, images(seed=None, known=known), strategy)
        found = make_model(strategy).fit(data, epochs=3, verbose=0).history
        np.testing.assert_allclose(found["loss"], wanted["loss"], atol=1e-6)
        np.testing.assert_allclose(found["accuracy"], wanted["accuracy"], atol=1e-6)


def test_damaged_data_is_told_clearly(strategy, shards, tmp_path):
    damaged = tmp_path / "damaged.tfrecord"
    content = bytearray(open(shards[0], "rb").read())
    content[-100] ^= 1
    damaged.write_bytes(content)
    features = {"image": hr.TensorFeature([4, 4, 3], hr.float32), "label": hr.FixedLenFeature([], hr.int64)}
    pipeline = hr.TFRecordDataset(str(damaged)).batch(4).parse(features)
    with pytest.raises(hr.DataLossError, match="damaged.tfrecord"):
        make_model(strategy).fit(hrtf.distribute(pipeline, strategy, structure=PAIR), verbose=0)


def test_keras_2_takes_it_with_steps(images, strategy):
    """tf_keras wants the steps of any distributed dataset."""
    keras_2 = pytest.importorskip("tf_keras")

    def losses(data):
        keras_2.utils.set_random_seed(3)
        with strategy.scope():
            model = keras_2.Sequential([keras_2.layers.Flatten(), keras_2.layers.Dense(3)])
            model.compile("sgd", keras_2.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model.fit(data, epochs=2, steps_per_epoch=6, verbose=0).history["loss"], model.evaluate(data, steps=6, verbose=0)

    repeated = lambda: images(repeat=True, known=False)
    direct = losses(hrtf.distribute(repeated(), strategy, structure=PAIR))
    through = losses(hrtf.distribute(repeated(), strategy, structure=PAIR, route="dataset"))
    np.testing.assert_allclose(direct[0], through[0], atol=1e-6)
    np.testing.assert_allclose(direct[1], through[1], atol=1e-6)
