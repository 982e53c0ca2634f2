"""accelerate() under a MirroredStrategy on four logical devices, in Keras' fit and in custom loops; random numbers."""

import accelerate_programs as programs
import keras
import numpy as np
import tensorflow as tf
from conftest import RECORDS, parts

from headrace import tensorflow as hrtf


def make_model(strategy):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(8, "relu"), keras.layers.Dense(10)])
        model.compile(keras.optimizers.SGD(0.1), keras.losses.CategoricalCrossentropy(from_logits=True))
    return model


def in_order(shards):
    return tf.data.Dataset.from_tensor_slices(shards).interleave(tf.data.TFRecordDataset, cycle_length=3, block_length=1)


def pinned(record):
    """An augmentation whose draws depend on the record alone."""
    image, label = programs.parsed(record)
    image = tf.image.stateless_random_flip_left_right(image, tf.stack([label, label + 5]))
    return image / 255.0, tf.one_hot(label, 10)


def test_losses_of_fit_are_those_of_the_original(shards, strategy):
    original = in_order(shards).map(pinned).batch(16, drop_remainder=True)
    taken = hrtf.accelerate(original, strategy=strategy, verify=8, strict=True)
    counted = original.apply(tf.data.experimental.assert_cardinality(RECORDS // 16))
    wanted = make_model(strategy).fit(counted, epochs=2, verbose=0).history["loss"]
    found = make_model(strategy).fit(taken, epochs=2, verbose=0).history["loss"]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_function_that_mixes_rows_sees_the_global_batch(shards, strategy):
    def centred(image, label):
        return image - tf.reduce_mean(image, 0), label

    original = in_order(shards).batch(16, drop_remainder=True).map(programs.parsed_batch).map(centred)
    taken = hrtf.accelerate(original, strategy=strategy, verify=8, strict=True)
    assert any("global batch" in line for line in taken.takeover.differences)
    for element, (image, label) in zip(taken, original, strict=True):
        np.testing.assert_allclose(np.concatenate(parts(element[0])), image, atol=1e-6)
        np.testing.assert_array_equal(np.concatenate(parts(element[1])), label)


def test_a_function_of_batches_that_does_not_runs_per_replica(shards, strategy):
    original = in_order(shards).batch(16, drop_remainder=True).map(programs.parsed_batch)
    original = original.map(lambda image, label: (tf.image.flip_up_down(image), label))
    taken = hrtf.accelerate(original, strategy=strategy, verify=8, strict=True)
    assert not any("global batch" in line for line in taken.takeover.differences)
    for element, (image, _) in zip(taken, original, strict=True):
        assert [part.shape for part in parts(element[0])] == [(4, 4, 4, 3)] * 4
        np.testing.assert_allclose(np.concatenate(parts(element[0])), image)


def test_replicas_draw_different_numbers(shards, strategy):
    def noisy(record):
        return tf.random.uniform([3]), programs.parsed(record)[1]

    original = in_order(shards).map(noisy).batch(16, drop_remainder=True)
    taken = hrtf.accelerate(original, strategy=strategy, verify=8, seed=5, strict=True)
    first = [np.concatenate(parts(noise)) for noise, _ in taken]
    assert len(np.unique(np.concatenate(first))) > 0.99 * 3 * RECORDS
    again = hrtf.accelerate(original, strategy=strategy, verify=8, seed=5, strict=True)
    for mine, noise in zip(first, again):
        np.testing.assert_array_equal(mine, np.concatenate(parts(noise[0])))


def test_refused_programs_are_distributed_by_tensorflow(shards, strategy):
    original = in_order(shards).map(programs.plain).filter(lambda image, label: tf.size(image) > 0)
    original = original.batch(16, drop_remainder=True)
    taken = hrtf.accelerate(original, strategy=strategy)
    assert not taken.takeover.taken
    assert sum(len(part) for element in taken for part in parts(element[1])) == RECORDS


def test_stages_on_top_are_distributed_by_tensorflow(shards, strategy):
    original = in_order(shards).map(programs.plain).batch(8).unbatch().batch(16, drop_remainder=True)
    taken = hrtf.accelerate(original, strategy=strategy, verify=8, strict=True)
    assert sum(len(part) for element in taken for part in parts(element[1])) == RECORDS


def flips(dataset):
    return [image.numpy() for image, _ in dataset]


def test_random_numbers_repeat_with_the_seed(shards):
    original = in_order(shards).map(programs.flipped).batch(16)
    first, again = (flips(hrtf.accelerate(original, verify=8, seed=7, strict=True)) for _ in range(2))
    other = flips(hrtf.accelerate(original, verify=8, seed=8, strict=True))
    for mine, same in zip(first, again, strict=True):
        np.testing.assert_array_equal(mine, same)
    assert any((mine != different).any() for mine, different in zip(first, other))


def test_half_of_the_images_are_flipped_and_other_ones_each_epoch(shards):
    taken = hrtf.accelerate(in_order(shards).map(programs.flipped).batch(16), verify=8, seed=7, strict=True)
    plain = np.concatenate(flips(in_order(shards).map(programs.plain).batch(16)))
    epochs = []
    for _ in range(2):
        images = np.concatenate(flips(taken))
        is_flipped = np.array([np.allclose(mine, theirs[:, ::-1]) for mine, theirs in zip(images, plain)])
        kept = np.array([np.allclose(mine, theirs) for mine, theirs in zip(images, plain)])
        assert (is_flipped ^ kept).all()
        epochs.append(is_flipped)
    assert all(RECORDS * 0.3 < flipped.sum() < RECORDS * 0.7 for flipped in epochs)
    assert (epochs[0] != epochs[1]).any()
