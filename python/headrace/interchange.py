"""Columns as other libraries' values: sparse triples, nested lists, Arrow arrays. Called by the columns themselves."""

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


def arrow_array(column, type=None):
    """A pyarrow.LargeBinaryArray over the memory of a flat BytesColumn, cast to `type` when one is asked for.

    Raises:
        ValueError: when the column has more than one dimension.
    """
    import pyarrow

    if len(column.shape) != 1:
        from .errors import ArgumentError

        raise ArgumentError(f"a BytesColumn of shape {column.shape}: Arrow arrays have one dimension")
    if column.is_view:
        column = column.copy()
    buffers = [None, pyarrow.py_buffer(column.offsets), pyarrow.py_buffer(column.payload)]
    array = pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), column.shape[0], buffers)
    return array if type is None or type == array.type else array.cast(type)
