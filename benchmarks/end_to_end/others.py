"""Other readers, from shards to shuffled batches."""

from benchmarks.harness import other_readers
from benchmarks.harness.other_readers import DALI, TFRECORD, TFX_BSL, Reader


def _no_gzip(workload):
    return "reads no compressed shards" if workload.compression else ""


def _no_reader(workload):
    return "reads by tf.data: see parse_examples for what is its own"


READERS = (
    Reader(DALI, "dali_pipeline", _no_gzip),
    Reader(TFX_BSL, "", _no_reader),
    Reader(TFRECORD, "tfrecord_pipeline", lambda workload: ""),
)


def table(plan, names, ours):
    return other_readers.table(plan, "end_to_end", names, ours, READERS)
