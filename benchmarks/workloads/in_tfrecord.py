"""A workload as the tfrecord package of PyPI sees it: dicts of single Examples, stacked to batches as its users do."""

import numpy as np

from benchmarks.harness.columns import Ragged
from benchmarks.workloads import in_numpy

_TYPES = {"int64": "int", "float32": "float"}
# Its own words for the lists of an Example, which extract_feature_dict wants again.
LISTS = {"byte": "bytes_list", "float": "float_list", "int": "int64_list"}


def description(workload):
    return {
        name: _TYPES.get(feature.dtype if feature.kind in ("fixed", "ragged") else "", "byte")
        for name, feature in workload.features.items()
    }


def columns(workload, records):
    """The columns of a batch, a list of dicts."""
    return {name: _column(feature, [record[name] for record in records]) for name, feature in workload.features.items()}


def _column(feature, values):
    if feature.kind == "ragged":
        splits = np.cumsum([0, *map(len, values)], dtype=np.int64)
        return Ragged(np.concatenate(values), splits)
    if isinstance(values[0], bytes):
        arrays = [np.frombuffer(value, np.uint8) for value in values]
        return in_numpy.StringRows(arrays) if feature.kind == "fixed" else in_numpy.decoded(feature, np.stack(arrays))
    return np.stack(values).reshape(len(values), *feature.shape)
