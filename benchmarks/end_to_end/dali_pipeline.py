"""The whole pipeline in NVIDIA DALI on the CPU: readers.tfrecord with a shuffle of 2000, two threads. It checks no CRC.

For the answers it reads one epoch in order: its shuffle mixes epochs.
"""

import hashlib
import os
import struct
from pathlib import Path

import numpy as np
from nvidia.dali import fn, pipeline_def
from nvidia.dali import tfrecord as tfrec

from benchmarks.harness.columns import Ragged
from benchmarks.workloads import in_numpy, store

_BATCH = 256


def open(workload, shards, options):
    indices, records = _indices(shards)
    pipeline = _pipeline(workload, shards, indices, shuffle=options["repeat"])
    pipeline.build()
    if options["repeat"]:
        batches = iter(pipeline.run, None)
    else:
        batches = ((pipeline.run(), min(_BATCH, records - start)) for start in range(0, records, _BATCH))
    return batches, lambda batch: _columns(workload, batch)


def _pipeline(workload, shards, indices, shuffle):
    features = {name: _spec(feature) for name, feature in workload.features.items()}

    @pipeline_def(batch_size=_BATCH, num_threads=len(os.sched_getaffinity(0)), device_id=None)
    def read():
        found = fn.readers.tfrecord(
            path=shards, index_path=indices, features=features, random_shuffle=shuffle, initial_fill=2000, seed=1
        )
        return tuple(found[name] for name in features)

    return read()


def _spec(feature):
    dtype, default = {"int64": (tfrec.int64, 0), "float32": (tfrec.float32, 0.0)}.get(feature.dtype, (tfrec.string, ""))
    if feature.kind == "ragged":
        return tfrec.VarLenFeature(dtype, default)
    if feature.kind != "fixed" or feature.dtype == "bytes":
        return tfrec.FixedLenFeature((), tfrec.string, "")
    return tfrec.FixedLenFeature(list(feature.shape) or [1], dtype, default)


def _columns(workload, batch):
    lists, rows = batch if isinstance(batch, tuple) and isinstance(batch[1], int) else (batch, _BATCH)
    return {name: _column(feature, one, rows) for (name, feature), one in zip(workload.features.items(), lists)}


def _column(feature, tensors, rows):
    if feature.kind == "ragged" or feature.dtype == "bytes":
        arrays = [np.asarray(tensors[row]).reshape(-1) for row in range(rows)]
        if feature.kind != "ragged":
            return in_numpy.StringRows(arrays)
        return Ragged(np.concatenate(arrays), np.cumsum([0, *map(len, arrays)], dtype=np.int64))
    array = np.asarray(tensors.as_tensor())[:rows]
    if feature.kind == "fixed":
        return array.reshape(rows, *feature.shape)
    return in_numpy.decoded(feature, array)


def _indices(shards):
    """(index files as its reader wants them, number of records); kept beside the data sets."""
    paths, records = [], 0
    for shard in shards:
        name = hashlib.sha256(f"{shard} {os.path.getsize(shard)}".encode()).hexdigest()[:16]
        path = store.CACHE / "dali" / f"{name}.idx"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{at} {size}\n" for at, size in _frames(shard)))
        records += path.read_text().count("\n")
        paths.append(str(path))
    return paths, records


def _frames(shard):
    with Path(shard).open("rb") as file:
        at = 0
        while header := file.read(8):
            size = struct.unpack("<Q", header)[0] + 16
            yield at, size
            at += size
            file.seek(at)
