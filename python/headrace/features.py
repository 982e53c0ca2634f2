"""What to expect in every record, and how each feature becomes a column.

The words are TensorFlow's. TensorFeature and RawFeature are ours. TensorFlow's own spec objects are taken as they are
(see tf_specs.py). A spec is a plain value; it is checked as a whole by Dataset.parse.
"""

from dataclasses import dataclass
from typing import Any

from . import _core, arguments, feature_parts as parts, transforms
from .dtypes import as_dtype, int32, int64
from .errors import ArgumentError
from .images import CentralCrop, Crop, ImageFeature, RandomCrop, RandomResizedCrop  # noqa: F401: spec_text finds them here
from .key_patterns import Match as _Match
from .tensor_features import RawFeature, TensorFeature
from .tf_specs import translate


@dataclass(frozen=True)
class FixedLenFeature:
    """A list of a fixed number of values: a dense column [rows, *shape] of dtype.

    Args:
        shape: dimensions per record, all known; [] for one value.
        dtype: int64, float32 or string, what a record can hold. Another type of whole numbers or bool stands for int64
            and hr.cast(dtype) before all transforms, another float type for float32 and hr.cast(dtype).
        default_value: used when the key is absent; one value, or as many as the shape has. Transforms apply to it.
        key: key of the feature; the name of the column when None.
        transform: what is done to the values on the way to the column, see headrace.transforms.
    """

    shape: Any
    dtype: Any
    default_value: Any = None
    key: Any = None
    transform: Any = ()

    def to_core(self, name):
        feature = parts.list_feature(name, "fixed_len", self.dtype, parts.shape(name, self.shape), self.key)
        parts.set_default(feature, name, self.default_value)
        return feature


@dataclass(frozen=True)
class VarLenFeature:
    """A list of any number of values: a Ragged of dtype; framework adapters hand out a sparse tensor.

    Args:
        dtype: as FixedLenFeature.
        key: key of the feature; the name of the column when None.
        transform: what is done to the values on the way to the column, see headrace.transforms.
            hr.pad makes the column dense.
    """

    dtype: Any
    key: Any = None
    transform: Any = ()

    def to_core(self, name):
        feature = parts.list_feature(name, "var_len", self.dtype, [], self.key)
        feature.sparse = True
        return feature


@dataclass(frozen=True)
class FixedLenSequenceFeature:
    """Steps of a fixed shape: a dense column [rows, longest, *shape] of dtype, short rows padded.

    Args:
        shape: dimensions per step.
        dtype: as FixedLenFeature.
        allow_missing: whether the key may be absent, which gives 0 steps. Must be true but for the feature lists of a
            SequenceExample, as in TensorFlow.
        default_value: one value to pad with; 0 or b"" when None, as it must be for feature lists. Transforms apply to it.
        key: key of the feature; the name of the column when None.
        transform: what is done to the values on the way to the column, see headrace.transforms. The
            steps of a feature list can be neither truncated nor padded.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None
    key: Any = None
    transform: Any = ()

    def to_core(self, name):
        feature = parts.list_feature(name, "fixed_len_sequence", self.dtype, parts.shape(name, self.shape), self.key)
        feature.allow_missing = bool(self.allow_missing)
        parts.set_default(feature, name, self.default_value)
        return feature


@dataclass(frozen=True)
class RowSplits:
    """Partition given by row splits [rows + 1] in the int64 feature `key`."""

    key: str


@dataclass(frozen=True)
class RowLengths:
    """Partition given by the length of each row in the int64 feature `key`."""

    key: str


@dataclass(frozen=True)
class RowStarts:
    """Partition given by where each row starts in the int64 feature `key`."""

    key: str


@dataclass(frozen=True)
class RowLimits:
    """Partition given by where each row ends in the int64 feature `key`."""

    key: str


@dataclass(frozen=True)
class ValueRowIds:
    """Partition given by the row of each value in the int64 feature `key`."""

    key: str


@dataclass(frozen=True)
class UniformRowLength:
    """Partition into rows of `length` values each."""

    length: int


_PARTITIONS = {
    RowSplits: "row_splits",
    RowLengths: "row_lengths",
    RowStarts: "row_starts",
    RowLimits: "row_limits",
    ValueRowIds: "value_rowids",
}


@dataclass(frozen=True)
class RaggedFeature:
    """Values cut into rows: a Ragged of dtype.

    Args:
        dtype: as FixedLenFeature.
        value_key: key of the values; the name of the column when None.
        partitions: the ragged dimensions inside a record, outermost first; empty: one row per record.
        row_splits_dtype: int32 or int64, what framework adapters hand out. Ragged itself always has int64.
        validate: taken for TensorFlow's sake; partitions are always checked.
        transform: what is done to the values on the way to the column, see headrace.transforms.
            hr.truncate and hr.pad need a feature without partitions; hr.pad makes the column dense.
    """

    dtype: Any
    value_key: Any = None
    partitions: Any = ()
    row_splits_dtype: Any = int32
    validate: bool = False
    transform: Any = ()

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def to_core(self, name):
        feature = parts.list_feature(name, "ragged", self.dtype, [], self.value_key)
        feature.row_splits_dtype = as_dtype(self.row_splits_dtype, "row_splits_dtype")
        for partition in self.partitions:
            if isinstance(partition, UniformRowLength):
                feature.add_partition("uniform_row_length", row_length=arguments.integer("length", partition.length))
            elif type(partition) in _PARTITIONS:
                feature.add_partition(_PARTITIONS[type(partition)], key=partition.key)
            else:
                raise ArgumentError(f"feature {name!r}: partitions: {partition!r} is no partition", key=name)
        return feature


@dataclass(frozen=True)
class SparseFeature:
    """Values at indices that other features give: a Sparse [rows, *size] of dtype.

    Args:
        index_key: key of the int64 feature with the index of each value, or a list of keys, one per dimension.
        value_key: key of the values.
        dtype: as FixedLenFeature.
        size: indices are in [0, size); a list when index_key is one.
        already_sorted: keep the order of the record; else the values of a row are sorted by index, values of one index in
            the order of the record.
        transform: what is done to the values on the way to the column, see headrace.transforms.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False
    transform: Any = ()

    def to_core(self, name):
        feature = parts.list_feature(name, "sparse", self.dtype, [], self.value_key)
        feature.already_sorted = bool(self.already_sorted)
        keys = [self.index_key] if isinstance(self.index_key, str) else list(self.index_key)
        sizes = list(self.size) if hasattr(self.size, "__iter__") else [self.size]
        if len(keys) != len(sizes):
            raise ArgumentError(
                f"feature {name!r}: index_key has {len(keys)} keys and size {len(sizes)} numbers: one of each per dimension",
                key=name,
            )
        for key, size in zip(keys, sizes):
            feature.add_index(key, arguments.integer("size", size))
        return feature


