"""headrace: TFRecord shards to batches resident on several devices.

    import headrace as hr

    train = (
        hr.TFRecordDataset("data/train-*.tfrecord")
        .interleave(cycle_length=16, block_length=16)
        .repeat()
        .shuffle(2000, seed=42)
        .batch(1024, drop_remainder=True)
        .parse({"image": hr.TensorFeature([32, 32, 3], hr.float32), "label": hr.FixedLenFeature([], hr.int64)})
        .prefetch_to_device(["/CPU:0", "/CPU:1"])
    )
    with iter(train) as batches:
        for batch in batches:
            batch.replicas[0]["image"].numpy()

headrace.tensorflow, headrace.torch and headrace.jax hand batches over to the frameworks; each is imported when it is used.
"""

import importlib as _importlib
from collections.abc import Mapping as _Mapping

from . import errors
from ._core import Batch, BytesColumn, DenseColumn, JaggedColumn, Ragged, Slice, Sparse, __version__
from .combine import choose_from_datasets, sample_from_datasets
from .dataset import Dataset
from .dtypes import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .errors import BudgetError, ClosedError, DataLossError, DeviceError, Error, SchemaError
from .features import (
    BytesFeature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Jagged,
    RaggedFeature,
    RawFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    Stack,
    TensorFeature,
    UniformRowLength,
    ValueRowIds,
    VarLenFeature,
)
from .filters import feature
from .images import CentralCrop, Crop, ImageFeature, RandomCrop, RandomResizedCrop
from .key_patterns import match
from .parsing import decode_raw, parse_example, parse_single_example, parse_tensor
from .pipeline import Pipeline
from .records import TFRecordWriter, list_file, make_example, make_tensor, open_records
from .sequences import parse_sequence_example, parse_single_sequence_example
from .settings import Setting, apply_log_level as _apply_log_level, environment
from .sources import FileDataset, TFRecordDataset
from .structure import rest, weight
from .transforms import (
    bucketize,
    cast,
    clip,
    fill_nan,
    hash_bucket,
    log1p,
    lookup,
    mod,
    normalize,
    one_hot,
    pad,
    scale,
    truncate,
)

_Mapping.register(Batch)
_Mapping.register(Slice)
_apply_log_level()

_LAZY = ("tensorflow", "torch", "jax")
# Functions of modules that few programs need.
_LAZY_FUNCTIONS = {
    "features_from": "spec_sources",
    "index_files": "index",
    "infer_schema": "infer",
    "merge_trace": "tracing",
    "metrics_text": "metrics",
    "MetricsServer": "metrics",
    "read_index": "index",
    "recommended_environment": "gpu_environment",
    "repair_file": "verify",
    "running_pipelines": "running",
    "trace": "tracing",
    "verify_files": "verify",
    "zip": "zipped",
}

__all__ = [*(name for name in dir() if not name.startswith("_")), *_LAZY_FUNCTIONS, "__version__"]


def __getattr__(name):
    if name in _LAZY:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY_FUNCTIONS:
        return getattr(_importlib.import_module(f"{__name__}.{_LAZY_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_LAZY, *_LAZY_FUNCTIONS])
