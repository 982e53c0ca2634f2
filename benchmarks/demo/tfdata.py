"""The tf.data programs: the one such users start from, alone and with one line more, and the one they are advised to write."""

import tensorflow as tf

from benchmarks.demo.input import WORKLOAD
from benchmarks.workloads import in_tensorflow

SHUFFLE = 2000


def before(files, batch, repeat=True, compression=""):
    """Every record is parsed on its own, then shuffled and batched; each epoch is a stream of its own."""
    dataset = tf.data.TFRecordDataset(files, compression_type=compression, num_parallel_reads=tf.data.AUTOTUNE)
    dataset = dataset.map(in_tensorflow.parse_single(WORKLOAD), num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(SHUFFLE).batch(batch, drop_remainder=repeat)
    return (dataset.repeat() if repeat else dataset).prefetch(tf.data.AUTOTUNE)


def advice(files, batch, repeat=True, compression=""):
    """Parallel interleave, repeat before shuffle, batch before parse, prefetch, no forced order. map_fn(parse_tensor)
    is the general way to decode a batch of serialized tensors."""
    dataset = tf.data.Dataset.from_tensor_slices(files).interleave(
        lambda file: tf.data.TFRecordDataset(file, compression_type=compression),
        cycle_length=16,
        block_length=16,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=False,
    )
    if repeat:
        dataset = dataset.repeat()
    dataset = dataset.shuffle(SHUFFLE).batch(batch, drop_remainder=repeat)
    parse = in_tensorflow.parse_batch(WORKLOAD, "map_fn")
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
    options = tf.data.Options()
    options.deterministic = False
    return dataset.prefetch(tf.data.AUTOTUNE).with_options(options)


def accelerated(files, batch, repeat=True, compression=""):
    """The first program, taken over by headrace."""
    import headrace.tensorflow

    return headrace.tensorflow.accelerate(before(files, batch, repeat, compression), strict=True)


def slices(batch, accelerators):
    """An equal share of the global batch per accelerator, as views: what a distribution strategy would copy is not
    charged."""
    arrays = in_tensorflow.columns(batch)
    rows = len(arrays["label"]) // accelerators
    return [{name: array[i * rows : (i + 1) * rows] for name, array in arrays.items()} for i in range(accelerators)]
