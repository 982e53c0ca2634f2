"""What is done to the values of a feature while they are stored: `transform=[…]` of a spec.

The column of a feature with transforms is exactly what the transforms, one after another, make of its column without
them; defaults and padding pass through them, too. Whether a transform fits where it stands is checked by Dataset.parse
and hr.parse_example, which raise a ValueError that names feature and transform. docs/guides/transforms.md has the table.
"""

from dataclasses import dataclass
from typing import Any

from . import _core, arguments
from .dtypes import as_dtype, float32
from .errors import ArgumentError


@dataclass(frozen=True)
class Transform:
    """One transform, made by the functions of this module. A plain value."""

    name: str
    arguments: Any = ()

    def __repr__(self):
        return f"headrace.{self.name}({', '.join(f'{name}={_short(value)}' for name, value in self.arguments)})"

    def to_core(self):
        """The engine's form of it."""
        return getattr(_core.Transform, self.name)(*(_plain(value) for _, value in self.arguments))


def cast(dtype):
    """To another number type, as tf.cast; what does not fit fails the record with a SchemaError.

    Whole numbers must fit the new type, bool takes 0 and 1 only, floats lose their fraction on the way to whole numbers.
    Between float types values are rounded to the nearest, ties to even, and become infinite beyond the largest.
    """
    return Transform("cast", (("dtype", as_dtype(dtype)),))


def scale(mul=1.0, add=0.0):
    """x * mul + add, rounded after each step. Takes float32 and float64.

    Args:
        mul, add: one number each, or one for each place of the last dimension.
    """
    return Transform("scale", (("mul", _numbers("mul", mul)), ("add", _numbers("add", add))))


def normalize(mean=0.0, std=1.0):
    """(x - mean) / std, rounded after each step. Takes float32 and float64.

    Args:
        mean, std: one number each, or one for each place of the last dimension, such as the channels of an image.
    """
    return Transform("normalize", (("mean", _numbers("mean", mean)), ("std", _numbers("std", std))))


def clip(lo, hi):
    """At least lo, at most hi, as tf.clip_by_value; a NaN stays one. Takes whole numbers, float32 and float64."""
    return Transform("clip", (("lo", _number("lo", lo)), ("hi", _number("hi", hi))))


def log1p():
    """log(1 + x), as tf.math.log1p. Takes float32 and float64."""
    return Transform("log1p")


def fill_nan(value):
    """`value` in place of every NaN. Takes float32 and float64."""
    return Transform("fill_nan", (("value", float(_number("value", value))),))


def bucketize(boundaries):
    """How many of the boundaries are not above the value: int32, as tf.raw_ops.Bucketize; NaN counts all.

    Takes int32, int64, float32 and float64; all but float64 are compared as float32.

    Args:
        boundaries: numbers, not decreasing, kept as float32.
    """
    return Transform("bucketize", (("boundaries", _numbers("boundaries", boundaries)),))


def one_hot(depth, dtype=float32):
    """A new last dimension of `depth`, as tf.one_hot: 1 at the value's place, else 0; all 0 outside of 0 … depth - 1.

    Takes whole numbers; must be the last of a list.

    Args:
        depth: size of the new dimension.
        dtype: of the result, a number type or bool.
    """
    return Transform("one_hot", (("depth", arguments.integer("depth", depth)), ("dtype", as_dtype(dtype))))


def hash_bucket(num_buckets):
    """FarmHash Fingerprint64 mod num_buckets: int64, as tf.strings.to_hash_bucket_fast.

    Takes strings, and whole numbers by their decimal text (as tf.strings.as_string writes them).
    """
    return Transform("hash_bucket", (("num_buckets", arguments.integer("num_buckets", num_buckets)),))


def mod(n):
    """The remainder in 0 … n - 1, as tf.math.floormod. Takes whole numbers."""
    return Transform("mod", (("n", arguments.integer("n", n)),))


