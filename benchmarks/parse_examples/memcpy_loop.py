"""Builds and runs memcpy_loop.cc: the values of the one large feature of a workload, copied with the kind of store that
headrace's parser takes for batches of that size."""

import math
from pathlib import Path

import numpy as np

from benchmarks.harness import loops, window
from benchmarks.parse_examples import serialized

_SOURCE = Path(__file__).with_name("memcpy_loop.cc")
_CACHED_BYTES = 8 << 20  # larger batches are written around the caches, see src/tensor/copy.h


def measure(workload, shards, options, seconds):
    (size,) = (value_bytes(feature) for name, feature in workload.features.items() if name != "label")
    size = size or options["value_bytes"]
    kind = "streaming" if size * serialized.BATCH > _CACHED_BYTES else "plain"
    with loops.file_of(serialized.records(shards, options["batches"])) as path:
        (figures,) = loops.run(_SOURCE, [seconds, window.WARM_UP_S, kind, size, serialized.BATCH, path])
    return loops.delivers_nothing(figures)


def value_bytes(feature):
    """Bytes of a feature's values, 0 where the record has them."""
    return 0 if feature.dtype == "bytes" else math.prod(feature.shape) * np.dtype(feature.dtype).itemsize
