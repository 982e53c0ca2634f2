"""features_from: headrace's JSON, TFX schemas, features.json of TensorFlow Datasets, and specs as source text."""

import json
import types

import headrace as hr
import numpy as np
import pytest
from headrace import spec_text

SPECS = {
    "a": hr.FixedLenFeature([], hr.int64),
    "b": hr.FixedLenFeature((2, 3), "float32", default_value=np.arange(6.0)),
    "c": hr.FixedLenFeature([2], hr.string, default_value=[b"\xff", b"x"]),
    "d": hr.VarLenFeature(hr.string),
    "e": hr.FixedLenSequenceFeature([2], hr.int64, allow_missing=True, default_value=-1),
    "f": hr.RaggedFeature(hr.int64, "v", [hr.RowLengths("n"), hr.UniformRowLength(2)], hr.int64),
    "g": hr.TensorFeature([4], hr.bool_, key="t", reshape=True),
    "h": hr.RawFeature([2], hr.float16, little_endian=False),
}


def plain(features):
    """Specs in the form in which they can be compared."""
    return spec_text.to_json(features)["features"]


def test_json_keeps_everything():
    document = json.loads(json.dumps(spec_text.to_json(SPECS)))
    assert document["features"]["b"] == {
        "kind": "FixedLenFeature",
        "shape": [2, 3],
        "dtype": "float32",
        "default_value": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    }
    loaded = hr.features_from(document)
    assert list(loaded) == list(SPECS) and plain(loaded) == plain(SPECS)
    assert loaded["f"].partitions == [hr.RowLengths("n"), hr.UniformRowLength(2)]
    assert loaded["c"].default_value == [b"\xff", b"x"]


def test_source_text_makes_the_same_specs():
    code = spec_text.to_code(SPECS)
    names = {}
    exec(code, names)
    assert plain(names["features"]) == plain(SPECS)
    assert "'a': hr.FixedLenFeature([], hr.int64)," in code
    assert "'g': hr.TensorFeature([4], hr.bool_, key='t', reshape=True)," in code
    assert "hr.RaggedFeature(hr.int64, value_key='v', partitions=[hr.RowLengths('n'), hr.UniformRowLength(2)]" in code


@pytest.mark.parametrize(
    "change, text",
    [
        ({"version": 2}, "version 2"),
        ({"format": "other"}, "format 'other'"),
        ({"features": None}, "no features"),
        ({"features": {"a": {"kind": "DType"}}}, "feature 'a': unknown kind 'DType'"),
        ({"features": {"a": {"kind": "VarLenFeature", "dtype": "int64", "size": 3}}}, "VarLenFeature has no 'size'"),
        ({"features": {"a": {"kind": "VarLenFeature"}}}, "feature 'a'"),
        ({"features": {"a": {"kind": "VarLenFeature", "dtype": "quaternion"}}}, "quaternion"),
    ],
    ids=repr,
)
def test_json_that_is_refused(change, text):
    with pytest.raises(ValueError, match=text):
        hr.features_from({"format": "headrace.features", "version": 1, "features": {}, **change})


def test_dicts_of_specs():
    assert hr.features_from(SPECS) == SPECS
    theirs = type("VarLenFeature", (), {"__module__": "tensorflow.python.ops.parsing_config"})()
    theirs.dtype = types.SimpleNamespace(name="int64")
    assert plain(hr.features_from({"x": theirs})) == {"x": {"kind": "VarLenFeature", "dtype": "int64"}}


TFX = """
# a comment
feature { name: "label" type: INT presence { min_fraction: 1.0 min_count: 1 } shape {} }
feature {
  name: "vector"  type: FLOAT
  presence: < min_fraction: 1 >
  shape { dim { size: 2 } dim { size: 3 } }
}
feature { name: "words" type: BYTES value_count { min: 0 max: 7 } domain: "vocabulary" }
feature { name: "old" type: INT lifecycle_stage: DEPRECATED }
feature { name: "later" type: INT lifecycle_stage: PLANNED }
feature { name: "caf\\303\\251 " "bar" type: INT annotation { tag: ["x", "y"] } }
string_domain { name: "vocabulary" value: "a" value: "b" }
"""


def test_tfx_schemas(tmp_path):
    path = tmp_path / "schema.pbtxt"
    path.write_text(TFX)
    wanted = {
        "label": hr.FixedLenFeature([], hr.int64),
        "vector": hr.FixedLenFeature([2, 3], hr.float32),
        "words": hr.VarLenFeature(hr.string),
        "café bar": hr.VarLenFeature(hr.int64),
    }
    assert hr.features_from(path) == hr.features_from(str(path)) == wanted
    path.write_text(TFX + "represent_variable_length_as_ragged: true")
    assert hr.features_from(path)["words"] == hr.RaggedFeature(hr.string)


