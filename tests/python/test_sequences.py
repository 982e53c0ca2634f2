"""SequenceExamples without TensorFlow: the right values written down; the pipeline's parse_sequence."""

import random

import headrace as hr
import numpy as np
import pytest

from wire_bytes import field, varint


def ints(*values):
    return field(3, field(1, b"".join(varint(value) for value in values)))


def floats(*values):
    return field(2, field(1, np.float32(values).tobytes()))


def texts(*values):
    return field(1, b"".join(field(1, value) for value in values))


def sequence(context=(), lists=()):
    """A serialized SequenceExample: dicts of Feature messages and of lists of them."""
    features = b"".join(field(1, field(1, key.encode()) + field(2, value)) for key, value in dict(context).items())
    entries = b"".join(
        field(1, field(1, key.encode()) + field(2, b"".join(field(1, step) for step in steps)))
        for key, steps in dict(lists).items()
    )
    return field(1, features) + field(2, entries)


def dense(*shape, dtype=hr.int64):
    return hr.FixedLenSequenceFeature(shape, dtype, allow_missing=True)


RECORDS = [
    sequence({"id": ints(7), "name": texts(b"first")}, {"x": [ints(1), ints(2)], "v": [floats(0.5, 1.5), floats()]}),
    sequence({"id": ints(8), "name": texts(b"second")}, {"x": [ints(3)]}),
]
CONTEXT = {"id": hr.FixedLenFeature([], hr.int64), "name": hr.FixedLenFeature([], hr.string)}
LISTS = {"x": dense(), "v": hr.VarLenFeature(hr.float32)}


def test_three_parts():
    context, sequences, lengths = hr.parse_sequence_example(RECORDS, CONTEXT, LISTS)
    assert context["id"].numpy().tolist() == [7, 8] and context["name"].tolist() == [b"first", b"second"]
    assert sequences["x"].numpy().tolist() == [[1, 2], [3, 0]] and list(sequences) == ["x", "v"]
    assert sequences["v"].tolist() == [[[0.5, 1.5], []], []]
    assert lengths["x"].numpy().tolist() == [2, 1] and list(lengths) == ["x"]


def test_transforms():
    lists = {
        "x": hr.FixedLenSequenceFeature([], hr.uint8, True, transform=[hr.cast("float32"), hr.scale(0.5, 1)]),
        "v": hr.VarLenFeature(hr.float32, transform=[hr.scale(2), hr.cast("int32"), hr.one_hot(2, "int8")]),
    }
    _, sequences, lengths = hr.parse_sequence_example(RECORDS, None, lists)
    assert sequences["x"].numpy().tolist() == [[1.5, 2], [2.5, 1]] and lengths["x"].numpy().tolist() == [2, 1]
    assert sequences["v"].tolist() == [[[[0, 1], [0, 0]], []], []]
    ragged = hr.parse_sequence_example(RECORDS, None, {"x": hr.VarLenFeature(hr.int64, transform=[hr.mod(2)])})[1]["x"]
    assert ragged.tolist() == [[[1], [0]], [[1]]]


@pytest.mark.parametrize("spec", [hr.FixedLenSequenceFeature([], hr.uint8, True), hr.VarLenFeature(hr.uint8)], ids=repr)
def test_a_value_that_does_not_fit(spec):
    records = [RECORDS[0], sequence(lists={"x": [ints(1), ints(300)]})]
    with pytest.raises(hr.SchemaError, match=r"place 0 is not uint8 \(0 to 255\)") as caught:
        hr.parse_sequence_example(records, None, {"x": spec})
    assert (caught.value.key, caught.value.row) == ("x", 1) and "Index: 1" in str(caught.value)


def test_one_record():
    context, sequences = hr.parse_single_sequence_example(RECORDS[0], CONTEXT, LISTS)
    assert context["id"].shape == () and context["id"].numpy() == 7 and context["name"].tolist() == b"first"
    assert sequences["x"].numpy().tolist() == [1, 2] and sequences["v"].tolist() == [[0.5, 1.5], []]


def test_sparse_coordinates_of_a_list():
    indices, values, shape = hr.parse_sequence_example(RECORDS, None, LISTS)[1]["v"].to_sparse()
    assert indices.tolist() == [[0, 0, 0], [0, 0, 1]] and values.tolist() == [0.5, 1.5] and shape.tolist() == [2, 2, 2]


