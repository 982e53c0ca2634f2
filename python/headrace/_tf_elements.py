"""What TensorFlow sees of a slice: flat arrays, the tensors composed of them, and their specs.

A slice crosses to TensorFlow as a flat list of dense arrays in plan order (values, then row splits; or indices, values and
dense shape). `Elements` says which arrays those are, composes them, and puts the tensors into the structure asked for.
Constant after construction.
"""

import itertools

import tensorflow as tf

from . import _core
from .errors import ArgumentError
from .interchange import sparse_arrays
from .features import Jagged
from .structure import Weight, resolve

_DENSE, _RAGGED_64, _RAGGED_32, _SPARSE = range(4)


class Column:
    """One column of a slice: `rows` is the static number of rows or None."""

    def __init__(self, description, rows):
        self.name, dtype, shape, row_lengths, splits_dtype, sparse = description
        self.dtype = tf.string if dtype == "bytes" else tf.as_dtype(dtype)
        self._rows = rows
        # Equal rows behind the last ragged dimension are a dimension of the values, for TensorFlow as for the engine.
        self._sparse_shape = [None if size < 0 else size for size in (*row_lengths, *(shape or ()))]
        ragged = len(row_lengths)
        while ragged > 0 and row_lengths[ragged - 1] >= 0:
            ragged -= 1
        self.row_lengths = row_lengths[:ragged]
        self._shape = None if shape is None else [None if size < 0 else size for size in (*row_lengths[ragged:], *shape)]
        self._splits_dtype = tf.as_dtype(splits_dtype)
        if sparse:
            self.form = _SPARSE
        elif self.row_lengths:
            self.form = _RAGGED_64 if splits_dtype == "int64" else _RAGGED_32
        else:
            self.form = _DENSE

    def flat_specs(self):
        """Specs of the arrays of this column."""
        if self.form == _DENSE:
            return [self.spec()]
        if self.form == _SPARSE:
            rank = 1 + len(self._sparse_shape)
            return [
                tf.TensorSpec([None, rank], tf.int64),
                tf.TensorSpec([None], self.dtype),
                tf.TensorSpec([rank], tf.int64),
            ]
        outer = None if self._rows is None else self._rows + 1
        splits = [tf.TensorSpec([outer if d == 0 else None], self._splits_dtype) for d in range(len(self.row_lengths))]
        return [tf.TensorSpec([None, *self._shape], self.dtype), *splits]

    def spec(self):
        """Spec of the tensor."""
        if self._shape is None:
            return tf.TensorSpec(None, self.dtype)
        if self.form == _DENSE:
            return tf.TensorSpec([self._rows, *self._shape], self.dtype)
        if self.form == _SPARSE:
            return tf.SparseTensorSpec([self._rows, *self._sparse_shape], self.dtype)
        lengths = [None if length < 0 else length for length in self.row_lengths]
        return tf.RaggedTensorSpec(
            [self._rows, *lengths, *self._shape],
            self.dtype,
            ragged_rank=len(lengths),
            row_splits_dtype=self._splits_dtype,
        )

    def compose(self, arrays):
        """The tensor of this column from its arrays. The engine made the splits, so nothing is checked again."""
        if self.form == _DENSE:
            return arrays[0]
        if self.form == _SPARSE:
            return tf.SparseTensor(*arrays)
        tensor = arrays[0]
        for length, splits in zip(reversed(self.row_lengths), reversed(arrays[1:])):
            if length < 0:
                tensor = tf.RaggedTensor.from_row_splits(tensor, splits, validate=False)
            else:
                tensor = tf.RaggedTensor.from_uniform_row_length(
                    tensor, tf.constant(length, splits.dtype), nrows=tf.size(splits, splits.dtype) - 1, validate=False
                )
        return tensor

    def host_arrays(self, column):
        """The arrays from a column of a Slice by way of NumPy: slower, and needs no native op."""
        if self.form == _DENSE:
            return [column.numpy()]
        if self.form == _SPARSE:
            return list(sparse_arrays(column))
        splits = [splits.numpy().astype(self._splits_dtype.as_numpy_dtype) for splits in column.nested_row_splits]
        return [column.flat_values.numpy(), *splits]


class Elements:
    """The elements of a dataset as one replica gets them."""

    def __init__(self, dataset, structure, rows):
        """Args:
        dataset: a headrace Dataset with batch and parse.
        structure: the nested form, see headrace.structure.
        rows: rows of every slice, or None when the last one may be shorter.
        """
        descriptions = _core.tensorflow_columns(dataset._core)
        if not descriptions:
            raise ArgumentError("pipeline: TensorFlow gets parsed columns; add .batch(…).parse(features)")
        everything = [Column(description, rows) for description in descriptions]
        build = resolve(structure, [column.name for column in everything])
        used, self.has_weights = _names_used(build, everything)
        self.columns = [column for column in everything if column.name in used]
        for column in self.columns:
            if isinstance((dataset.features or {}).get(column.name), Jagged):
                raise ArgumentError(
                    f"feature {column.name!r}: TensorFlow has no jagged tensor: use a VarLenFeature per key, or leave it out "
                    "by structure",
                    key=column.name,
                )
        self.plan = _core.TensorflowPlan([(column.name, column.form) for column in self.columns])
        self.flat_specs = [spec for column in self.columns for spec in column.flat_specs()]
        # TensorFlow takes neither strings nor float8 by DLPack.
        self.needs_op = any(column.dtype == tf.string or column.dtype.name.startswith("float8") for column in self.columns)
        self._all_dense = all(column.form == _DENSE for column in self.columns)
        ends = list(itertools.accumulate(len(column.flat_specs()) for column in self.columns))
        self._ranges = list(zip([0, *ends], ends))
        self._names = [column.name for column in self.columns]
        self._build = build

    def spec(self):
        """The spec of one element."""
        specs = {column.name: column.spec() for column in self.columns}
        return self._build(specs, weigh=lambda leaf, labels: tf.TensorSpec(labels.shape, tf.float32))

    def names(self):
        """What the leaves of one element are called, for errors."""
        columns = {column.name: f"column {column.name!r}" for column in self.columns}
        return self._build(columns, weigh=lambda leaf, name: f"the weight by {name}")

    def columns_of(self, arrays):
        """The tensors of the columns from the flat arrays of a slice."""
        if self._all_dense:
            return arrays
        return [column.compose(arrays[begin:end]) for column, (begin, end) in zip(self.columns, self._ranges)]

    def build(self, columns):
        """The element from the tensors of the columns."""
        return self._build(dict(zip(self._names, columns)), weigh=_weigh)

    def compose(self, arrays):
        """The element from the flat arrays of a slice."""
        return self.build(self.columns_of(arrays))

    def host_arrays(self, batch_slice):
        """The flat arrays of a Slice as NumPy arrays (object arrays for strings)."""
        return [array for column in self.columns for array in column.host_arrays(batch_slice[column.name])]


def _names_used(build, columns):
    """The columns that the structure names, and whether it has weights."""
    used = set()
    weighs = []

    class Recorder(dict):
        def __getitem__(self, name):
            used.add(name)
            return name

    build(Recorder({column.name: None for column in columns}), weigh=lambda leaf, name: weighs.append(leaf))
    return used, bool(weighs)


def _weigh(leaf: Weight, labels):
    """float32 weights in the shape of `labels`; labels that the table lacks weigh 1."""
    weights = tf.ones_like(labels, dtype=tf.float32)
    for label, value in leaf.table:
        weights = tf.where(tf.equal(labels, tf.cast(label, labels.dtype)), value, weights)
    return weights
