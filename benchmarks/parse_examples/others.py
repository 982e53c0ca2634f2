"""Other readers of serialized Examples in memory."""

from benchmarks.harness import other_readers
from benchmarks.harness.other_readers import DALI, TFRECORD, TFX_BSL, Reader


def _no_transforms(workload):
    transforms = any(feature.transform for feature in workload.features.values())
    return "no transforms of values" if transforms else ""


def _from_files_alone(workload):
    return "parses inside its file reader alone: see end_to_end"


READERS = (
    Reader(DALI, "", _from_files_alone),
    Reader(TFX_BSL, "tfxbsl_parser", _no_transforms),
    Reader(TFRECORD, "tfrecord_parser", _no_transforms),
)


def table(plan, names, ours):
    return other_readers.table(plan, "parse_examples", names, ours, READERS)
