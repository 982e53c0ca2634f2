"""What readers that know numbers and byte strings alone leave to their user: arrays out of the bytes of raw and tensor
features, and strings that are views of memory."""

import numpy as np

from benchmarks.harness.columns import touch_array


class Strings:
    """Rows of a payload: [rows + 1] offsets into uint8 [bytes]."""

    def __init__(self, payload, offsets):
        self._payload, self._offsets = payload, offsets

    def __len__(self):
        return len(self._offsets) - 1

    def touch(self):
        first, last = int(self._offsets[0]), int(self._offsets[-1])
        return touch_array(self._payload[first:last]) + touch_array(self._offsets)

    def rows(self):
        return [self._payload[a:b].tobytes() for a, b in zip(self._offsets[:-1], self._offsets[1:])]


class StringRows:
    """Rows that each are a uint8 array of their own."""

    def __init__(self, arrays):
        self._arrays = arrays

    def __len__(self):
        return len(self._arrays)

    def touch(self):
        return sum(touch_array(array) for array in self._arrays)

    def rows(self):
        return [array.tobytes() for array in self._arrays]


def decoded(feature, rows):
    """The array of a raw or tensor feature from its bytes, uint8 [rows, bytes]: the elements stand at the end of each row."""
    dtype = np.dtype(feature.dtype)
    size = int(np.prod(feature.shape)) * dtype.itemsize
    return np.ascontiguousarray(rows[:, rows.shape[1] - size :]).view(dtype).reshape(len(rows), *feature.shape)
