"""The order of records, beside tf.data's: interleave over uneven and empty shards, and the steps that count."""

import random

import pytest
import tensorflow as tf

import headrace as hr

SIZES = ((5, 5, 5, 5), (7, 0, 1, 12, 3), (0, 0, 4), (1,), (2, 9, 0, 0, 0, 30, 1, 1, 6, 0, 5))


def write_shards(folder, sizes):
    """Record k of shard s is the text s.k."""
    paths = []
    for shard, size in enumerate(sizes):
        paths.append(str(folder / f"{shard}.tfrecord"))
        with hr.TFRecordWriter(paths[-1]) as writer:
            for number in range(size):
                writer.write(b"%d.%d" % (shard, number))
    return paths


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    return {sizes: write_shards(tmp_path_factory.mktemp("shards"), sizes) for sizes in SIZES}


def tensorflow_interleave(paths, cycle_length, block_length, calls=None):
    files = tf.data.Dataset.from_tensor_slices(paths)
    return files.interleave(
        tf.data.TFRecordDataset, cycle_length, block_length, num_parallel_calls=calls, deterministic=None if calls is None else True
    )


def texts(dataset):
    return [record.numpy() for record in dataset]


@pytest.mark.parametrize("sizes", SIZES)
def test_interleave(shards, sizes):
    paths = shards[sizes]
    for cycle_length in (1, 2, 3, 4, 16):
        for block_length in (1, 2, 3, 7):
            ours = list(hr.TFRecordDataset(paths).interleave(cycle_length, block_length))
            assert ours == texts(tensorflow_interleave(paths, cycle_length, block_length)), (cycle_length, block_length)


@pytest.mark.parametrize("sizes", SIZES)
def test_parallel_interleave_in_order(shards, sizes):
    paths = shards[sizes]
    for cycle_length, block_length in ((2, 1), (3, 2), (16, 5)):
        ours = list(hr.TFRecordDataset(paths).interleave(cycle_length, block_length))
        assert ours == texts(tensorflow_interleave(paths, cycle_length, block_length, tf.data.AUTOTUNE))


def test_steps_that_count(shards):
    """Random chains of shard, take, skip and repeat."""
    chooser = random.Random(4)
    for _ in range(60):
        paths = shards[chooser.choice(SIZES)]
        cycle_length, block_length = chooser.choice(((1, 1), (3, 2), (4, 1)))
        ours = hr.TFRecordDataset(paths).interleave(cycle_length, block_length)
        theirs = tensorflow_interleave(paths, cycle_length, block_length)
        for _ in range(chooser.randrange(4)):
            step, argument = chooser.choice(
                (("take", (5,)), ("take", (0,)), ("take", (-1,)), ("skip", (3,)), ("skip", (1000,)), ("repeat", (2,)))
                + (("shard", (2, 1)), ("shard", (3, 0)), ("repeat", (0,)), ("skip", (-1,)))
            )
            ours, theirs = getattr(ours, step)(*argument), getattr(theirs, step)(*argument)
        assert list(ours) == texts(theirs), ours