@dataclass(frozen=True)
class Stack:
    """One value of each of several keys: a dense column [rows, keys] of dtype, in the order of `keys`.

    Args:
        keys: the keys, or a pattern such as "I*" (see key_patterns.py): all that fit it, in the order of their names.
        dtype: numbers, as FixedLenFeature.
        default_value: used for a key that is absent; one value, or as many as there are keys. Transforms apply to it.
        transform: what is done to the values on the way to the column, see headrace.transforms. The
            last dimension is that of the keys.
    """

    keys: Any
    dtype: Any
    default_value: Any = None
    transform: Any = ()

    def to_core(self, name):
        keys = parts.keys(name, self.keys)
        feature = parts.list_feature(name, "stack", self.dtype, [len(keys)])
        feature.keys = keys
        parts.set_default(feature, name, self.default_value)
        return feature


@dataclass(frozen=True)
class Jagged:
    """Lists of any length of several keys: one JaggedColumn of dtype, all rows of the first key before those of the next.

    Args:
        keys: as in Stack. A key that is absent has an empty list.
        dtype: as FixedLenFeature.
        transform: what is done to the values on the way to the column, see headrace.transforms.
    """

    keys: Any
    dtype: Any = int64
    transform: Any = ()

    def to_core(self, name):
        feature = parts.list_feature(name, "jagged", self.dtype, [])
        feature.keys = parts.keys(name, self.keys)
        return feature


@dataclass(frozen=True)
class BytesFeature:
    """One byte string: a BytesColumn [rows].

    Args:
        key: key of the feature; the name of the column when None.
        view: the strings are not copied. The column points into the records and keeps them in memory as long as it, or a
            memoryview of BytesColumn.view, lives; the report counts them as held_by_consumer_bytes. A record keeps the
            whole block it was read in, which has up to 256 KiB of neighbours, so that this is for large values.
            TensorFlow gets a copy.
        transform: what is done to the values on the way to the column, see headrace.transforms. Not with view.
    """

    key: Any = None
    view: bool = False
    transform: Any = ()

    def to_core(self, name):
        feature = _core.Feature(name, "fixed_len", "bytes", [], key=self.key or "")
        feature.view = bool(self.view)
        return feature


_OURS = (
    *(FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, TensorFeature, RawFeature),
    *(BytesFeature, Stack, Jagged, ImageFeature),
)


def to_schema(features, origin=False):
    """The engine's Schema of {name: spec}, and the same dict with every spec as one of this module.

    Raises:
        ValueError: naming the feature and what is wrong with it.
    """
    specs = to_specs("features", features)
    return _core.Schema([to_core(name, spec) for name, spec in specs.items()], bool(origin)), specs


def to_specs(parameter, features):
    """{name: spec} with every spec as one of this module.

    Raises:
        ValueError: naming the parameter or the feature.
    """
    if not hasattr(features, "items"):
        raise ArgumentError(f"{parameter}: must map names to specs, not {type(features).__name__}")
    specs = {}
    for name, spec in features.items():
        if not isinstance(name, str):
            raise ArgumentError(f"{parameter}: name {name!r} must be a str")
        if isinstance(spec, _Match):
            raise parts.unexpanded(name, spec.pattern)
        ours = spec if isinstance(spec, _OURS) else translate(name, spec)
        if ours is None:
            raise ArgumentError(f"feature {name!r}: {spec!r} is no feature spec", key=name)
        specs[name] = ours
    return specs


def to_core(name, spec):
    """The engine's Feature of one of this module's specs; ValueError naming the feature."""
    try:
        feature = spec.to_core(name)
        for transform in transforms.as_list(name, getattr(spec, "transform", ())):
            feature.add_transform(transform.to_core())
        return feature
    except ArgumentError as error:
        if error.key is not None:
            raise
        raise ArgumentError(f"feature {name!r}: {error}", key=name) from None
