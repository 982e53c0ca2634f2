"""Wide tables: Stack, Jagged, match, and structures over what they make."""

import sys
import types

import headrace as hr
import numpy as np
import pytest

DENSE = [f"I{i}" for i in range(1, 14)]
SPARSE = [f"C{i}" for i in range(1, 27)]


def record(row):
    return hr.make_example(
        {
            "label": row % 2,
            **{key: np.float32(row + place / 16) for place, key in enumerate(reversed(DENSE))},
            **{key: np.arange((row + place) % 3, dtype=np.int64) + row for place, key in enumerate(SPARSE)},
        }
    )


ROWS = 30
RECORDS = [record(row) for row in range(ROWS)]


@pytest.fixture
def shards(tmp_path):
    for shard in range(2):
        with hr.TFRecordWriter(tmp_path / f"part-{shard}.tfrecord") as writer:
            for row in range(15):
                writer.write(RECORDS[15 * shard + row])
    return hr.TFRecordDataset(tmp_path)


def test_a_stack_is_the_columns_side_by_side():
    single = {key: hr.FixedLenFeature([], hr.float32) for key in DENSE}
    columns = hr.parse_example(RECORDS, {"dense": hr.Stack(DENSE, hr.float32), **single})
    dense = columns["dense"]
    assert dense.shape == (ROWS, 13) and dense.dtype == "float32"
    np.testing.assert_array_equal(dense.numpy(), np.stack([columns[key].numpy() for key in DENSE], axis=1))
    one = hr.parse_single_example(RECORDS[3], {"dense": hr.Stack(DENSE, hr.float32)})["dense"]
    np.testing.assert_array_equal(one.numpy(), dense.numpy()[3])


def test_a_stack_fills_in_defaults():
    records = [hr.make_example({"b": 7}), hr.make_example({})]
    for default, wanted in ((-1, [[-1, 7], [-1, -1]]), ([1, 2], [[1, 7], [1, 2]])):
        column = hr.parse_example(records, {"s": hr.Stack(["a", "b"], hr.int64, default)})["s"]
        assert column.numpy().tolist() == wanted
    with pytest.raises(hr.SchemaError) as caught:
        hr.parse_example(records, {"s": hr.Stack(["a", "b"], hr.int64)})
    assert caught.value.key == "a" and caught.value.row == 0


def check_jagged(column, rows):
    wanted = {key: [list(range(row, row + (row + place) % 3)) for row in rows] for place, key in enumerate(SPARSE)}
    assert column.keys == tuple(SPARSE) and len(column) == len(rows)
    assert column.todict() == wanted
    lengths = [len(row) for key in SPARSE for row in wanted[key]]
    assert column.lengths.numpy().tolist() == lengths
    assert column.offsets.numpy().tolist() == [0, *np.cumsum(lengths)]
    assert column.values.numpy().tolist() == [value for key in SPARSE for row in wanted[key] for value in row]


def test_a_jagged_column_is_key_major():
    column = hr.parse_example(RECORDS, {"sparse": hr.Jagged(SPARSE)}, num_threads=2)["sparse"]
    assert isinstance(column, hr.JaggedColumn) and column.dtype == "int64"
    check_jagged(column, range(ROWS))
    assert repr(column) == f"<headrace.JaggedColumn 26 keys, 30 rows, values int64 [{len(column.values)}]>"


def test_a_jagged_column_of_strings():
    records = [
        hr.make_example({"a": np.array([b"x", b"yz"], dtype=object)}),
        hr.make_example({"b": b"w", "a": np.array([b""], dtype=object)}),
    ]
    column = hr.parse_example(records, {"j": hr.Jagged(["b", "a"], hr.string)})["j"]
    assert column.todict() == {"b": [[], [b"w"]], "a": [[b"x", b"yz"], [b""]]}
    assert isinstance(column.values, hr.BytesColumn)


