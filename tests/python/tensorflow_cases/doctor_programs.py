"""tf.data programs with one planted fault each, and healthy ones, over shards of serialized images."""

import numpy as np
import tensorflow as tf

from headrace._doctor import tf_doctor, tf_gain, tf_measure

AUTO = tf.data.AUTOTUNE
SPEC = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
FLOATS = {"pixels": tf.io.FixedLenFeature([3072], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}
LABEL = {"label": SPEC["label"]}
SHARDS, RECORDS = 4, 256


def shorten(monkeypatch):
    """Short runs, for tests in which the names matter and not the numbers."""
    monkeypatch.setattr(tf_doctor, "_RUN_S", 0.05)
    monkeypatch.setattr(tf_measure, "_STEP_S", 0.05)
    monkeypatch.setattr(tf_gain, "_PROBE_S", 0.02)
    monkeypatch.setattr(tf_gain, "_WARM_S", 0.0)
    monkeypatch.setattr(tf_gain, "_VERIFY_S", 0.02)


def write(folder, name="images", compression="", shards=SHARDS, records=RECORDS, tiny=False):
    """Paths of shards whose records hold an `image` (a serialized tensor), the same `pixels` as floats, and a `label`."""
    paths = [str(folder / f"{name}-{shard}.tfrecord") for shard in range(shards)]
    pixels = np.random.default_rng(1).random((32, 32, 3), dtype=np.float32)
    ints = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    feature = {"label": ints}
    if not tiny:
        image = tf.io.serialize_tensor(pixels).numpy()
        feature["image"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[image]))
        feature["pixels"] = tf.train.Feature(float_list=tf.train.FloatList(value=pixels.ravel()))
    record = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    for path in paths:
        with tf.io.TFRecordWriter(path, compression) as writer:
            for _ in range(records):
                writer.write(record)
    return paths


def parse(records):
    """A whole batch, every feature."""
    rows = tf.io.parse_example(records, {**SPEC, **FLOATS})
    return tf.reshape(rows["pixels"], [-1, 32, 32, 3]) / 255.0, rows["label"], rows["image"]


def load(record):
    """One record."""
    rows = tf.io.parse_single_example(record, {**SPEC, **FLOATS})
    return tf.reshape(rows["pixels"], [32, 32, 3]) / 255.0, rows["label"], rows["image"]


def larger(record):
    image, label, _ = load(record)
    return tf.tile(image, [2, 2, 1]), label


def decode(record):
    row = tf.io.parse_single_example(record, SPEC)
    return tf.reshape(tf.io.parse_tensor(row["image"], tf.float32), [32, 32, 3]), row["label"]


def augment(image, label, text):
    return tf.image.random_flip_left_right(image), label, text


def in_python(images, labels, texts):
    turned = tf.numpy_function(lambda array: array[::-1].copy(), [images], tf.float32)
    return tf.ensure_shape(turned, images.shape), labels, texts


def only_label(records):
    return tf.io.parse_example(records, LABEL)["label"]


def options(**given):
    made = tf.data.Options()
    for name, value in given.items():
        setattr(made, name, value)
    return made


def read(paths, cycle=4, calls=AUTO, **given):
    files = tf.data.Dataset.from_tensor_slices(paths)
    return files.interleave(tf.data.TFRecordDataset, cycle_length=cycle, num_parallel_calls=calls, **given)


def end(records, size=32, calls=AUTO):
    """From records to batches that wait for the step."""
    batches = records.batch(size, drop_remainder=True)
    return batches.map(parse, num_parallel_calls=calls).prefetch(AUTO)


def healthy(paths):
    """{name: program}."""
    sequential = tf.data.TFRecordDataset(paths[:1]).repeat().shuffle(300).batch(32, drop_remainder=True)
    return {
        "interleave": end(read(paths).repeat().shuffle(300)),
        "shuffle before repeat": end(read(paths).shuffle(300).repeat()),
        "num_parallel_reads": end(tf.data.TFRecordDataset(paths, num_parallel_reads=AUTO).shuffle(300).repeat()),
        "one file": sequential.map(parse, num_parallel_calls=AUTO).prefetch(2),
        "cache": read(paths).batch(32, drop_remainder=True).map(parse, num_parallel_calls=AUTO).cache().prefetch(AUTO),
    }


def faulty(paths, folder):
    """{name of the finding: program}."""
    gzipped = write(folder, "gzip", compression="GZIP")
    tiny = write(folder, "tiny", tiny=True)
    skewed = [*paths[:3], *write(folder, "large", shards=1, records=8 * RECORDS)]
    records = read(paths).repeat().shuffle(300)
    batches = records.batch(32, drop_remainder=True)
    of_labels = {"num_parallel_calls": AUTO}
    return {
        "no prefetch": batches.map(parse, num_parallel_calls=AUTO),
        "early prefetch": batches.prefetch(AUTO).map(parse, num_parallel_calls=AUTO),
        "sequential map": end(records, calls=None),
        "fixed parallelism": end(records, calls=999),
        "sequential read": end(tf.data.TFRecordDataset(paths).shuffle(600).repeat()),
        "tiny records": read(tiny).batch(32, drop_remainder=True).map(only_label, **of_labels).prefetch(AUTO),
        "compressed": end(tf.data.TFRecordDataset(gzipped, "GZIP").shuffle(600).repeat()),
        "parse before batch": records.map(load, num_parallel_calls=AUTO).batch(32, drop_remainder=True).prefetch(AUTO),
        "nested tensor": records.map(decode, num_parallel_calls=AUTO).batch(32, drop_remainder=True).prefetch(AUTO),
        "python in loop": batches.map(parse, **of_labels).map(in_python, **of_labels).prefetch(AUTO),
        "wasted features": batches.map(only_label, **of_labels).prefetch(AUTO),
        "order forced": end(records).with_options(options(deterministic=True)),
        "few shards": end(read(paths, cycle=16).repeat().shuffle(300)),
        "skewed shards": end(read(skewed).repeat().shuffle(3000)),
        "shuffle after batch": end(read(paths).repeat()).shuffle(4).prefetch(AUTO),
        "shuffle of decoded data": records.map(larger, **of_labels).shuffle(300).batch(32, drop_remainder=True).prefetch(AUTO),
        "small shuffle": end(tf.data.TFRecordDataset(paths, num_parallel_reads=1).shuffle(8).repeat()),
        "epochs mixed": end(read(paths).repeat(2).shuffle(300)),
        "refill at the epoch edge": read(paths)
        .shuffle(300)
        .map(load, **of_labels)
        .repeat()
        .batch(32, drop_remainder=True)
        .prefetch(AUTO),
        "repeat after batch": end(read(paths).shuffle(300)).repeat().prefetch(AUTO),
        "cache misplaced": read(paths)
        .map(load, **of_labels)
        .map(augment, **of_labels)
        .cache()
        .shuffle(300)
        .batch(32, drop_remainder=True)
        .prefetch(AUTO),
    }
