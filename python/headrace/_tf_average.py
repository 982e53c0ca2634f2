"""What Keras cannot average over the replicas, told by the name of the column.

Before fit and evaluate Keras reduces one batch of any strategy with several replicas to its mean, to see shapes and dtypes. TensorFlow
adds up neither strings, bools, ragged and sparse tensors nor tensors of different shapes, and its errors name no column. Predict and
custom loops reduce nothing.
"""

import sys

import tensorflow as tf

from .errors import ArgumentError

_WAYS = {
    "bool": 'make a number of it (transform=hr.cast("uint8"), or distribute(…, map=))',
    "string": "make numbers of it (transform=hr.hash_bucket(N) or hr.lookup(…), or distribute(…, map=))",
    "ragged": "make it dense (transform=hr.pad(WIDTH), or distribute(…, map=))",
    "sparse": "make it dense (transform=hr.pad(WIDTH), or distribute(…, map=))",
    "rows": 'even them out (batch(…, drop_remainder=True), or prefetch_to_device(…, remainder="pad"))',
    "shapes": "give all of them one (transform=hr.pad(WIDTH), or distribute(…, map=))",
}


def is_asked_for():
    """Whether the iterator that is made now is the one whose first batch Keras averages."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_maybe_symbolic_build":
            return frame.f_globals.get("__name__", "").startswith("keras.")
        frame = frame.f_back
    return False


def check(recipe, element):
    """ArgumentError for the first column of `element`, a nest of PerReplica, that cannot be averaged."""
    for name, value in zip(_names(recipe), tf.nest.flatten(element), strict=True):
        kind, what = _hindrance(value.values)
        if kind is not None:
            raise ArgumentError(
                f"{name} {what}, and Keras takes the mean of the first batch of fit and evaluate over the replicas, which "
                f"TensorFlow cannot do: {_WAYS[kind]}, leave it out by structure=, or train in a loop of your own",
                key=name,
            )


def _hindrance(parts):
    """(key of _WAYS, what hinders) of the tensors of all replicas; (None, "") for what can be averaged."""
    first = parts[0]
    if isinstance(first, tf.RaggedTensor):
        return "ragged", "is ragged"
    if isinstance(first, tf.SparseTensor):
        return "sparse", "is sparse"
    if first.dtype in (tf.string, tf.bool):
        return first.dtype.name, f"has dtype {first.dtype.name}"
    shapes = [part.shape.as_list() for part in parts]
    if len({tuple(shape[:1]) for shape in shapes}) > 1:
        return "rows", f"has slices of {', '.join(str(shape[0]) for shape in shapes)} rows"
    if any(shape != shapes[0] for shape in shapes):
        return "shapes", f"has slices of shapes {', '.join(map(str, shapes))}"
    return None, ""


def _names(recipe):
    """What each leaf of an element is called, in the order of tf.nest."""
    if not recipe.functions:
        return tf.nest.flatten(recipe.elements.names())
    return [f"the result of map= at {path or 'its top'}" for path in _paths(recipe.spec)]


def _paths(spec, path=""):
    if isinstance(spec, dict):
        return [found for key in sorted(spec) for found in _paths(spec[key], f"{path}[{key!r}]")]
    if isinstance(spec, (list, tuple)):
        return [found for place, part in enumerate(spec) for found in _paths(part, f"{path}[{place}]")]
    return [path]
