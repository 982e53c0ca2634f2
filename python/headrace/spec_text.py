"""Feature specs written down: as Python source and as JSON, and read back from that JSON.

The JSON is {"format": "headrace.features", "version": 1, "features": {name: {"kind": "FixedLenFeature", …}}}. Each spec
has its arguments by name, those at their defaults left out; bytes are {"base64": …}, transforms {"transform": "scale", …}.
"""

import base64
import dataclasses

import numpy as np

from . import features as _features
from .dtypes import DType, as_dtype
from .errors import ArgumentError
from .transforms import Transform, from_parameters

FORMAT = "headrace.features"
VERSION = 1

# Every value type that a feature can be made of.
_KINDS = {
    name: kind for name, kind in vars(_features).items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)
}


def to_code(features, notes=None):
    """Python source that makes `features`: an import and a dict.

    `notes` maps names to comments behind their lines; a name that is in `notes` alone gives a line of comment.
    """
    notes = notes or {}
    lines = ["import headrace as hr", "", "features = {"]
    for name in [*features, *(name for name in notes if name not in features)]:
        comment = f"  # {notes[name]}" if name in notes else ""
        if name in features:
            lines.append(f"    {name!r}: {_source(features[name])},{comment}")
        else:
            lines.append(f"    # {name!r}: {notes[name]}")
    return "\n".join([*lines, "}", ""])


def _source(value):
    if isinstance(value, DType):
        return repr(value).replace("headrace.", "hr.", 1)
    if isinstance(value, Transform):
        parameters = (f"{name}={_source(_plain(name, given))}" for name, given in value.arguments)
        return f"hr.{value.name}({', '.join(parameters)})"
    if dataclasses.is_dataclass(value):
        arguments = []
        for field, given in _given(value):
            text = _source(given)
            arguments.append(text if field.default is dataclasses.MISSING else f"{field.name}={text}")
        return f"hr.{type(value).__name__}({', '.join(arguments)})"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_source(item) for item in value)}]"
    return repr(value)


def _given(spec):
    """The fields of `spec` that differ from their defaults, with plain values."""
    for field in dataclasses.fields(spec):
        value = _plain(field.name, getattr(spec, field.name))
        default = None if field.default is dataclasses.MISSING else _plain(field.name, field.default)
        if field.default is dataclasses.MISSING or value != default:
            yield field, value


def _plain(name, value):
    """`value` as a DType, nested lists, numbers and bytes."""
    if name.endswith("dtype"):
        return as_dtype(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain("", item) for item in value]
    if name == "shape" and hasattr(value, "as_list"):  # tf.TensorShape
        return value.as_list()
    return value


def to_json(features):
    """`features` as a dict fit for json.dump."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "features": {name: _to_json(spec) for name, spec in features.items()},
    }


def _to_json(value):
    if isinstance(value, DType):
        return str(value)
    if isinstance(value, Transform):
        return {"transform": value.name, **{name: _to_json(_plain(name, given)) for name, given in value.arguments}}
    if dataclasses.is_dataclass(value):
        return {"kind": type(value).__name__, **{field.name: _to_json(given) for field, given in _given(value)}}
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    return value


def from_json(document):
    """The features of a dict that to_json made.

    Raises:
        ValueError: naming what is unknown in it.
    """
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise ArgumentError(
            f"features: format {document.get('format')!r}, version {document.get('version')!r}; "
            f"expected {FORMAT!r}, {VERSION}"
        )
    features = document.get("features")
    if not isinstance(features, dict):
        raise ArgumentError("features: the document has no features")
    return {name: _from_json(name, spec) for name, spec in features.items()}


def _from_json(name, value):
    if isinstance(value, list):
        return [_from_json(name, item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"base64"}:
        return base64.b64decode(value["base64"])
    if "transform" in value and "kind" not in value:
        parameters = {field: _from_json(name, item) for field, item in value.items() if field != "transform"}
        return from_parameters(value["transform"], parameters)
    kind = _KINDS.get(value.get("kind"))
    if kind is None:
        raise ArgumentError(f"feature {name!r}: unknown kind {value.get('kind')!r}", key=name)
    arguments = {field: _from_json(name, item) for field, item in value.items() if field != "kind"}
    known = {field.name for field in dataclasses.fields(kind)}
    for field in arguments:
        if field not in known:
            raise ArgumentError(f"feature {name!r}: {kind.__name__} has no {field!r}", key=name)
        if field.endswith("dtype"):
            arguments[field] = as_dtype(arguments[field])
    try:
        return kind(**arguments)
    except TypeError as error:
        raise ArgumentError(f"feature {name!r}: {error}", key=name) from None
