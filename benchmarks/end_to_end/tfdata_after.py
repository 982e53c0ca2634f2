"""tf.data as advised: parallel interleave, repeat, shuffle, batch, then the batch is parsed; prefetch."""

import tensorflow as tf

from benchmarks.workloads import in_tensorflow


def open(workload, shards, options):
    deterministic = options.get("deterministic", True)
    dataset = tf.data.Dataset.from_tensor_slices(shards).interleave(
        lambda file: tf.data.TFRecordDataset(file, compression_type=workload.compression or ""),
        cycle_length=16,
        block_length=16,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=deterministic,
    )
    if options["repeat"]:
        dataset = dataset.repeat()
    dataset = dataset.shuffle(2000, seed=1).batch(256, drop_remainder=options["repeat"])
    parse = in_tensorflow.parse_batch(workload, options.get("way", "decode_proto"))
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
    settings = tf.data.Options()
    settings.deterministic = deterministic
    return iter(dataset.prefetch(tf.data.AUTOTUNE).with_options(settings)), in_tensorflow.columns
