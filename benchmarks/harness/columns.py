"""The columns of a batch as every contender hands them out, and how each is read whole.

Dense: a C-contiguous NumPy array [rows, ...]. Ragged: values and int64 row splits. Strings: anything with `touch()`
(reads every byte, result unspecified) and `rows()` (a list of bytes). Contenders give views of their own memory,
never copies.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Ragged:
    """Rows of different length: row i is values[row_splits[i]:row_splits[i + 1]]."""

    values: np.ndarray
    row_splits: np.ndarray


def touch_array(array):
    """Reads every byte at memory speed with the interpreter lock released."""
    flat = array.reshape(-1)
    words = flat.nbytes // 8
    if flat.itemsize != 8:
        flat = flat.view(np.uint8)
        if flat.nbytes != words * 8:
            int(flat[words * 8 :].sum())
            flat = flat[: words * 8]
        if flat.nbytes == 0:
            return 0
    return int(np.add.reduce(flat.view(np.uint64)))


def touch(column):
    if isinstance(column, np.ndarray):
        return touch_array(column)
    if isinstance(column, Ragged):
        return touch_array(column.values) + touch_array(column.row_splits)
    return column.touch()


def touch_all(columns):
    for column in columns.values():
        touch(column)
