"""Four logical CPU devices, a MirroredStrategy over them, and shards that TensorFlow itself wrote."""

import numpy as np
import pytest
import tensorflow as tf

import headrace as hr

REPLICAS = 4
RECORDS = 96  # in 3 shards

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * REPLICAS
)


@pytest.fixture(scope="session")
def strategy():
    devices = [f"/cpu:{replica}" for replica in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())


def example(number):
    """Record `number`: image [4, 4, 3], label, id, and columns of variable length."""
    generator = np.random.default_rng(number)
    image = generator.random((4, 4, 3), dtype=np.float32)
    ints = lambda values: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    texts = lambda values: tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    feature = {
        "image": texts([tf.io.serialize_tensor(image).numpy()]),
        "label": ints([number % 3]),
        "id": ints([number]),
        "name": texts([b"record-%d" % number]),
        "tags": ints(range(number % 4)),
        "words": texts([b"w%d" % i for i in range((number + 1) % 3)]),
        "pieces": texts([b"p%d" % i for i in range(number % 3 + 1)]),
        "lengths": ints([number % 3, 1]),
        "scores": tf.train.Feature(float_list=tf.train.FloatList(value=[number + i / 8 for i in range(number % 5)])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    paths = [str(folder / f"part-{shard}.tfrecord") for shard in range(3)]
    for shard, path in enumerate(paths):
        with tf.io.TFRecordWriter(path) as writer:
            for number in range(shard, RECORDS, 3):
                writer.write(example(number))
    return paths


IMAGES = {
    "image": hr.TensorFeature([4, 4, 3], hr.float32),
    "label": hr.FixedLenFeature([], hr.int64),
    "id": hr.FixedLenFeature([], hr.int64),
}


@pytest.fixture
def images(shards):
    """A function: batches of `size` parsed records; shuffled unless seed is None."""

    def make(size=16, seed=7, drop_remainder=True, features=None, repeat=False, take=None, known=True):
        dataset = hr.TFRecordDataset(shards).interleave(cycle_length=3)
        if take is not None:
            dataset = dataset.take(take)
        if repeat:
            dataset = dataset.repeat()
        if seed is not None:
            dataset = dataset.shuffle(32, seed=seed)
        if known:
            dataset = dataset.assert_cardinality(RECORDS)
        return dataset.batch(size, drop_remainder=drop_remainder).parse(features or IMAGES)

    return make


def parts(value):
    """The tensors of a PerReplica, as NumPy arrays."""
    return [tensor.numpy() for tensor in value.values]
