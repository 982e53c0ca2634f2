"""The `features.json` of TensorFlow Datasets as feature specs: what its writer put into each tf.train.Example.

Names of nested features are joined by "/". A sequence puts an unknown (or its fixed) length in front of the shape of what
it holds; sequences in sequences are flat values with a list of row lengths per level. Images and encoded tensors are byte
strings.
"""

from .dtypes import as_dtype, float32, int64, string
from .errors import ArgumentError
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, RowLengths

_NO_SHAPE = {"dimensions": []}


def features_of(document):
    """{name: spec} of a parsed features.json.

    Raises:
        ValueError: naming the feature that has no spec.
    """
    if "pythonClassName" not in document:
        raise ArgumentError("features.json: written by TensorFlow Datasets before 4.3; load and save it with a newer one")
    features = {}
    _add(features, "", document, (), 0)
    return features


def _add(features, name, node, outer, depth):
    """Adds the features of `node`, whose shape has `outer` in front; `depth` of those dimensions are sequences."""
    for kind, add in _CONTENTS.items():
        if kind in node:
            return add(features, name, node[kind], outer, depth)
    raise ArgumentError(f"feature {name!r}: {node.get('pythonClassName')} is not known", key=name)


def _add_dict(features, name, content, outer, depth):
    for key, node in content.get("features", {}).items():
        _add(features, f"{name}/{key}" if name else key, node, outer, depth)


def _add_sequence(features, name, content, outer, depth):
    length = int(content.get("length", -1))
    _add(features, name, content["feature"], (*outer, None if length < 0 else length), depth + 1)


def _add_tensor(features, name, content, outer, depth):
    if content.get("encoding", "none") not in ("none", ""):
        return _add_string(features, name, content, outer, depth)
    _put(features, name, _wire_dtype(name, content["dtype"]), (*outer, *_shape(content)), depth)


def _add_audio(features, name, content, outer, depth):
    _add_tensor(features, name, {"dtype": "int64", **content}, outer, depth)


def _add_box(features, name, content, outer, depth):
    _put(features, name, float32, (*outer, *_shape(content, [4])), depth)


def _add_label(features, name, _content, outer, depth):
    _put(features, name, int64, outer, depth)


def _add_string(features, name, _content, outer, depth):
    _put(features, name, string, outer, depth)


def _add_video(features, name, content, outer, depth):
    frames = _shape(content, [-1])[0]
    _put(features, name, string, (*outer, frames), depth + 1)


def _add_translation(features, name, content, outer, depth):
    if content.get("variableLanguagesPerExample"):
        for part in ("language", "translation"):
            _put(features, f"{name}/{part}" if name else part, string, (*outer, None), depth + 1)
        return
    for language in content.get("languages", []):
        _put(features, f"{name}/{language}" if name else language, string, outer, depth)


_CONTENTS = {
    "featuresDict": _add_dict,
    "sequence": _add_sequence,
    "tensor": _add_tensor,
    "classLabel": _add_label,
    "image": _add_string,
    "video": _add_video,
    "audio": _add_audio,
    "boundingBox": _add_box,
    "text": _add_string,
    "translation": _add_translation,
}


def _put(features, name, dtype, shape, depth):
    unknown = [place for place, size in enumerate(shape) if size is None]
    if not unknown:
        features[name] = FixedLenFeature(list(shape), dtype)
    elif unknown == [0]:
        features[name] = FixedLenSequenceFeature(list(shape[1:]), dtype, allow_missing=True)
    elif depth > 1 and unknown == list(range(depth)) and len(shape) == depth:
        lengths = [RowLengths(f"{name}/ragged_row_lengths_{level}") for level in range(depth - 1)]
        features[name] = RaggedFeature(dtype, f"{name}/ragged_flat_values", lengths)
    else:
        text = ["?" if size is None else size for size in shape]
        raise ArgumentError(f"feature {name!r}: no spec has the shape {text}", key=name)


def _shape(content, default=()):
    dimensions = content.get("shape", _NO_SHAPE).get("dimensions", []) or default
    return [None if int(size) < 0 else int(size) for size in dimensions]


def _wire_dtype(name, dtype):
    """The type of list that holds it: Examples have three."""
    ours = as_dtype(dtype)
    if ours == "bytes":
        return string
    if ours.startswith(("int", "uint", "bool")):
        return int64
    if ours.startswith(("float", "bfloat")):
        return float32
    raise ArgumentError(f"feature {name!r}: an Example has no list for {dtype}", key=name)
