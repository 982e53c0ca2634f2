"""transform=[…]: values written down, dtypes and shapes of the columns, and what is refused. Against TensorFlow:
tensorflow_cases/compare_transforms.py."""

import json

import headrace as hr
import numpy as np
import pytest
from headrace import spec_text

from tensor_proto_cases import head
from wire_bytes import field


def parse(records, spec):
    return hr.parse_example([hr.make_example(record) for record in records], {"a": spec})["a"]


@pytest.mark.parametrize(
    "values, transform, dtype, wanted",
    [
        ([1.5, -2.0], [hr.scale(2, 1)], "float32", [4, -3]),
        ([1.0, 3.0], [hr.normalize([1, 2], [1, 0.5])], "float32", [0, 2]),
        ([1.0, 3.0], [hr.clip(2, 2.5)], "float32", [2, 2.5]),
        ([np.nan, 3.0], [hr.fill_nan(0.25)], "float32", [0.25, 3]),
        ([0.0, -1.0], [hr.log1p()], "float32", [0, -np.inf]),
        ([0.0, 7.0], [hr.bucketize([0.0, 5.0])], "int32", [1, 2]),
        ([1.0, 70000.0], [hr.cast(hr.float16)], "float16", [1, np.inf]),
        ([-1.9, 2.9], [hr.cast("int8")], "int8", [-1, 2]),
        ([5, -3], [hr.cast(np.int16)], "int16", [5, -3]),
        ([1, 0], [hr.cast(bool)], "bool", [True, False]),
        ([5, -3], [hr.mod(4)], "int64", [1, 1]),
        ([5, -3], [hr.clip(-1, 1)], "int64", [1, -1]),
        ([1, 3], [hr.one_hot(2)], "float32", [[0, 1], [0, 0]]),
        ([1, 0], [hr.one_hot(2, "bool")], "bool", [[False, True], [True, False]]),
        ([30, 5], [hr.lookup([10, 20, 30])], "int64", [2, -1]),
        ([b"q", b"x"], [hr.lookup(["p", "q"], oov=7)], "int64", [1, 7]),
        ([b"hello", b""], [hr.hash_bucket(1)], "int64", [0, 0]),
        ([3, 4], [hr.cast("float32"), hr.scale(0.5), hr.bucketize([2]), hr.one_hot(2, "int8")], "int8", [[1, 0], [0, 1]]),
        ([3, 4], hr.mod(2), "int64", [1, 0]),
    ],
    ids=repr,
)
def test_values(values, transform, dtype, wanted):
    kind = hr.string if isinstance(values[0], bytes) else hr.int64 if isinstance(values[0], int) else hr.float32
    column = parse([{"a": values}, {"a": values}], hr.FixedLenFeature([2], kind, transform=transform)).numpy()
    assert column.dtype == dtype
    np.testing.assert_array_equal(column, [wanted, wanted])


def test_hash_of_known_strings():
    column = parse([{"a": [b"", b"hello"]}], hr.FixedLenFeature([2], hr.string, transform=[hr.hash_bucket(2**63 - 1)]))
    # FarmHash's Fingerprint64 of the empty string is the constant 0x9ae16a3b2f90404f.
    assert column.numpy()[0, 0] == 0x9AE16A3B2F90404F % (2**63 - 1)


def test_other_dtypes_of_lists_are_casts():
    records = [{"a": [1, 2]}, {"a": [3]}, {}]
    ragged = parse(records, hr.VarLenFeature(hr.int32))
    assert ragged.flat_values.numpy().dtype == np.int32 and ragged.tolist() == [[1, 2], [3], []]
    steps = parse(records, hr.FixedLenSequenceFeature([], hr.uint8, allow_missing=True, default_value=9)).numpy()
    assert steps.dtype == np.uint8 and steps.tolist() == [[1, 2], [3, 9], [9, 9]]
    fixed = parse([{"a": 2.5}, {}], hr.FixedLenFeature([], hr.float64, default_value=0.1)).numpy()
    assert fixed.dtype == np.float64 and fixed.tolist() == [2.5, float(np.float32(0.1))]


