"""Feature specs out of the descriptions that other tools keep: features_from()."""

import json
import os
from collections.abc import Mapping

from . import spec_text, tfds_features, tfx_schema
from .errors import ArgumentError
from .features import to_schema
from .infer import InferredSchema


def features_from(source):
    """{name: spec} of headrace's own specs, as Dataset.parse takes them.

    Args:
        source: one of
            a dict of specs of headrace or of tf.io;
            what infer_schema() gave;
            headrace's own JSON (InferredSchema.to_json, `headrace inspect --json`), as a dict or the path of a file;
            the `features.json` of a TensorFlow Datasets data set, as a dict or the path of the file;
            a TFX schema: the path of a `schema.pbtxt`, or a tensorflow_metadata Schema message.

    Raises:
        ValueError: naming the feature that has no spec, or what is wrong with the description.
        FileNotFoundError, PermissionError, OSError: for a file that cannot be read.
    """
    if isinstance(source, InferredSchema):
        return source.features
    if isinstance(source, (str, os.PathLike)):
        with open(source, encoding="utf-8") as file:
            return _from_text(file.read(), os.fspath(source))
    if isinstance(source, Mapping):
        return _from_mapping(source, "source")
    descriptor = getattr(source, "DESCRIPTOR", None)
    if descriptor is not None and descriptor.full_name == "tensorflow.metadata.v0.Schema":
        return tfx_schema.features_of(str(source))
    raise ArgumentError(f"source: {type(source).__name__} is no description of features")


def _from_text(text, path):
    if not text.lstrip().startswith("{"):
        return tfx_schema.features_of(text)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"{path}: no JSON: {error}") from None
    return _from_mapping(document, path)


def _from_mapping(document, name):
    if "format" in document and isinstance(document["format"], str):
        return spec_text.from_json(document)
    if "pythonClassName" in document or "type" in document and isinstance(document["type"], str):
        return tfds_features.features_of(document)
    if any(isinstance(spec, (dict, str, list)) for spec in document.values()):
        raise ArgumentError(f"{name}: neither headrace's JSON nor a features.json of TensorFlow Datasets")
    return to_schema(document)[1]
