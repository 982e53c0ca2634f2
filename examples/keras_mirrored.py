"""Trains a small Keras model on several devices from TFRecord shards, with augmentation.

    ./run python examples/keras_mirrored.py

Without GPUs it makes four logical CPU devices. The shards are written to a temporary folder first.
"""

import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import headrace as hr
import headrace.tensorflow

CLASSES = 4
FEATURES = {
    "image": hr.TensorFeature([16, 16, 3], hr.uint8),
    "label": hr.FixedLenFeature([], hr.int64),
}


def write_shards(folder, shards=4, records=256):
    """Squares whose brightness tells their class."""
    rng = np.random.default_rng(1)
    for shard in range(shards):
        with hr.TFRecordWriter(folder / f"train-{shard}.tfrecord") as writer:
            for _ in range(records):
                label = int(rng.integers(CLASSES))
                image = rng.integers(40 * label, 40 * label + 100, (16, 16, 3), dtype=np.uint8)
                writer.write(hr.make_example({"image": hr.make_tensor(image), "label": label}))


def make_strategy():
    if tf.config.list_physical_devices("GPU"):
        return tf.distribute.MirroredStrategy()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
    devices = [f"/cpu:{replica}" for replica in range(4)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())


def augment(image, label, seed):
    image = tf.image.stateless_random_flip_left_right(image, seed)
    return tf.cast(image, tf.float32) / 255.0, tf.one_hot(label, CLASSES)


def main():
    strategy = make_strategy()
    with tempfile.TemporaryDirectory() as folder:
        write_shards(Path(folder))
        train = (
            hr.TFRecordDataset(f"{folder}/train-*.tfrecord")
            .interleave(cycle_length=4)
            .shuffle(512, seed=1)
            .batch(64 * strategy.num_replicas_in_sync, drop_remainder=True)
            .parse(FEATURES)
        )
        with strategy.scope():
            model = keras.Sequential(
                [keras.layers.AveragePooling2D(4), keras.layers.Flatten(), keras.layers.Dense(CLASSES)]
            )
            model.compile("adam", keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
        data = headrace.tensorflow.distribute(train, strategy, structure=("image", "label"), map=augment)
        history = model.fit(data, epochs=3, verbose=2).history
    losses = ", ".join(f"{loss:.3f}" for loss in history["loss"])
    print(f"{strategy.num_replicas_in_sync} replicas, loss per epoch: {losses}")


if __name__ == "__main__":
    main()
