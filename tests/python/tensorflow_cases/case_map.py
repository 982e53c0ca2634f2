"""The user's TensorFlow ops: map functions, their seeds, and where rows mix."""

import numpy as np
import pytest
import tensorflow as tf
from conftest import RECORDS, REPLICAS, parts

import headrace as hr
from headrace import _core
from headrace import tensorflow as hrtf

PAIR = ("image", "label")


def augment(image, label, seed):
    image = tf.image.stateless_random_flip_left_right(image, seed)
    return tf.cast(image, tf.float32) / 255.0, tf.one_hot(label, 3)


def test_one_trace_serves_all_replicas_and_batches(images, strategy):
    traces = []

    def function(image, label):
        traces.append(image.shape)
        return image * 2, tf.one_hot(label, 3)

    dataset = hrtf.distribute(images(drop_remainder=False, size=20), strategy, structure=PAIR, map=function)
    assert dataset.element_spec[1]._value_specs[0] == tf.TensorSpec([None, 3], tf.float32)
    batches = list(dataset)
    assert [part.shape for part in parts(batches[-1][1])] == [(4, 3)] * REPLICAS
    assert len(batches) == 5 and len(traces) == 1
    plain = list(hrtf.distribute(images(drop_remainder=False, size=20), strategy, structure=PAIR))
    for (image, label), (wanted, number) in zip(batches, plain):
        for found, before in zip(parts(image), parts(wanted)):
            np.testing.assert_array_equal(found, before * 2)
        for found, before in zip(parts(label), parts(number)):
            np.testing.assert_array_equal(found.argmax(1), before)


def test_control_flow_over_tensors_is_converted(images, strategy):
    def function(number):
        if tf.reduce_min(number) > 7:
            number = -number
        total = tf.constant(0, number.dtype)
        for value in number:
            total += value
        return number, total

    shared = hrtf.distribute(images(), strategy, structure="id", map=function)
    whole = hrtf.dataset(images(), structure="id", map=function)
    for (numbers, totals), (everything, total) in zip(shared, whole, strict=True):
        ours = parts(numbers)
        assert [int(value) for value in parts(totals)] == [part.sum() for part in ours]
        assert all((part < 0).all() == (abs(part).min() > 7) for part in ours)
        assert int(total) == everything.numpy().sum()


def test_runs_on_the_replicas_devices(images, strategy):
    batch = next(iter(hrtf.distribute(images(), strategy, structure="id", map=lambda x: x + 1)))
    assert [tensor.device[-5:] for tensor in batch.values] == [f"CPU:{replica}" for replica in range(REPLICAS)]
    batch = next(iter(hrtf.distribute(images(), strategy, structure="id", map=lambda x: x + 1, map_device="host")))
    assert {tensor.device[-5:] for tensor in batch.values} == {"CPU:0"}


def seeds_of(dataset):
    return [tuple(int(n) for n in part) for batch in dataset for part in parts(batch)]


def test_seeds_repeat_and_differ(images, strategy):
    give_seed = lambda x, seed: seed
    make = lambda: hrtf.distribute(images(), strategy, structure="id", map=give_seed)
    dataset = make()
    first, second = seeds_of(dataset), seeds_of(dataset)
    assert len(set(first + second)) == 2 * 6 * REPLICAS
    assert seeds_of(make()) == first
    assert first[REPLICAS + 1] == _core.tensorflow_seed(7, 0, 1, 1)
    assert seeds_of(hrtf.distribute(images(seed=8), strategy, structure="id", map=give_seed)) != first


def test_seeds_are_the_same_in_graphs_and_after_a_resume(images, strategy):
    give_seed = lambda x, seed: seed
    make = lambda: hrtf.distribute(images(), strategy, structure="id", map=give_seed)
    eager = seeds_of(make())
    iterator = iter(make())
    step = tf.function(lambda: next(iterator))
    assert seeds_of(step() for _ in range(6)) == eager
    iterator = iter(make())
    next(iterator), next(iterator)
    resumed = iter(make())
    resumed.load_state_dict(iterator.state_dict())
    assert seeds_of(resumed) == eager[2 * REPLICAS :]


def test_augmentation_is_the_same_every_time(images, strategy):
    make = lambda: hrtf.distribute(images(), strategy, structure=PAIR, map=augment)
    for (image, label), (again, same) in zip(make(), make()):
        for a, b in zip(parts(image) + parts(label), parts(again) + parts(same)):
            np.testing.assert_array_equal(a, b)


def test_chain_of_maps_and_prefetch(images, strategy):
    dataset = hrtf.distribute(images(), strategy, structure="id").map(lambda x: x + 1).map(lambda x: x * 10).prefetch(3)
    found = sorted(int(n) for batch in dataset for part in parts(batch) for n in part)
    assert found == [10 * (n + 1) for n in range(RECORDS)]
    assert dataset.prefetch(tf.data.AUTOTUNE) is dataset


def test_rows_that_mix(images, strategy):
    def centre(numbers):
        return numbers - tf.reduce_min(numbers), tf.fill(tf.shape(numbers), tf.size(numbers))

    dataset = hrtf.distribute(
        images(take=42, known=False, drop_remainder=False), strategy, structure="id", map=centre, map_rows="dependent"
    )
    plain = list(hrtf.distribute(images(take=42, known=False, drop_remainder=False), strategy, structure="id"))
    batches = list(dataset)
    assert [[len(part) for part in parts(batch[0])] for batch in batches][-1] == [3, 3, 2, 2]
    for (numbers, sizes), before in zip(batches, plain):
        whole = np.concatenate(parts(before))
        np.testing.assert_array_equal(np.concatenate(parts(numbers)), whole - whole.min())
        assert set(np.concatenate(parts(sizes))) == {len(whole)}


def test_rows_that_mix_ragged_and_sparse(images, strategy):
    features = {
        "id": hr.FixedLenFeature([], hr.int64),
        "tags": hr.VarLenFeature(hr.int64),
        "scores": hr.RaggedFeature(hr.float32),
    }
    same = hrtf.distribute(images(features=features), strategy, map=lambda batch: batch, map_rows="dependent")
    plain = hrtf.distribute(images(features=features), strategy)
    for found, wanted in zip(same, plain):
        for replica in range(REPLICAS):
            take = lambda value: strategy.experimental_local_results(value)[replica]
            assert take(found["scores"]).to_list() == take(wanted["scores"]).to_list()
            np.testing.assert_array_equal(take(found["tags"]).values, take(wanted["tags"]).values)
            np.testing.assert_array_equal(take(found["tags"]).indices, take(wanted["tags"]).indices)


def test_errors_of_the_function_are_raised(images, strategy):
    def fail(image, label):
        with tf.control_dependencies([tf.debugging.assert_less(label, tf.constant(2, tf.int64), message="too large")]):
            return tf.identity(image), label

    iterator = iter(hrtf.distribute(images(), strategy, structure=PAIR, map=fail))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            while True:
                next(iterator)
    with pytest.raises(ValueError, match="no function"):
        hrtf.distribute(images(), strategy, map=3)


def test_waiting_batches_do_not_hold_up_close(images, strategy):
    iterator = iter(hrtf.distribute(images(repeat=True, known=False), strategy, structure=PAIR, map=augment))
    next(iterator)
    iterator.close()
    with pytest.raises(hr.ClosedError):
        next(iterator)
