"""tf.data's next() at its cheapest: the same columns, one batch that is in memory, repeated for ever."""

import tensorflow as tf

from benchmarks.feed_devices import latency
from benchmarks.harness import window
from benchmarks.workloads import in_tensorflow

_BURST = 32


def measure(workload, shards, options, seconds):
    dataset = (
        tf.data.TFRecordDataset(shards).batch(256).map(in_tensorflow.parse_batch(workload)).take(1).cache().repeat()
    )
    batches = iter(dataset.prefetch(_BURST + 16))
    latency.sample(batches, in_tensorflow.columns, window.WARM_UP_S, _BURST, 0.1)
    return latency.sample(batches, in_tensorflow.columns, seconds, _BURST, 0.1)
