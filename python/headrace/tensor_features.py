"""Specs of bytes features that hold whole arrays: TensorProtos and raw elements."""

import math
from dataclasses import dataclass
from typing import Any

from . import _core, arguments, feature_parts as parts
from .dtypes import as_dtype
from .errors import ArgumentError


@dataclass(frozen=True)
class TensorFeature:
    """A bytes feature that holds one serialized TensorProto (tf.io.serialize_tensor).

    The column is dense, [rows, *shape] of dtype, when all dimensions are known. Otherwise `unknown_dims` says what the
    records of a batch become:

    "ragged": a Ragged up to the last unknown dimension; the dimensions behind it are those of the values.
    "padded": dense, each unknown dimension as long as the longest in the global batch.
    "equal": dense; a record whose shape differs from that of the first one in the batch is an error.

    Args:
        shape: dimensions of the tensor, None for an unknown one; or None: the record has the shape, of at most 8
            dimensions.
        dtype: type of the proto: any number type, bool or string.
        key: key of the feature; the name of the column when None.
        reshape: the proto may have any shape that tf.reshape takes to `shape`, with at most one dimension unknown.
        unknown_dims: as above; None: "ragged", for shape=None "equal".
        padding_value: one value of dtype to pad with; 0, False or b"" when None.
        transform: what is done to the values on the way to the column, see headrace.transforms.

    Errors while parsing:
        SchemaError: no TensorProto, another dtype or shape, values that do not fit the shape.
        BudgetError: padding, filled-in values and empty rows of more than 4 GiB in a column.
    """

    shape: Any
    dtype: Any
    key: Any = None
    reshape: bool = False
    unknown_dims: Any = None
    padding_value: Any = None
    transform: Any = ()

    def to_core(self, name):
        shape = [] if self.shape is None else parts.shape(name, self.shape, may_be_unknown=True)
        feature = _core.Feature(name, "tensor", as_dtype(self.dtype), shape, key=self.key or "")
        feature.unknown_rank = self.shape is None
        feature.reshape = bool(self.reshape)
        parts.set_unknown_dims(feature, name, self)
        return feature


@dataclass(frozen=True)
class RawFeature:
    """A bytes feature that holds the elements themselves (tf.io.decode_raw).

    The column is dense, [rows, *shape] of dtype. One dimension may be unknown: it follows from the number of bytes, and
    `unknown_dims` says what the records of a batch become, as in TensorFeature.

    Args:
        shape: dimensions of the array, None for an unknown one; or None, which is [None].
        dtype: any number type or bool (any byte but 0 is true).
        little_endian: byte order in the record; the parts of a complex number are swapped each by itself.
        key: key of the feature; the name of the column when None.
        fixed_length: bytes of every record: longer ones are cut, shorter ones filled up with zeros. An unknown dimension
            follows from it.
        unknown_dims: "ragged", "padded" or "equal"; None: "ragged", for shape=None "equal" (as decode_raw).
        padding_value: one value of dtype to pad with; 0 or False when None.
        transform: what is done to the values on the way to the column, see headrace.transforms.

    Errors while parsing:
        SchemaError: bytes that are no whole number of elements or rows, or not as many as the shape needs.
    """

    shape: Any
    dtype: Any
    little_endian: bool = True
    key: Any = None
    fixed_length: Any = None
    unknown_dims: Any = None
    padding_value: Any = None
    transform: Any = ()

    def to_core(self, name):
        dtype = as_dtype(self.dtype)
        shape = [-1] if self.shape is None else parts.shape(name, self.shape, may_be_unknown=True)
        fixed_length = 0
        if self.fixed_length is not None:
            fixed_length = arguments.integer("fixed_length", self.fixed_length)
            if fixed_length < 1:
                raise ArgumentError(f"fixed_length ({fixed_length}) must be greater than zero.")
            row_bytes = _core.dtype_size(dtype) * math.prod(size for size in shape if size > 0)
            shape = [fixed_length // row_bytes if size < 0 else size for size in shape]
        feature = _core.Feature(name, "raw", dtype, shape, key=self.key or "")
        feature.little_endian = bool(self.little_endian)
        feature.fixed_length = fixed_length
        parts.set_unknown_dims(feature, name, self)
        return feature