def test_one_name_in_all_parts():
    record = sequence({"x": ints(5)}, {"x": [ints(1), ints(2)]})
    context, sequences, lengths = hr.parse_sequence_example([record], {"x": hr.FixedLenFeature([], hr.int64)}, {"x": dense()})
    assert context["x"].numpy().tolist() == [5] and sequences["x"].numpy().tolist() == [[1, 2]]
    assert lengths["x"].numpy().tolist() == [2]


def test_ragged_partitions_inside_a_step():
    record = sequence(lists={"v": [ints(1, 2, 3), ints(4)], "p": [ints(1, 2), ints(0, 1)]})
    spec = hr.RaggedFeature(hr.int64, "v", [hr.RowLengths("p")])
    column = hr.parse_sequence_example([record], None, {"r": spec})[1]["r"]
    assert column.tolist() == [[[[1], [2, 3]], [[], [4]]]]


def test_all_specs_of_the_context():
    array = np.arange(4, dtype=np.float32)
    record = sequence(
        {"t": texts(hr.make_tensor(array)), "raw": texts(array.tobytes()), "i": ints(3, 1), "v": ints(7, 8)}, {"x": [ints(1)]}
    )
    context = {
        "t": hr.TensorFeature([4], hr.float32),
        "raw": hr.RawFeature([2, 2], hr.float32),
        "s": hr.SparseFeature("i", "v", hr.int64, 5),
    }
    found, _, _ = hr.parse_sequence_example([record], context, {"x": dense()})
    assert found["t"].numpy().tolist() == [[0, 1, 2, 3]] and found["raw"].numpy().tolist() == [[[0, 1], [2, 3]]]
    assert found["s"].indices.numpy().tolist() == [[0, 1], [0, 3]] and found["s"].values.numpy().tolist() == [8, 7]


def write(path, records):
    with hr.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def test_in_a_pipeline(tmp_path):
    path = write(tmp_path / "a.tfrecord", RECORDS * 3)
    dataset = hr.TFRecordDataset(path).batch(4).parse_sequence(CONTEXT, LISTS, origin=True)
    first, second = dataset
    assert list(first) == ["id", "name", "x", "x_lengths", "v", "_shard", "_record"]
    assert first["x"].numpy().tolist() == [[1, 2], [3, 0]] * 2 and first["x_lengths"].numpy().tolist() == [2, 1, 2, 1]
    assert second["v"].tolist() == [[[0.5, 1.5], []], []] and second["_record"].numpy().tolist() == [4, 5]


def test_replicas_have_one_shape_and_join(tmp_path):
    path = write(tmp_path / "a.tfrecord", RECORDS)
    dataset = hr.TFRecordDataset(path).batch(2).parse_sequence(CONTEXT, LISTS)
    batch = next(iter(dataset.prefetch_to_device(["/CPU:0", "/CPU:1"])))
    assert [replica["x"].numpy().tolist() for replica in batch.replicas] == [[[1, 2]], [[3, 0]]]
    assert [replica["v"].tolist() for replica in batch.replicas] == [[[[0.5, 1.5], []]], [[]]]
    assert batch["v"].tolist() == [[[0.5, 1.5], []], []] and batch["x_lengths"].numpy().tolist() == [2, 1]


def test_renamed_columns(tmp_path):
    path = write(tmp_path / "a.tfrecord", [sequence({"x": ints(5)}, {"x": [ints(1)], "x_lengths": [ints(9)]})])
    reader = hr.TFRecordDataset(path).batch(1)
    with pytest.raises(ValueError, match="'x': the name is in context_features and in sequence_features"):
        reader.parse_sequence({"x": hr.VarLenFeature(hr.int64)}, {"x": dense()})
    with pytest.raises(ValueError, match="x_lengths"):
        reader.parse_sequence(None, {"x": dense(), "x_lengths": dense()})
    lists = {"steps": hr.FixedLenSequenceFeature([], hr.int64, allow_missing=True, key="x")}
    batch = next(iter(reader.parse_sequence({"x": hr.FixedLenFeature([], hr.int64)}, lists)))
    assert {name: column.numpy().tolist() for name, column in batch.items()} == {
        "x": [5],
        "steps": [[1]],
        "steps_lengths": [1],
    }


