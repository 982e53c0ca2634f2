"""Columns as pyarrow arrays, over the same memory where Arrow has the form. Called by the columns themselves."""

import math

from . import _core
from .errors import ArgumentError


def arrow_array(column, type=None):
    """A pyarrow.Array of the rows of a column, cast to `type` when one is asked for.

    Numbers are arrays of their type, or fixed-size lists of it where a row has dimensions; strings are large_binary; a Ragged is a
    large_list. Without a copy, but for booleans, which Arrow packs into bits, and for strings that are views of their records.

    Raises:
        ValueError: for a type that Arrow has not (complex, bfloat16, float8), and for strings of more than one dimension.
    """
    array = _array(column)
    return array if type is None or type == array.type else array.cast(type)


def _array(column):
    import pyarrow

    if isinstance(column, _core.Ragged):
        return pyarrow.LargeListArray.from_arrays(_array(column.row_splits), _array(column.values))
    return _strings(column) if isinstance(column, _core.BytesColumn) else _numbers(column)


def _numbers(column):
    import pyarrow

    values = column.numpy().reshape(-1)
    try:
        if column.dtype == "bool":
            array = pyarrow.array(values)
        else:
            kind = pyarrow.from_numpy_dtype(values.dtype)
            array = pyarrow.Array.from_buffers(kind, len(values), [None, pyarrow.py_buffer(column)])
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise ArgumentError(f"a column of {column.dtype}: Arrow has no such type") from error
    for depth in range(len(column.shape) - 1, 0, -1):
        lists = pyarrow.list_(array.type, column.shape[depth])
        array = pyarrow.Array.from_buffers(lists, math.prod(column.shape[:depth]), [None], children=[array])
    return array


def _strings(column):
    import pyarrow

    if len(column.shape) != 1:
        raise ArgumentError(f"a BytesColumn of shape {column.shape}: Arrow arrays have one dimension")
    if column.is_view:
        column = column.copy()
    buffers = [None, pyarrow.py_buffer(column.offsets), pyarrow.py_buffer(column.payload)]
    return pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), column.shape[0], buffers)