def test_rows_of_varying_length():
    records = [{"a": [1, 2, 3]}, {"a": [4]}, {}]
    assert parse(records, hr.VarLenFeature(hr.int64, transform=[hr.truncate(2)])).tolist() == [[1, 2], [4], []]
    padded = parse(records, hr.VarLenFeature(hr.int64, transform=[hr.pad(2, -1), hr.cast("float32"), hr.scale(10)]))
    assert padded.numpy().tolist() == [[10, 20], [40, -10], [-10, -10]]
    words = [{"a": [b"x", b"y", b"z"]}, {}]
    assert parse(words, hr.VarLenFeature(hr.string, transform=[hr.pad(2, "none")])).tolist() == [[b"x", b"y"], [b"none"] * 2]
    assert parse(words, hr.VarLenFeature(hr.string, transform=[hr.lookup(["z", "y"]), hr.pad(3, 8)])).numpy().tolist() == [
        [-1, 1, 0],
        [8, 8, 8],
    ]


@pytest.mark.parametrize(
    "values, transform, expected",
    [
        ([1, 300], [hr.cast("uint8")], "uint8 (0 to 255)"),
        ([1, -1], [hr.cast("uint64")], "uint64 (0 to 18446744073709551615)"),
        ([1, 2], [hr.cast("bool")], "bool (0 or 1)"),
        ([1.0, np.nan], [hr.cast("int32")], "int32 (-2147483648 to 2147483647)"),
        ([b"a", b"secret"], [hr.lookup(["a"], oov=None)], "a value of the vocabulary"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("variable", [False, True])
def test_values_that_do_not_fit(values, transform, expected, variable):
    kind = hr.string if isinstance(values[0], bytes) else hr.int64 if isinstance(values[0], int) else hr.float32
    spec = hr.VarLenFeature(kind, transform=transform) if variable else hr.FixedLenFeature([2], kind, transform=transform)
    with pytest.raises(hr.SchemaError) as caught:
        parse([{"a": values[:1] * 2}] * 70 + [{"a": values}], spec)
    assert (caught.value.key, caught.value.row, caught.value.expected) == ("a", 70, expected)
    assert "place 1 is not" in str(caught.value) and "secret" not in str(caught.value)


def test_a_bad_value_in_a_pipeline_has_its_place_in_the_stream(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        for value in (1, 2, 3, 256, 5):
            writer.write(hr.make_example({"a": value}))
    features = {"a": hr.FixedLenFeature([], hr.uint8)}
    batches = iter(hr.TFRecordDataset(path).batch(10).parse(features))
    assert next(batches)["a"].numpy().tolist() == [1, 2, 3]
    with pytest.raises(hr.SchemaError, match="uint8") as caught:
        next(batches)
    assert caught.value.record == 3 and str(path) in str(caught.value)


@pytest.mark.parametrize(
    "spec, text",
    [
        (hr.FixedLenFeature([], hr.int64, transform=[hr.scale(2)]), r"transform\[0\], scale: takes float32 or float64"),
        (hr.FixedLenFeature([], hr.string, transform=[hr.log1p()]), "log1p"),
        (hr.FixedLenFeature([], hr.float32, transform=[hr.log1p(), hr.mod(3)]), r"transform\[1\], mod: takes whole"),
        (hr.FixedLenFeature([], hr.int64, transform=[hr.one_hot(3), hr.cast("int8")]), "one_hot: it must be the last"),
        (hr.FixedLenFeature([2], hr.float32, transform=[hr.normalize([1, 2, 3])]), "mean has 3 values, expected 1 or 2"),
        (hr.FixedLenFeature([], hr.float32, transform=[hr.bucketize([2, 1])]), "not in order"),
        (hr.FixedLenFeature([2], hr.int64, transform=[hr.pad(3)]), "must vary"),
        (hr.RaggedFeature(hr.int64, "v", [hr.RowLengths("n")], transform=[hr.truncate(3)]), "must vary"),
        (hr.VarLenFeature(hr.int64, transform=[hr.pad(3), hr.truncate(2)]), "padded before"),
        (hr.VarLenFeature(hr.int64, transform=[hr.pad(3, "x")]), "value must be a number"),
        (hr.VarLenFeature(hr.string, transform=[hr.pad(3, 1)]), "must be a string"),
        (hr.FixedLenFeature([], hr.int64, transform=[hr.lookup(["a"])]), "whole numbers"),
        (hr.FixedLenFeature([], hr.string, transform=[hr.lookup(["a", "b", "a"])]), "entry 2"),
        (hr.FixedLenFeature([], hr.uint8, 300), "default_value cannot be transformed"),
        (hr.RawFeature([], hr.complex64, transform=[hr.cast("float32")]), "takes numbers"),
        (hr.TensorFeature([None], hr.float32, transform=[hr.scale([1, 2])]), "mul has 2 values, expected 1"),
        (hr.TensorFeature([None], hr.float32, transform=[hr.truncate(2)]), "must vary"),
        (hr.Jagged(["a"], transform=[hr.pad(3)]), "no padding"),
        (hr.BytesFeature(view=True, transform=[hr.hash_bucket(3)]), "not for views"),
        (hr.SparseFeature("i", "v", hr.int64, 3, transform=[hr.one_hot(3)]), "not for SparseFeature"),
        (hr.FixedLenFeature([], hr.int64, transform="scale"), "must be a list of transforms"),
        (hr.FixedLenFeature([], hr.int64, transform=[None]), r"transform\[0\]: None is no transform"),
    ],
    ids=repr,
)
def test_lists_that_are_refused(spec, text):
    with pytest.raises(ValueError, match=text) as caught:
        hr.TFRecordDataset("nowhere").batch(1).parse({"feature_a": spec})
    assert "feature_a" in str(caught.value)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: hr.scale("x"), "mul='x'"),
        (lambda: hr.clip(None, 1), "lo=None"),
        (lambda: hr.one_hot(2.5), "depth=2.5"),
        (lambda: hr.cast("quaternion"), "quaternion"),
        (lambda: hr.lookup(["a", 3]), "vocabulary: 3"),
        (lambda: hr.lookup([1, 2.5]), "vocabulary=2.5"),
        (lambda: hr.mod(True), "n=True"),
        (lambda: hr.pad(3, []), r"value=\[\]"),
    ],
)
def test_arguments_that_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_stacks():
    """Each key is transformed on its own, constants along the last dimension are those of the keys."""
    records = [hr.make_example({"b": row * 10.0, "a": float(row)}) for row in range(100)]
    stack = hr.Stack(["a", "b"], hr.float32, transform=[hr.scale([1, 2], 1), hr.cast("float64")])
    hot = hr.Stack(["c", "d"], hr.int64, [1, 2], transform=[hr.one_hot(3, "int8")])
    columns = hr.parse_example(records, {"x": stack, "y": hot})
    assert columns["x"].numpy().tolist() == [[row + 1.0, row * 20.0 + 1] for row in range(100)]
    assert columns["y"].numpy().tolist() == [[[0, 1, 0], [0, 0, 1]]] * 100


def test_jagged_and_sparse():
    records = [
        hr.make_example({"a": [1, 2, 300], "b": [4], "v": [1, 2, 300], "i": [5, 3, 1]}),
        hr.make_example({"b": [6, 7]}),
    ]
    columns = hr.parse_example(
        records,
        {
            "j": hr.Jagged(["a", "b"], transform=[hr.truncate(2), hr.cast("uint8")]),
            "s": hr.SparseFeature("i", "v", hr.int64, 10, transform=[hr.mod(7), hr.cast("float32")]),
        },
    )
    assert columns["j"].values.numpy().dtype == np.uint8 and columns["j"].values.numpy().tolist() == [1, 2, 4, 6, 7]
    assert columns["j"].lengths.numpy().tolist() == [2, 0, 1, 2]
    assert columns["s"].values.numpy().dtype == np.float32 and columns["s"].values.numpy().tolist() == [6, 2, 1]


def test_unknown_dimensions():
    """What TensorFeature and RawFeature make of records of several shapes; the padding is transformed, too."""
    images = [np.arange(2 * width * 2, dtype=np.uint8).reshape(2, width, 2) for width in (1, 3)]
    records = [hr.make_example({"t": hr.make_tensor(image), "r": image.tobytes()}) for image in images]
    scaled = [hr.cast("float32"), hr.scale([1, 10], 1), hr.cast("bfloat16")]
    columns = hr.parse_example(
        records,
        {
            "ragged": hr.TensorFeature([2, None, 2], hr.uint8, key="t", transform=scaled),
            "padded": hr.TensorFeature([2, None, 2], hr.uint8, "t", False, "padded", 9, scaled),
            "raw": hr.RawFeature([None, 2], hr.uint8, key="r", transform=[hr.one_hot(3, "int8")]),
        },
    )
    wanted = [image.astype(np.float32) * [1, 10] + 1 for image in images]
    assert columns["ragged"].tolist() == [image.tolist() for image in wanted]
    padded = np.full((2, 2, 3, 2), [10, 91], np.float32)
    padded[0, :, :1] = wanted[0]
    padded[1] = wanted[1]
    assert columns["padded"].numpy().dtype == "bfloat16"
    assert columns["padded"].numpy().astype(np.float32).tolist() == padded.tolist()
    hot = [np.eye(13, 3, dtype=np.int8)[image.reshape(-1, 2)] for image in images]
    assert columns["raw"].tolist() == [rows.tolist() for rows in hot]


def test_unknown_dimensions_of_strings_and_bad_values():
    protos = [head("string", len(row)) + b"".join(field(8, word) for word in row) for row in ([b"a", b"b"], [b"secret"])]
    words = [hr.make_example({"t": proto}) for proto in protos]
    spec = hr.TensorFeature([None], hr.string, "t", False, "padded", "b", [hr.lookup(["a", "b"])])
    assert hr.parse_example(words, {"x": spec})["x"].numpy().tolist() == [[0, 1], [-1, 1]]
    spec = hr.TensorFeature([None], hr.string, "t", transform=[hr.lookup(["a", "b"], oov=None)])
    with pytest.raises(hr.SchemaError, match="place 0 is not a value of the vocabulary") as caught:
        hr.parse_example(words, {"x": spec})
    assert caught.value.row == 1 and "secret" not in str(caught.value)


def test_report_has_the_cost_of_each_feature(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        for row in range(1000):
            writer.write(hr.make_example({"a": float(row), "b": [row] * 100}))
    features = {
        "plain": hr.VarLenFeature(hr.int64, "b"),
        "scaled": hr.FixedLenFeature([], hr.float32, key="a", transform=[hr.scale(2)]),
        "stack": hr.Stack(["a", "a2"], hr.float32, 0.0, transform=[hr.log1p()]),
        "narrow": hr.VarLenFeature(hr.int32, "b"),
    }
    batches = iter(hr.TFRecordDataset(path).batch(100).parse(features))
    for _ in batches:
        pass
    report = batches.report()
    assert [cost.feature for cost in report.transforms] == ["scaled", "stack", "narrow"]
    parse = next(stage for stage in report.stages if stage.name == "parse")
    assert 0 < sum(cost.busy_seconds for cost in report.transforms) < parse.busy_seconds
    assert batches.stats()["transforms"][2]["feature"] == "narrow"


def test_specs_with_transforms_are_written_and_read_back():
    features = {
        "a": hr.FixedLenFeature([], hr.string, transform=[hr.lookup([b"x", "y"], oov=7), hr.one_hot(8, "int8")]),
        "b": hr.VarLenFeature(hr.float32, transform=[hr.pad(3, -1), hr.normalize([1, 2, 3], 2), hr.cast("bfloat16")]),
    }
    assert spec_text.from_json(json.loads(json.dumps(spec_text.to_json(features)))) == features
    scope = {}
    exec(spec_text.to_code(features), scope)
    assert scope["features"] == features
    document = spec_text.to_json({"a": hr.VarLenFeature(hr.int64, transform=[hr.mod(3)])})
    document["features"]["a"]["transform"][0]["transform"] = "system"
    with pytest.raises(ValueError, match="system"):
        spec_text.from_json(document)


def test_transforms_are_values():
    assert hr.scale(2, 1) == hr.scale(2.0, 1.0) != hr.scale(3)
    assert repr(hr.one_hot(3)) == "headrace.one_hot(depth=3, dtype=headrace.float32)"
    assert repr(hr.lookup(range(100))).startswith("headrace.lookup(vocabulary=<100 values>, oov=-1")
