"""tfx-bsl's ExamplesToRecordBatchDecoder on Arrow arrays of serialized Examples that are made before the clock starts."""

import itertools

import numpy as np
import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2
from tfx_bsl.coders import example_coder

from benchmarks.harness.columns import Ragged
from benchmarks.parse_examples import serialized
from benchmarks.workloads import in_numpy

_TYPES = {"int64": schema_pb2.INT, "float32": schema_pb2.FLOAT}


def open(workload, shards, options):
    batches = [pa.array(batch, pa.binary()) for batch in serialized.batches(shards, options["batches"])]
    decoder = example_coder.ExamplesToRecordBatchDecoder(_schema(workload).SerializeToString())
    source = itertools.cycle(batches) if options["repeat"] else batches
    return (decoder.DecodeBatch(batch) for batch in source), lambda batch: _columns(workload, batch)


def _schema(workload):
    schema = schema_pb2.Schema()
    for name, feature in workload.features.items():
        is_list = feature.kind in ("fixed", "ragged")
        schema.feature.add(name=name, type=_TYPES.get(feature.dtype if is_list else "", schema_pb2.BYTES))
    return schema


def _columns(workload, batch):
    return {name: _column(feature, batch[name]) for name, feature in workload.features.items()}


def _column(feature, lists):
    values, splits = lists.values, lists.offsets.to_numpy()
    rows = len(lists)
    if pa.types.is_large_binary(values.type) or pa.types.is_binary(values.type):
        return _strings(feature, values, rows)
    array = values.to_numpy()
    if feature.kind == "ragged":
        return Ragged(array, splits)
    return array.reshape(rows, *feature.shape)


def _strings(feature, values, rows):
    _, offsets, payload = values.buffers()
    width = np.int64 if pa.types.is_large_binary(values.type) else np.int32
    offsets = np.frombuffer(offsets, width)[values.offset : values.offset + rows + 1]
    payload = np.frombuffer(payload, np.uint8)
    if feature.kind == "fixed":
        return in_numpy.Strings(payload, offsets)
    return in_numpy.decoded(feature, payload[offsets[0] : offsets[-1]].reshape(rows, -1))
