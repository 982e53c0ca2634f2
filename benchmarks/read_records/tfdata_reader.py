"""tf.data reading in list order: one reader, or several shards at a time; records alone, or parsed after batching."""

import tensorflow as tf

from benchmarks.workloads import in_tensorflow


def open(workload, shards, options):
    compression = workload.compression or ""
    buffer = options.get("buffer")
    shards = shards[: options.get("shards", len(shards))]
    if options.get("cycle"):
        dataset = tf.data.Dataset.from_tensor_slices(shards).interleave(
            lambda file: tf.data.TFRecordDataset(file, compression_type=compression, buffer_size=buffer),
            cycle_length=options["cycle"],
            block_length=16,
            num_parallel_calls=2,
        )
    else:
        dataset = tf.data.TFRecordDataset(shards, compression_type=compression, buffer_size=buffer)
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.batch(options.get("batch", 256), drop_remainder=options["repeat"])
    if options["parse"]:
        dataset = dataset.map(in_tensorflow.parse_batch(workload), num_parallel_calls=tf.data.AUTOTUNE)
        return iter(dataset.prefetch(tf.data.AUTOTUNE)), in_tensorflow.columns
    return iter(dataset.prefetch(tf.data.AUTOTUNE)), lambda batch: {"record": in_tensorflow.column(batch)}
