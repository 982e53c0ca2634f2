"""What padded_batch takes: the shape that rows are padded to, and with what."""

import numbers

from . import arguments
from .errors import ArgumentError


def to_core(padded_shapes, padding_values):
    """([(name, shape or None, value or None)], value of all others or None), as the engine takes them.

    Raises:
        ValueError: naming parameter and value.
    """
    shapes = _by_name("padded_shapes", padded_shapes) or {}
    values, common = {}, None
    if hasattr(padding_values, "items"):
        values = _by_name("padding_values", padding_values)
    else:
        common = _value("padding_values", padding_values)
    features = []
    for name in dict.fromkeys([*shapes, *values]):
        shape = shapes.get(name)
        value = _value(f"padding_values[{name!r}]", values.get(name))
        features.append((name, None if shape is None else _shape(name, shape), value))
    return features, common


def _by_name(parameter, given):
    if given is None:
        return None
    if not hasattr(given, "items") or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"{parameter}={given!r}: must map names of columns to values")
    return dict(given)


def _shape(name, shape):
    parameter = f"padded_shapes[{name!r}]"
    dimensions = shape.as_list() if hasattr(shape, "as_list") else shape
    if isinstance(dimensions, (str, bytes)) or not hasattr(dimensions, "__iter__"):
        raise ArgumentError(f"{parameter}={shape!r}: must be a list of dimensions")
    return [-1 if size is None else arguments.integer(parameter, size, minimum=-1) for size in dimensions]


def _value(parameter, value):
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, numbers.Integral):
        return arguments.integer(parameter, int(value))
    if isinstance(value, numbers.Real):
        return float(value)
    raise ArgumentError(f"{parameter}={value!r}: must be one number or string")
