"""The usual tf.data input of an image model: parse, decode_and_crop_jpeg, resize, back to uint8, batch."""

import tensorflow as tf

from benchmarks.decode_images import crops
from benchmarks.workloads import in_tensorflow


def decoded(serialized, fraction):
    specs = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    parsed = tf.io.parse_single_example(serialized, specs)
    height, width, _ = tf.unstack(tf.io.extract_jpeg_shape(parsed["image"]))
    margin = lambda side: tf.cast((1 - fraction) / 2 * tf.cast(side, tf.float64), tf.int32)
    top, left = margin(height), margin(width)
    window = tf.stack([top, left, height - 2 * top, width - 2 * left])
    image = tf.io.decode_and_crop_jpeg(parsed["image"], window, channels=3)
    image = tf.image.resize(image, [crops.SIZE, crops.SIZE])
    return {"image": tf.cast(tf.round(image), tf.uint8), "label": parsed["label"]}


def dataset(shards, crop):
    fraction = crops.CROPS[crop]
    files = tf.data.Dataset.from_tensor_slices(shards)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=4, block_length=16, num_parallel_calls=2)
    return records, lambda serialized: decoded(serialized, fraction)


def open(workload, shards, options):
    records, decode = dataset(shards, options["crop"])
    images = records.repeat().map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    return iter(images.batch(crops.BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)), in_tensorflow.columns
