"""tf.data as written first: every record is parsed on its own, before it is batched."""

import tensorflow as tf

from benchmarks.workloads import in_tensorflow


def open(workload, shards, options):
    dataset = tf.data.Dataset.from_tensor_slices(shards).interleave(
        lambda file: tf.data.TFRecordDataset(file, compression_type=workload.compression or ""),
        cycle_length=16,
        block_length=16,
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    dataset = dataset.map(in_tensorflow.parse_single(workload), num_parallel_calls=tf.data.AUTOTUNE)
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.shuffle(2000, seed=1)
    if any(feature.kind == "ragged" for feature in workload.features.values()):
        dataset = dataset.ragged_batch(256, drop_remainder=options["repeat"], row_splits_dtype=tf.int64)
    else:
        dataset = dataset.batch(256, drop_remainder=options["repeat"])
    return iter(dataset.prefetch(tf.data.AUTOTUNE)), in_tensorflow.columns