def lookup(vocabulary, oov=-1, num_oov_buckets=0):
    """The place of the value in the vocabulary, from 0: int64, as tf.lookup.StaticVocabularyTable.

    Takes strings and whole numbers.

    Args:
        vocabulary: strings (bytes or str), or whole numbers; no one twice.
        oov: id of a value that is not there; None: such a value fails the record with a SchemaError.
        num_oov_buckets: when > 0, such a value gets len(vocabulary) + hash_bucket(num_oov_buckets) of it instead.
    """
    items = vocabulary.tolist() if hasattr(vocabulary, "tolist") else list(vocabulary)
    if items and isinstance(items[0], (bytes, str)):
        words = tuple(_word(item) for item in items)
    else:
        words = tuple(arguments.integer("vocabulary", item) for item in items)
    return Transform(
        "lookup",
        (
            ("vocabulary", words),
            ("oov", arguments.optional_integer("oov", oov)),
            ("num_oov_buckets", arguments.integer("num_oov_buckets", num_oov_buckets)),
        ),
    )


def truncate(n):
    """At most the first n values of a record; steps of a FixedLenSequenceFeature.

    For VarLenFeature, RaggedFeature without partitions and FixedLenSequenceFeature, not in feature lists. What is cut off
    is not looked at by other transforms.
    """
    return Transform("truncate", (("n", arguments.integer("n", n)),))


def pad(n, value=None):
    """Exactly n values of a record, as RaggedTensor.to_tensor(value, shape=[None, n]): longer ones are cut, shorter ones
    get `value` behind them, which passes through the transforms that follow. A ragged column becomes dense: [rows, n].

    For the same specs as truncate.

    Args:
        n: values, steps of a FixedLenSequenceFeature.
        value: a number, or a string (bytes or str) where the values are strings; None: 0 or b"".
    """
    if isinstance(value, (bytes, str)):
        value = _word(value)
    elif value is not None:
        value = _number("value", value)
    return Transform("pad", (("n", arguments.integer("n", n)), ("value", value)))


def from_parameters(name, parameters):
    """The transform of that name with parameters by name.

    Raises:
        ValueError: when there is no such transform, or not with these parameters.
    """
    if name not in _MAKERS:
        raise ArgumentError(f"transform {name!r}: there is none of that name")
    try:
        return _MAKERS[name](**parameters)
    except TypeError as error:
        raise ArgumentError(f"transform {name!r}: {error}") from None


def as_list(name, transform):
    """The transforms of the spec `name`: a list of them, or one alone.

    Raises:
        ValueError: when an item is none.
    """
    items = [transform] if isinstance(transform, Transform) else transform
    if isinstance(items, (str, bytes)) or not hasattr(items, "__iter__"):
        raise ArgumentError(f"feature {name!r}: transform={transform!r}: must be a list of transforms", key=name)
    items = list(items)
    for place, item in enumerate(items):
        if not isinstance(item, Transform):
            raise ArgumentError(f"feature {name!r}: transform[{place}]: {item!r} is no transform", key=name)
    return items


def _number(parameter, value):
    if isinstance(value, bool):
        raise ArgumentError(f"{parameter}={value!r}: must be a number")
    if hasattr(value, "__index__"):
        return arguments.integer(parameter, value)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{parameter}={value!r}: must be a number") from None


def _numbers(parameter, values):
    """Numbers as a tuple of floats; one alone is a tuple of one."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    items = values if isinstance(values, (list, tuple)) else [values]
    return tuple(float(_number(parameter, item)) for item in items)


def _word(item):
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    raise ArgumentError(f"vocabulary: {item!r}: must be bytes or str, as the first")


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


def _short(value):
    if isinstance(value, tuple):
        if len(value) == 1:
            return repr(value[0])
        return f"<{len(value)} values>" if len(value) > 8 else repr(list(value))
    return repr(value)


_MAKERS = {
    make.__name__: make
    for make in (cast, scale, normalize, clip, log1p, fill_nan, bucketize, one_hot, hash_bucket, mod, lookup, truncate, pad)
}
