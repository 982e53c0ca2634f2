"""A TFX schema (`schema.pbtxt`, tensorflow_metadata's Schema) as feature specs, as TensorFlow Transform translates it.

A feature with a shape is a FixedLenFeature and must always be there; one without is a VarLenFeature, or a RaggedFeature
where the schema asks for it (represent_variable_length_as_ragged). Deprecated features and those of early life-cycle
stages are left out. Structured features and tensor representations have no counterpart.
"""

from .dtypes import float32, int64, string
from .errors import ArgumentError
from .features import FixedLenFeature, RaggedFeature, VarLenFeature
from .text_proto import parse

_DTYPES = {"INT": int64, "FLOAT": float32, "BYTES": string, "1": string, "2": int64, "3": float32}
_LEFT_OUT = ("PLANNED", "ALPHA", "DEPRECATED", "DEBUG_ONLY", "DISABLED")


def features_of(text):
    """{name: spec} of the text of a schema.

    Raises:
        ValueError: naming the line that is no text format, or the feature that has no spec.
    """
    schema = parse(text)
    if "feature" not in schema and "sparse_feature" not in schema:
        raise ArgumentError("the schema has no feature: is it a TFX schema?")
    if "tensor_representation_group" in schema:
        raise ArgumentError("tensor_representation_group is not supported; write the specs of its tensors by hand")
    for feature in schema.get("sparse_feature", []):
        name = _one(feature, "name", "")
        raise ArgumentError(f"feature {name!r}: sparse_feature is not supported", key=name)
    as_ragged = _one(schema, "represent_variable_length_as_ragged", False) in (True, "true")
    specs = {}
    for feature in schema["feature"]:
        if _one(feature, "lifecycle_stage", "") in _LEFT_OUT or _one(feature, "deprecated", "") == "true":
            continue
        name = _one(feature, "name", "")
        specs[name] = _spec(name, feature, as_ragged)
    return specs


def _spec(name, feature, as_ragged):
    kind = _one(feature, "type", "TYPE_UNKNOWN")
    dtype = _DTYPES.get(str(kind))
    if dtype is None:
        raise ArgumentError(f"feature {name!r}: no spec for type {kind}", key=name)
    if "shape" not in feature:
        return RaggedFeature(dtype) if as_ragged else VarLenFeature(dtype)
    presence = _one(feature, "presence", {})
    min_fraction = float(_one(presence, "min_fraction", 0))
    if min_fraction != 1:
        raise ArgumentError(
            f"feature {name!r}: has a shape, but presence.min_fraction is {min_fraction:g}, not 1: use value_count",
            key=name,
        )
    shape = _one(feature, "shape", {})
    return FixedLenFeature([int(_one(dim, "size", 0)) for dim in shape.get("dim", [])], dtype)


def _one(message, field, default):
    """The value of a field that is there at most once; of several the last."""
    return message[field][-1] if field in message else default
