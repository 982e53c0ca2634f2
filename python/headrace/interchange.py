"""Columns as other libraries' values: sparse triples, nested lists, NumPy arrays. Called by the columns themselves."""

import numpy as np

from . import _core


def sparse_arrays(column):
    """(indices int64 [n, rank], values [n], dense_shape int64 [rank]) of a Ragged or a Sparse, as numpy arrays."""
    if isinstance(column, _core.Ragged):
        return to_sparse(column)
    return column.indices.numpy(), column.values.numpy(), np.array(column.dense_shape, dtype=np.int64)


def to_sparse(ragged):
    """(indices int64 [n, rank], values [n], dense_shape int64 [rank]) of a Ragged, in row order.

    The rank counts the rows, every ragged dimension and the dimensions of the values. values is a numpy array; of bytes
    for a ragged of strings.
    """
    splits = [part.numpy() for part in ragged.nested_row_splits]
    values = ragged.flat_values.numpy()
    inner = values.shape[1:]
    columns = []
    shape = [len(splits[0]) - 1]
    for depth, split in enumerate(splits):
        lengths = np.diff(split)
        # A coordinate per element of the next level: the row it lies in (outermost only), its place in that row.
        owners = np.repeat(np.arange(len(lengths)), lengths)
        columns = [column[owners] for column in columns] if depth else [owners]
        columns.append(np.arange(len(owners)) - split[:-1][owners])
        shape.append(int(lengths.max(initial=0)))
    for extent in inner:
        steps = np.tile(np.arange(extent), len(columns[0]))
        columns = [np.repeat(column, extent) for column in columns] + [steps]
        shape.append(extent)
    indices = np.stack(columns, axis=1).astype(np.int64, copy=False)
    return indices, values.reshape(-1), np.array(shape, dtype=np.int64)


def ragged_to_list(ragged):
    """The rows of a Ragged as nested lists."""
    rows = ragged.flat_values.numpy().tolist()
    for splits in reversed(ragged.nested_row_splits):
        borders = splits.numpy().tolist()
        rows = [rows[start:end] for start, end in zip(borders, borders[1:])]
    return rows


def jagged_to_dict(jagged):
    """{key: the rows as nested lists} of a JaggedColumn."""
    values = jagged.values.tolist() if jagged.dtype == "bytes" else jagged.values.numpy().tolist()
    offsets = jagged.offsets.numpy().tolist()
    lists = [values[begin:end] for begin, end in zip(offsets, offsets[1:])]
    rows = len(jagged)
    return {key: lists[place * rows : (place + 1) * rows] for place, key in enumerate(jagged.keys)}


def to_keyed_jagged_tensor(jagged):
    """A torchrec KeyedJaggedTensor over the memory of a JaggedColumn of numbers."""
    import torch
    from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

    return KeyedJaggedTensor(
        keys=list(jagged.keys),
        values=torch.from_dlpack(jagged.values),
        lengths=torch.from_dlpack(jagged.lengths),
        offsets=torch.from_dlpack(jagged.offsets),
        stride=len(jagged),
    )


def to_numpy(columns):
    """{name: numpy array} of a Batch or a Slice. Numbers are the same memory; strings are object arrays of bytes, copies.

    A Ragged, a Sparse or a JaggedColumn is no array and stays what it is.
    """
    arrays = (_core.DenseColumn, _core.BytesColumn)
    return {name: column.numpy() if isinstance(column, arrays) else column for name, column in columns.items()}
