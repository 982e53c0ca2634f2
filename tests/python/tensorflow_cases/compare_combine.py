"""Datasets made of several, and batches by length, beside tf.data's."""

import random

import numpy as np
import pytest
import tensorflow as tf

import headrace as hr

SIZES = (13, 4, 29)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Shard s has SIZES[s] records: "id" is 100 s + k, "t" has as many values as chance says."""
    folder, chooser, paths = tmp_path_factory.mktemp("shards"), random.Random(2), []
    for shard, size in enumerate(SIZES):
        paths.append(str(folder / f"{shard}.tfrecord"))
        with hr.TFRecordWriter(paths[-1]) as writer:
            for number in range(size):
                tokens = np.arange(chooser.randrange(12))
                writer.write(hr.make_example({"id": 100 * shard + number, "t": tokens}))
    return paths


def both(path):
    return hr.TFRecordDataset([path]), tf.data.TFRecordDataset([path])


def records(dataset):
    return [record.numpy() for record in dataset]


def test_concatenate(paths):
    ours, theirs = both(paths[0])
    for path in (paths[2], paths[1], paths[2]):
        more = both(path)
        ours, theirs = ours.concatenate(more[0].take(7)).repeat(2), theirs.concatenate(more[1].take(7)).repeat(2)
    assert list(ours) == records(theirs)


@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("choices", [[0], [0, 1, 2], [2, 2, 2, 1], [1, 0, 0, 2, 0]])
def test_choose(paths, choices, stop):
    ours, theirs = zip(*map(both, paths))
    pattern = tf.data.Dataset.from_tensor_slices(np.int64(choices)).repeat(200)  # tf.data ends where the choices do
    expected = records(tf.data.Dataset.choose_from_datasets(theirs, pattern, stop_on_empty_dataset=stop))
    assert list(hr.choose_from_datasets(ours, choices, stop_on_empty_dataset=stop)) == expected


def test_sample_has_the_same_records_and_shares(paths):
    ours, theirs = zip(*map(both, paths))
    weights = [0.5, 0.2, 0.3]
    sampled = list(hr.sample_from_datasets(ours, weights, seed=1))
    assert sorted(sampled) == sorted(records(tf.data.Dataset.sample_from_datasets(theirs, weights, seed=1)))
    endless = hr.sample_from_datasets([part.repeat() for part in ours], weights, seed=1).take(6000)
    reference = tf.data.Dataset.sample_from_datasets([part.repeat() for part in theirs], weights, seed=1).take(6000)
    of = {record: shard for shard, part in enumerate(theirs) for record in records(part)}
    shares = [np.bincount([of[record] for record in stream]) / 6000 for stream in (endless, records(reference))]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.04)


@pytest.mark.parametrize("drop_remainder", [False, True])
@pytest.mark.parametrize("boundaries, sizes", [([4], [3, 5]), ([1, 2, 8], [2, 9, 4, 1]), ([50], [6, 2])])
def test_buckets(paths, boundaries, sizes, drop_remainder):
    spec = {"id": tf.io.FixedLenFeature([], tf.int64), "t": tf.io.RaggedFeature(tf.int64)}
    parsed = tf.data.TFRecordDataset(paths).map(lambda record: tf.io.parse_single_example(record, spec))
    theirs = parsed.bucket_by_sequence_length(
        lambda row: tf.shape(row["t"])[0], boundaries, sizes, drop_remainder=drop_remainder
    )
    padded = {"id": hr.FixedLenFeature([], hr.int64), "t": hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True)}
    ours = hr.TFRecordDataset(paths).bucket_by_sequence_length("t", boundaries, sizes, drop_remainder).parse(padded)
    count = 0
    for mine, reference in zip(ours, theirs, strict=True):
        for name in padded:
            np.testing.assert_array_equal(mine[name].numpy(), reference[name].numpy())
        count += 1
    assert count > 3
