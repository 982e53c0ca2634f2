"""Columns of the engine, each standing for tensors of the user's function."""

import dataclasses
from typing import Any

import tensorflow as tf

from .. import features
from .parsed import Parsed


@dataclasses.dataclass
class Decode:
    """What a chain of ParseTensor or DecodeRaw and Reshape makes of a string."""

    dtype: tf.DType
    raw: bool
    shape: Any = None  # dimensions of one record, None for an unknown one; None: unknown
    reshape: bool = False
    little_endian: bool = True
    fixed_length: Any = None


@dataclasses.dataclass
class Column:
    """A column and the tensors of the function that it replaces."""

    name: str
    parsed: Parsed
    parts: dict  # as in Parsed; of a decoded or transformed one: {"dense": ref}
    batched: bool  # the function takes a batch of records
    decode: Any = None
    transforms: list = dataclasses.field(default_factory=list)

    def spec(self):
        """The feature spec of headrace."""
        key = None if self.name == self.parsed.key else self.parsed.key
        options = {"transform": tuple(self.transforms)}
        if self.decode is not None:
            return self._decoded(key, options)
        parsed, dtype = self.parsed, _dtype(self.parsed.dtype)
        if parsed.kind != "fixed" and "dense" in self.parts and (self.batched or parsed.in_list):
            default = None if parsed.default is None else parsed.default.ravel().tolist()[0]
            missing = parsed.may_be_missing
            return features.FixedLenSequenceFeature(list(parsed.shape), dtype, missing, default, key=key, **options)
        if parsed.kind == "fixed":
            default = None if parsed.default is None else parsed.default.tolist()
            return features.FixedLenFeature(list(parsed.shape), dtype, default, key=key, **options)
        if self.batched and parsed.kind == "var":
            return features.VarLenFeature(dtype, key=key, **options)
        # Rows of one record at a time are taken from a ragged column.
        splits = _dtype(parsed.splits_dtype or tf.int64)
        return features.RaggedFeature(dtype, key, row_splits_dtype=splits, **options)

    def _decoded(self, key, options):
        decode, dtype = self.decode, _dtype(self.decode.dtype)
        if decode.shape is None or None in decode.shape:
            options["unknown_dims"] = "equal"
        if not decode.raw:
            return features.TensorFeature(decode.shape, dtype, key=key, reshape=decode.reshape, **options)
        options.update(little_endian=decode.little_endian, fixed_length=decode.fixed_length)
        return features.RawFeature(decode.shape, dtype, key=key, **options)

    def given(self, tensors):
        """{ref: tensor} of what the column, or one row of it, stands for; `tensors` has the columns by name."""
        tensor, parts = tensors[self.name], dict(self.parts)
        given = {}
        if "lengths" in parts:  # steps of a feature list
            lengths = tensors[f"{self.name}_lengths"]
            given[parts.pop("lengths")] = lengths
            tensor = tensor if self.batched else tensor[:lengths]
        given.update({ref: self._part(part, tensor) for part, ref in parts.items()})
        return given

    def _part(self, part, tensor):
        if part == "dense":
            by_step = self.parsed.kind == "sequence" and not self.batched
            return tf.reshape(tensor, [-1, *self.parsed.shape]) if by_step else tensor
        if isinstance(tensor, tf.SparseTensor):
            return {"indices": tensor.indices, "values": tensor.values, "shape": tensor.dense_shape}[part]
        if isinstance(tensor, tf.RaggedTensor):
            if part == "values":
                return tensor.flat_values
            return tensor.row_splits if part == "splits" else tensor.values.row_splits
        if part == "values":
            return tensor
        length = tf.shape(tensor, tf.int64)
        if part == "splits":  # one row has none
            return tf.zeros([0], self.parsed.splits_dtype)
        return length if part == "shape" else tf.range(length[0])[:, None]

    @property
    def row_ref(self):
        """The tensor that a row of the column is as it is, or None."""
        if self.parsed.kind == "sequence" and not self.batched and (self.parsed.shape or self.parsed.in_list):
            return None
        if self.parsed.kind == "ragged" and not self.batched:
            return self.parts["values"]
        return self.parts.get("dense")

    @property
    def varies(self):
        """Whether rows of the column have different lengths."""
        return self.parsed.kind in ("sequence", "var", "ragged") and not (self.batched and "dense" in self.parts)


def _dtype(dtype):
    return "string" if dtype == tf.string else dtype.name