def test_jagged_columns_of_several_devices_are_joined(shards):
    parsed = shards.batch(20).parse({"j": hr.Jagged(SPARSE), "s": hr.Stack(DENSE, hr.float32)})
    batches = parsed.prefetch_to_device([f"/CPU:{replica}" for replica in range(4)])
    for batch, rows in zip(batches, (range(20), range(20, 30))):
        check_jagged(batch["j"], rows)
        assert batch["s"].shape == (len(rows), 13)
        first = 0
        for share in batch.replicas:
            check_jagged(share["j"], rows[first : first + share.rows])
            first += share.rows


def test_strings_of_several_devices_are_joined(tmp_path):
    with hr.TFRecordWriter(tmp_path / "words.tfrecord") as writer:
        for row in range(4):
            writer.write(hr.make_example({"a": b"a%d" % row, "b": np.array([b"b%d" % row] * row, dtype=object)}))
    dataset = hr.TFRecordDataset(tmp_path).batch(4).parse({"j": hr.Jagged(["a", "b"], hr.string)})
    (batch,) = dataset.prefetch_to_device(["/CPU:0", "/CPU:1"])
    assert batch["j"].todict() == {
        "a": [[b"a0"], [b"a1"], [b"a2"], [b"a3"]],
        "b": [[], [b"b1"], [b"b2"] * 2, [b"b3"] * 3],
    }


