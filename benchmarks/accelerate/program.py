"""The program that is asked about: tf.data as people write it first, every record parsed, scaled and flipped on its own."""

import tensorflow as tf

SPEC = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
BATCH, CLASSES = 256, 10


def _load(record, flips):
    row = tf.io.parse_single_example(record, SPEC)
    image = tf.reshape(tf.io.parse_tensor(row["image"], tf.float32), [32, 32, 3]) / 255.0
    if flips:
        image = tf.image.random_flip_left_right(image)
    return image, tf.one_hot(row["label"] % CLASSES, CLASSES)


def program(shards, repeat, flips):
    """A tf.data.Dataset of (images, one-hot labels); without repeat and flips its values are the same in every run."""
    dataset = tf.data.Dataset.from_tensor_slices(shards).interleave(
        tf.data.TFRecordDataset, cycle_length=16, block_length=16, num_parallel_calls=tf.data.AUTOTUNE
    )
    if repeat:
        dataset = dataset.repeat()
    dataset = dataset.shuffle(2000, seed=1).map(lambda record: _load(record, flips), num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(BATCH, drop_remainder=repeat).prefetch(tf.data.AUTOTUNE)


def columns(element):
    image, label = element
    return {"image": image.numpy(), "label": label.numpy()}