def test_tfx_messages():
    message = type("Schema", (), {"__str__": lambda self: TFX})()
    message.DESCRIPTOR = types.SimpleNamespace(full_name="tensorflow.metadata.v0.Schema")
    assert list(hr.features_from(message)) == ["label", "vector", "words", "café bar"]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "no feature"),
        ("nothing: 1", "no feature"),
        ('feature { name: "x" }', "feature 'x': no spec for type TYPE_UNKNOWN"),
        ('feature { name: "x" type: STRUCT }', "feature 'x': no spec for type STRUCT"),
        ('feature { name: "x" type: INT shape {} }', "feature 'x': has a shape, but presence.min_fraction is 0"),
        ('feature { name: "x" type: INT } tensor_representation_group { key: "" }', "tensor_representation_group"),
        ('feature {\n name: "x"\n type INT }', "line 3: expected a value of type"),
        ('feature { name: "x', "line 1: unreadable text"),
        ("feature {", "expected the name of a field"),
        ("a {" * 200, "nested too deep"),
    ],
    ids=repr,
)
def test_tfx_schemas_that_are_refused(tmp_path, text, reason):
    path = tmp_path / "schema.pbtxt"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        hr.features_from(path)


def node(kind, **content):
    return {"pythonClassName": f"tensorflow_datasets.core.features.{kind}", **content}


def dictionary(**features):
    return node("FeaturesDict", featuresDict={"features": features})


def sequence(feature, length="-1"):
    return node("Sequence", sequence={"feature": feature, "length": length})


def tensor(dtype, *dimensions, encoding="none"):
    shape = {"dimensions": [str(size) for size in dimensions]} if dimensions else {}
    return node("Tensor", tensor={"dtype": dtype, "shape": shape, "encoding": encoding})


TFDS = dictionary(
    image=node("Image", image={"dtype": "uint8", "encodingFormat": "png", "shape": {"dimensions": ["28", "28", "1"]}}),
    label=node("ClassLabel", classLabel={"numClasses": "10"}),
    text=node("Text", text={}),
    flag=tensor("bool"),
    half=tensor("float16", 2),
    points=tensor("float64", -1, 3),
    packed=tensor("int32", 8, encoding="zlib"),
    sound=node("Audio", audio={"fileFormat": "wav", "shape": {"dimensions": ["-1"]}}),
    film=node("Video", video={"shape": {"dimensions": ["-1", "64", "64", "3"]}}),
    said=node("Translation", translation={"languages": ["en", "fr"]}),
    steps=sequence(dictionary(action=tensor("float32", 16), done=tensor("bool"), view=node("Image", image={}))),
    pair=sequence(tensor("int64"), length="2"),
    objects=sequence(dictionary(bbox=node("BBoxFeature", boundingBox={}))),
    nested=sequence(sequence(tensor("int64"))),
)


def test_features_of_tensorflow_datasets(tmp_path):
    path = tmp_path / "features.json"
    path.write_text(json.dumps(TFDS))
    steps = lambda shape, dtype: hr.FixedLenSequenceFeature(shape, dtype, allow_missing=True)
    assert (
        hr.features_from(path)
        == hr.features_from(TFDS)
        == {
            "image": hr.FixedLenFeature([], hr.string),
            "label": hr.FixedLenFeature([], hr.int64),
            "text": hr.FixedLenFeature([], hr.string),
            "flag": hr.FixedLenFeature([], hr.int64),
            "half": hr.FixedLenFeature([2], hr.float32),
            "points": steps([3], hr.float32),
            "packed": hr.FixedLenFeature([], hr.string),
            "sound": steps([], hr.int64),
            "film": steps([], hr.string),
            "said/en": hr.FixedLenFeature([], hr.string),
            "said/fr": hr.FixedLenFeature([], hr.string),
            "steps/action": steps([16], hr.float32),
            "steps/done": steps([], hr.int64),
            "steps/view": steps([], hr.string),
            "pair": hr.FixedLenFeature([2], hr.int64),
            "objects/bbox": steps([4], hr.float32),
            "nested": hr.RaggedFeature(
                hr.int64, "nested/ragged_flat_values", [hr.RowLengths("nested/ragged_row_lengths_0")]
            ),
        }
    )


def test_nested_sequences_are_parsed_as_they_were_written():
    # As TensorFlow Datasets writes [[1, 2], [], [3]].
    record = hr.make_example({"nested/ragged_flat_values": [1, 2, 3], "nested/ragged_row_lengths_0": [2, 0, 1]})
    features = {"nested": hr.features_from(TFDS)["nested"]}
    assert hr.parse_example([record], features)["nested"].tolist() == [[[1, 2], [], [3]]]


@pytest.mark.parametrize(
    "document, text",
    [
        ({"type": "FeaturesDict", "content": {}}, "before 4.3"),
        (dictionary(x=node("Custom", jsonFeature={"json": "{}"})), "feature 'x'.*Custom is not known"),
        (dictionary(x=tensor("complex64")), "feature 'x': an Example has no list for complex64"),
        (dictionary(x=tensor("int64", 3, -1)), "feature 'x': no spec has the shape"),
        ({"x": {"y": 1}}, "neither"),
        (3, "int is no description"),
    ],
    ids=repr,
)
def test_descriptions_that_are_refused(document, text):
    with pytest.raises(ValueError, match=text):
        hr.features_from(document)


def test_files_that_are_no_json(tmp_path):
    path = tmp_path / "features.json"
    path.write_text("{,}")
    with pytest.raises(ValueError, match="features.json: no JSON"):
        hr.features_from(path)
    with pytest.raises(FileNotFoundError):
        hr.features_from(tmp_path / "nowhere.json")