def test_torchrec_gets_the_same_memory(monkeypatch):
    class Tensor:
        def __init__(self, array):
            self.array = array

    torch = types.ModuleType("torch")
    torch.from_dlpack = lambda column: Tensor(np.from_dlpack(column))
    jagged_tensor = types.ModuleType("torchrec.sparse.jagged_tensor")
    jagged_tensor.KeyedJaggedTensor = lambda **parts: parts
    for name, module in {
        "torch": torch,
        "torchrec": types.ModuleType("torchrec"),
        "torchrec.sparse": types.ModuleType("torchrec.sparse"),
        "torchrec.sparse.jagged_tensor": jagged_tensor,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    column = hr.parse_example(RECORDS, {"j": hr.Jagged(SPARSE)})["j"]
    made = column.to_keyed_jagged_tensor()
    assert made["keys"] == SPARSE and made["stride"] == ROWS
    for part in ("values", "lengths", "offsets"):
        assert np.shares_memory(made[part].array, getattr(column, part).numpy()), part


@pytest.mark.parametrize(
    "spec, text",
    [
        (hr.Stack([], hr.int64), "at least one"),
        (hr.Stack(["a", "a"], hr.int64), "twice"),
        (hr.Stack(["a"], hr.string), "int64 or float32"),
        (hr.Stack(["a", "b"], hr.int64, [1, 2, 3]), "default"),
        (hr.Stack([1], hr.int64), "must be a str"),
        (hr.Jagged([], hr.int64), "at least one"),
        (hr.Jagged(["a"], hr.complex64), "complex64"),
        (hr.Jagged("C*"), "'C\\*' is a pattern"),
        (hr.match("C*", hr.VarLenFeature(hr.int64)), "'C\\*' is a pattern"),
    ],
    ids=repr,
)
def test_specs_that_are_refused(spec, text):
    with pytest.raises(ValueError, match=text) as caught:
        hr.parse_example([], {"feature_a": spec})
    assert "feature_a" in str(caught.value)


def test_patterns_become_the_keys_of_the_first_records(shards):
    features = {
        "label": hr.FixedLenFeature([], hr.int64),
        "dense": hr.Stack("I*", hr.float32),
        "some": hr.Jagged("C1?"),
        "first": hr.VarLenFeature(hr.int64),
        "others": hr.match("C*", hr.VarLenFeature(hr.int64)),
    }
    features["C2"] = hr.RaggedFeature(hr.int64)
    dataset = shards.batch(10).parse({name: spec for name, spec in features.items() if name not in ("some", "first")})
    assert dataset.features["dense"] == hr.Stack(DENSE, hr.float32)
    expanded = [key for key in SPARSE if key != "C2"]
    assert list(dataset.features) == ["label", "dense", *expanded, "C2"]
    assert all(dataset.features[key] == hr.VarLenFeature(hr.int64) for key in expanded)
    batch = next(iter(dataset))
    assert list(batch) == list(dataset.features) and batch["dense"].shape == (10, 13)
    assert hr.parse_example(RECORDS[:1], dataset.features)["C3"].tolist() == [[0, 1]]

    jagged = shards.batch(10).parse({"some": features["some"]})
    assert jagged.features["some"].keys == [f"C{i}" for i in range(10, 20)]


def test_a_pattern_costs_no_epoch_and_no_record(shards):
    shuffled = shards.shuffle(8, seed=1).batch(7)
    dataset = shuffled.parse({"all": hr.Stack("I*", hr.float32)})
    plain = shuffled.parse({"all": hr.Stack(DENSE, hr.float32)})
    for with_pattern, without in zip(dataset, plain, strict=True):
        np.testing.assert_array_equal(with_pattern["all"].numpy(), without["all"].numpy())


def test_the_state_of_a_pattern_is_that_of_its_keys(shards):
    def make(spec):
        return shards.batch(7).parse({"all": spec})

    batches = iter(make(hr.Stack("I*", hr.float32)))
    next(batches)
    other = iter(make(hr.Stack(DENSE, hr.float32)))
    other.load_state_dict(batches.state_dict())
    np.testing.assert_array_equal(next(batches)["all"].numpy(), next(other)["all"].numpy())


@pytest.mark.parametrize(
    "features, text",
    [
        (
            {"x": hr.match("Z*", hr.VarLenFeature(hr.int64))},
            r"feature 'x': no key fits 'Z\*'; there are 'C1', 'C2', 'C3'",
        ),
        (
            {"C3": hr.VarLenFeature(hr.int64), "x": hr.match("C3", hr.VarLenFeature(hr.int64))},
            "feature 'x': no key fits 'C3'",
        ),
        (
            {"x": hr.match("C1", hr.VarLenFeature(hr.int64)), "y": hr.match("C?", hr.VarLenFeature(hr.int64))},
            "feature 'C1': there twice",
        ),
    ],
    ids=repr,
)
def test_patterns_that_are_refused(shards, features, text):
    with pytest.raises(ValueError, match=text):
        shards.batch(2).parse(features)


@pytest.mark.parametrize(
    "pattern, spec",
    [
        ("", hr.VarLenFeature(hr.int64)),
        (3, hr.VarLenFeature(hr.int64)),
        ("C*", hr.RaggedFeature(hr.int64, "v")),
        ("C*", hr.TensorFeature([], hr.int64, key="k")),
        ("C*", hr.Jagged(["a"])),
        ("C*", hr.match("D*", hr.VarLenFeature(hr.int64))),
    ],
    ids=repr,
)
def test_matches_that_are_refused(pattern, spec):
    with pytest.raises(ValueError, match="match"):
        hr.match(pattern, spec)


def test_a_missing_file_is_told_when_the_pattern_is_expanded(tmp_path):
    with pytest.raises(FileNotFoundError):
        hr.TFRecordDataset(tmp_path / "nowhere").batch(1).parse({"x": hr.match("C*", hr.VarLenFeature(hr.int64))})


def test_structures_over_wide_tables(shards):
    dataset = shards.batch(4).parse(
        {
            "label": hr.FixedLenFeature([], hr.int64),
            "dense": hr.Stack("I*", hr.float32),
            "c": hr.match("C?", hr.VarLenFeature(hr.int64)),
        }
    )
    batch = next(iter(dataset))
    from headrace.structure import resolve

    structure = ({"x": "dense", "others": hr.rest}, "label", hr.weight("label", {1: 3.0}))
    inputs, label, weights = resolve(structure, dataset.features)(batch, lambda leaf, column: leaf.of(column.numpy()))
    assert list(inputs["others"]) == [f"C{i}" for i in range(1, 10)]
    assert inputs["x"].shape == (4, 13) and weights.tolist() == [1.0, 3.0, 1.0, 3.0] and len(label) == 4


def test_wide_specs_are_written_down(tmp_path):
    import json

    from headrace import spec_text

    features = {"s": hr.Stack(["a", "b"], hr.float32, 0.0), "j": hr.Jagged(["c"], hr.string)}
    assert hr.features_from(json.loads(json.dumps(spec_text.to_json(features)))) == features
    names = {}
    exec(spec_text.to_code(features), names)
    assert names["features"] == features