def test_errors_name_file_record_key_and_step(tmp_path):
    path = write(tmp_path / "a.tfrecord", [*RECORDS, sequence(lists={"x": [ints(1), ints(1, 2)]})])
    batches = iter(hr.TFRecordDataset(path).batch(2).parse_sequence(None, LISTS))
    assert next(batches)["x_lengths"].numpy().tolist() == [2, 1]
    with pytest.raises(hr.SchemaError, match="Key: x, Index: 1") as caught:
        next(batches)
    assert (caught.value.path, caught.value.record, caught.value.key) == (path, 2, "x")


@pytest.mark.parametrize(
    "context, lists, text",
    [
        ({"a": dense()}, None, "not for the context"),
        (None, {"a": hr.FixedLenFeature([], hr.int64)}, "Unsupported FixedLenFeature in sequence_features"),
        (None, {"a": hr.TensorFeature([], hr.int64)}, "Unsupported TensorFeature"),
        (None, {"a": hr.SparseFeature("i", "a", hr.int64, 3)}, "Unsupported SparseFeature"),
        (None, {"a": hr.FixedLenSequenceFeature([], hr.int64, True, 3)}, "default_value .* must be None"),
        (None, {"a": hr.FixedLenSequenceFeature([0], hr.int64, True)}, "no elements"),
        (None, {"a": hr.FixedLenSequenceFeature([None], hr.int64, True)}, "must be known"),
        (None, {"a": dense(dtype=hr.complex64)}, "complex64"),
        (None, {"a": hr.RaggedFeature(hr.int64, "v", [hr.RowLengths("v")]), "v": dense()}, "used in two ways"),
        (None, {"a": 3}, "no feature spec"),
        ([], None, "context_features: must map"),
        (None, {3: dense()}, "sequence_features: name 3"),
    ],
)
def test_specs_that_are_refused(context, lists, text):
    for parse in (hr.TFRecordDataset("nowhere").batch(1).parse_sequence, lambda *specs: hr.parse_sequence_example([], *specs)):
        with pytest.raises(ValueError, match=text):
            parse(context, lists)


def test_arguments_that_are_refused():
    for wrong in (b"one record", "text", [1]):
        with pytest.raises(ValueError, match="serialized"):
            hr.parse_sequence_example(wrong, CONTEXT, LISTS)
    with pytest.raises(ValueError, match="found 2"):
        hr.parse_sequence_example(np.array([RECORDS], dtype=object), CONTEXT, LISTS)
    with pytest.raises(ValueError, match="parse_sequence_example takes several"):
        hr.parse_single_sequence_example(RECORDS, CONTEXT, LISTS)
    for cut in (hr.truncate(2), hr.pad(2)):
        with pytest.raises(ValueError, match="not the steps of a feature list"):
            hr.parse_sequence_example(RECORDS, CONTEXT, {"x": hr.VarLenFeature(hr.int64, transform=[cut])})
    with pytest.raises(ValueError, match="num_threads"):
        hr.parse_sequence_example(RECORDS, CONTEXT, LISTS, num_threads=0)


def test_threads_give_the_same():
    records = RECORDS * 500
    one = hr.parse_sequence_example(records, CONTEXT, LISTS)
    four = hr.parse_sequence_example(records, CONTEXT, LISTS, num_threads=4)
    np.testing.assert_array_equal(one[1]["x"].numpy(), four[1]["x"].numpy())
    assert one[1]["v"].tolist() == four[1]["v"].tolist()


def test_damaged_records_fail_or_parse():
    """Every record with a byte changed, a piece cut out or its end cut off either fails with a SchemaError or parses."""
    generator = random.Random(5)
    lists = {**LISTS, "r": hr.RaggedFeature(hr.int64, "w", [hr.ValueRowIds("p")])}
    whole = sequence({"id": ints(7), "name": texts(b"n")}, {"x": [ints(1), ints(300)], "v": [floats(1, 2)], "w": [ints(1)], "p": [ints(2)]})
    outcomes = {True: 0, False: 0}
    for _ in range(3000):
        record = bytearray(whole)
        at = generator.randrange(len(record))
        kind = generator.randrange(3)
        if kind == 0:
            record[at] = generator.randrange(256)
        elif kind == 1:
            del record[at : at + generator.randint(1, 4)]
        else:
            del record[at:]
        try:
            hr.parse_sequence_example([bytes(record)], CONTEXT, lists)
            outcomes[True] += 1
        except hr.SchemaError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 100
