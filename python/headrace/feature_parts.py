"""What the feature specs share: checks of their arguments, and their way into the engine's Feature."""

import numpy as np

from . import _core, transforms
from .dtypes import as_dtype, float32, int64, numpy_dtype
from .errors import ArgumentError


def unexpanded(name, pattern):
    """The error for a pattern where there is no data that it could be replaced by."""
    hint = "Dataset.parse replaces patterns by keys; use its `features` here"
    return ArgumentError(f"feature {name!r}: {pattern!r} is a pattern: {hint}", key=name)


def keys(name, keys):
    """The keys of a wide spec as a list of str."""
    if isinstance(keys, str):
        raise unexpanded(name, keys)
    keys = list(keys)
    for key in keys:
        if not isinstance(key, str):
            raise ArgumentError(f"feature {name!r}: keys: {key!r} must be a str", key=name)
    return keys


def list_feature(name, kind, dtype, shape, key=None):
    """A feature of a list. What a record cannot hold is read as the type that it can hold, and cast."""
    dtype = as_dtype(dtype)
    wire = dtype
    if dtype.startswith(("int", "uint", "bool")):
        wire = int64
    elif dtype in ("float16", "bfloat16", "float64"):
        wire = float32
    feature = _core.Feature(name, kind, wire, shape, key=key or "")
    if wire != dtype:
        feature.add_transform(transforms.cast(dtype).to_core())
    return feature


def shape(name, shape, may_be_unknown=False):
    """The dimensions as a list, an unknown one as -1 where there may be some."""
    if shape is None:
        raise ArgumentError(f"feature {name!r}: shape=None: Missing shape for feature {name}", key=name)
    try:
        dimensions = [shape] if isinstance(shape, int) else list(shape)
    except (TypeError, ValueError):
        raise ArgumentError(f"feature {name!r}: shape={shape!r}: all dimensions must be known", key=name) from None
    sizes = [-1 if dimension is None else int(dimension) for dimension in dimensions]
    for place, size in enumerate(sizes):
        if size < -1 or (size < 0 and not may_be_unknown):
            hint = "; use FixedLenSequenceFeature, VarLenFeature or RaggedFeature" if place == 0 else ""
            raise ArgumentError(f"feature {name!r}: shape={shape!r}: all dimensions must be known{hint}", key=name)
    return sizes


def set_unknown_dims(feature, name, spec):
    """What becomes of unknown dimensions, and what they are padded with."""
    kind = spec.unknown_dims or ("equal" if spec.shape is None else "ragged")
    feature.set_unknown_dims(str(kind))
    if spec.padding_value is not None:
        if kind != "padded":
            raise ArgumentError(f"padding_value={spec.padding_value!r}: is for unknown_dims='padded'")
        set_default(feature, name, spec.padding_value, "padding_value")


def set_default(feature, name, value, parameter="default_value"):
    """The default of a feature, checked against its type; None: it has none."""
    if value is None:
        return
    if feature.dtype == "bytes":
        items = np.asarray(value, dtype=object).reshape(-1)
        feature.set_default([_as_bytes(name, item, parameter) for item in items])
        return
    dtype = numpy_dtype(feature.dtype)
    # NumPy knows nothing about the range of the types of ml_dtypes: they are checked as float32.
    checked = _checked_cast(name, value, np.asarray(value), np.dtype(np.float32) if dtype.kind == "V" else dtype, parameter)
    feature.set_default(np.ascontiguousarray(checked.astype(dtype)).tobytes())


def _checked_cast(name, value, given, dtype, parameter):
    """`given` as dtype; a value that would change kind or leave the range is refused."""
    wrong = ArgumentError(f"feature {name!r}: {parameter}={value!r}: does not fit {dtype.name}", key=name)
    if given.dtype.kind not in "biufc" or (given.size and not np.can_cast(given.dtype, dtype, "same_kind")):
        if not (given.dtype.kind in "iu" and dtype.kind in "iuf"):
            raise wrong
    if given.dtype.kind in "iu" and dtype.kind in "iu" and given.size:
        limits = np.iinfo(dtype)
        if int(given.min()) < limits.min or int(given.max()) > limits.max:
            raise wrong
    return given.astype(dtype)


def _as_bytes(name, item, parameter):
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    raise ArgumentError(f"feature {name!r}: {parameter}={item!r}: must be bytes", key=name)
