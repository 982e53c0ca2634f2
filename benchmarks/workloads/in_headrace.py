"""A workload as headrace sees it: feature specs, and the columns of a batch."""

import numpy as np

import headrace as hr
from benchmarks.harness.columns import Ragged, touch_array


def features(workload):
    """The argument of `parse`."""
    specs = {}
    for name, feature in workload.features.items():
        dtype = getattr(hr, {"bytes": "string"}.get(feature.dtype, feature.dtype))
        shape = list(feature.shape)
        if feature.kind == "fixed":
            transform = [getattr(hr, step)(*arguments) for step, *arguments in feature.transform]
            specs[name] = hr.FixedLenFeature(shape, dtype, transform=transform)
        elif feature.kind == "ragged":
            specs[name] = hr.RaggedFeature(dtype, row_splits_dtype=hr.int64)
        elif feature.kind == "tensor":
            specs[name] = hr.TensorFeature(shape, dtype)
        else:
            specs[name] = hr.RawFeature(shape, dtype)
    return specs


class Strings:
    """A BytesColumn: touched through its payload and its offsets, as any reader of it would."""

    def __init__(self, column):
        self._column = column

    def __len__(self):
        return len(self._column)

    def touch(self):
        return touch_array(np.asarray(self._column.payload)) + touch_array(np.asarray(self._column.offsets))

    def rows(self):
        return [bytes(row) for row in self._column.numpy().reshape(-1)]


def column(value):
    """A headrace column in the words of harness/columns.py, without a copy."""
    if isinstance(value, hr.Ragged):
        return Ragged(value.values.numpy(), value.row_splits.numpy())
    if isinstance(value, hr.BytesColumn):
        return Strings(value)
    array = value.numpy()
    return array.view(np.uint16) if array.dtype == "bfloat16" else array


def columns(batch):
    return {name: column(batch[name]) for name in batch}
