"""tf.io.parse_example in a tf.function, on string tensors that are made before the clock starts."""

import itertools

import tensorflow as tf

from benchmarks.parse_examples import serialized
from benchmarks.workloads import in_tensorflow


def open(workload, shards, options):
    batches = [tf.constant(batch) for batch in serialized.batches(shards, options["batches"])]
    parse = tf.function(
        in_tensorflow.parse_batch(workload, options["way"]), input_signature=[tf.TensorSpec([None], tf.string)]
    )
    source = itertools.cycle(batches) if options["repeat"] else batches
    return (parse(batch) for batch in source), in_tensorflow.columns
