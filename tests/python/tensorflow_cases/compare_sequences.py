"""SequenceExamples: the tensors of tf.io.parse_sequence_example, its errors, and where headrace differs on purpose."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from same import assert_same_array, assert_same_columns
from wire_bytes import field, varint

import headrace as hr
from headrace import tensorflow as hrtf

RF = tf.io.RaggedFeature


def feature(values):
    """A Feature: ints, floats or bytes; None has no kind."""
    if values is None:
        return tf.train.Feature()
    if isinstance(values, np.ndarray):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def sequence(context=None, lists=None):
    """A serialized SequenceExample: {key: values}, {key: list of values of a step}."""
    features = {key: feature(values) for key, values in (context or {}).items()}
    feature_lists = {
        key: tf.train.FeatureList(feature=[feature(values) for values in steps]) for key, steps in (lists or {}).items()
    }
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=features), feature_lists=tf.train.FeatureLists(feature_list=feature_lists)
    ).SerializeToString()


def in_both(records, context, lists):
    ours = hr.parse_sequence_example(records, context, lists)
    theirs = tf.io.parse_sequence_example(np.array(records, dtype=object), context, lists)
    for part, wanted in zip(ours, theirs):
        assert_same_columns(part, wanted)
    return ours


def errors_in_both(record, context, lists, ours, theirs, error=tf.errors.InvalidArgumentError):
    """Both fail, with these texts; ours is returned."""
    with pytest.raises(error, match=theirs):
        tf.io.parse_sequence_example([record], context, lists)
    return fails(record, context, lists, ours)


def fails(record, context, lists, text):
    with pytest.raises(hr.SchemaError, match=text) as caught:
        hr.parse_sequence_example([sequence(), record] if not (context or {}) else [record], context, lists)
    return caught.value


DENSE = tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)
REQUIRED = tf.io.FixedLenSequenceFeature([], tf.int64)

CONTEXT = {
    "id": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
    "size": tf.io.FixedLenFeature([2], tf.float32, default_value=[0.5, 1.5]),
    "tags": tf.io.VarLenFeature(tf.string),
    "x": RF(tf.int64, row_splits_dtype=tf.int64),
}
LISTS = {
    "x": DENSE,
    "pairs": tf.io.FixedLenSequenceFeature([2, 1], tf.float32, allow_missing=True),
    "words": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    "varlen": tf.io.VarLenFeature(tf.int64),
    "texts": tf.io.VarLenFeature(tf.string),
    "ragged": RF(tf.float32, row_splits_dtype=tf.int64),
}
RECORDS = [
    sequence(
        {"id": [7], "size": np.float32([np.nan, -0.0]), "tags": [b"a", b""], "x": [1, 2]},
        {
            "x": [[1], [-(2**63)]],
            "pairs": [np.float32([1, 2]), np.float32([np.inf, -0.0]), np.float32([5, 6])],
            "words": [[b"one"], [b""]],
            "varlen": [[1, 2], [], None, [3]],
            "texts": [[b"x"], [b"y", b"z"]],
            "ragged": [np.float32([]), np.float32([1, 2])],
        },
    ),
    sequence(),
    sequence({"x": []}, {"x": [], "varlen": [], "words": [[b"w"]], "unknown": [[1]]}),
    sequence({"tags": None}, {"varlen": [[9]], "ragged": [None, np.float32([3])]}),
]


def test_every_kind_of_column():
    context, lists, lengths = in_both(RECORDS, CONTEXT, LISTS)
    assert list(context) == list(CONTEXT) and list(lists) == list(LISTS)  # in the order of the specs
    assert lengths["x"].numpy().tolist() == [2, 0, 0, 0] and lengths["pairs"].numpy().tolist() == [3, 0, 0, 0]
    assert lists["pairs"].shape == (4, 3, 2, 1)


@pytest.mark.parametrize("row", range(len(RECORDS)))
def test_one_record(row):
    # VarLen features of the context are dense vectors here, SparseTensors there.
    context = {name: spec for name, spec in CONTEXT.items() if name != "tags"}
    ours = hr.parse_single_sequence_example(RECORDS[row], context, LISTS)
    for part, wanted in zip(ours, tf.io.parse_single_sequence_example(RECORDS[row], context, LISTS)):
        assert_same_columns(part, wanted)


def test_no_lists_at_all():
    for records in ([sequence(), sequence()], [sequence({"id": [1]})], [b""]):
        _, lists, _ = in_both(records, CONTEXT, LISTS)
        assert lists["x"].shape == (len(records), 0) and len(lists["varlen"]) == len(records)


def test_no_records_at_all():
    in_both([], CONTEXT, LISTS)


def test_only_one_of_the_two():
    assert in_both(RECORDS, CONTEXT, None)[1:] == ({}, {})
    assert in_both(RECORDS, None, LISTS)[0] == {}


KINDS = [RF.RowSplits("p"), RF.RowLengths("p"), RF.RowStarts("p"), RF.RowLimits("p"), RF.ValueRowIds("p")]
PARTITIONS = [[0, 1, 1, 3], [1, 0, 2], [0, 1, 1], [1, 1, 3], [0, 2, 2]]


@pytest.mark.parametrize("kind, partition", zip(KINDS, PARTITIONS))
def test_partitions_inside_a_step(kind, partition):
    lists = {"v": [[1, 2, 3], [], [4, 5, 6]], "p": [partition, [0] if "Splits" in repr(kind) else [], partition]}
    records = [sequence(lists=lists), sequence(), sequence(lists={"v": [[7, 8, 9]], "p": [partition]})]
    spec = RF(tf.int64, "v", [kind], tf.int64, validate=True)
    _, found, _ = in_both(records, None, {"r": spec})
    assert found["r"].tolist()[2] == [[[7], [], [8, 9]]]


def test_nested_and_uniform_partitions_inside_a_step():
    lists = {"v": [[1, 2, 3, 4, 5, 6], [7, 8]], "p": [[1, 2], [1]], "q": [[2], [1]]}
    specs = {
        "inner": RF(tf.int64, "v", [RF.RowLengths("p"), RF.UniformRowLength(2)], tf.int64),
        "alone": RF(tf.int64, "v", [RF.UniformRowLength(2)], tf.int64),
        "nested": RF(tf.int64, "v", [RF.RowLengths("q"), RF.RowLengths("p"), RF.UniformRowLength(2)], tf.int64),
    }
    in_both([sequence(lists=lists), sequence(), sequence(lists=lists)], None, specs)


@pytest.mark.parametrize(
    "values, partitions, text",
    [
        ([[1], [2]], [[1]], "not aligned"),
        ([[1]], [[1], []], "not aligned"),
        ([[1], [2]], [[1], [2]], "from_row_lengths"),
        ([[1, 2]], [[1]], "from_row_lengths"),
    ],
)
def test_partitions_that_do_not_fit_their_step(values, partitions, text):
    record = sequence(lists={"v": values, "p": partitions})
    spec = {"r": RF(tf.int64, "v", [RF.RowLengths("p")], tf.int64, validate=True)}
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.io.parse_sequence_example([record], None, spec)
    assert fails(record, None, spec, text).key == "p"


def test_a_list_that_must_be_there():
    for record in (sequence(), sequence(lists={"y": [[1]]}), sequence({"x": [1]})):
        text = "Feature list 'x' is required but could not be found"
        error = errors_in_both(record, None, {"x": REQUIRED}, text, text)
        assert error.row == 0 and error.key == "x" and "allow_missing" in str(error)
    in_both([sequence(lists={"x": []})], None, {"x": REQUIRED})


@pytest.mark.parametrize("step", [[1, 2], [], None])
def test_a_step_of_another_number_of_values(step):
    record = sequence(lists={"x": [[1], step]})
    count = len(step or [])
    text = rf"Key: x, Index: 1\.  Number of (int64 )?values != expected\.\s+[Vv]alues size: {count} but output shape: \[\]"
    error = errors_in_both(record, None, {"x": DENSE}, text, text)
    assert error.row == 1 and error.key == "x"


@pytest.mark.parametrize("spec", [DENSE, tf.io.VarLenFeature(tf.int64), RF(tf.int64)])
def test_a_step_of_another_type(spec):
    record = sequence(lists={"x": [[1], [b"text"]]})
    text = r"Feature list: x, Index: 1\.  Data types don't match\."
    error = errors_in_both(record, None, {"x": spec}, text, text)
    assert (error.expected, error.found) == ("int64", "string")


@pytest.mark.parametrize(
    "spec, text",
    [
        (tf.io.FixedLenFeature([], tf.int64), "Unsupported FixedLenFeature"),
        (tf.io.FixedLenSequenceFeature([], tf.int64, True, 3), "must be None"),
        (tf.io.FixedLenSequenceFeature([], tf.complex64, True), "complex64"),
    ],
)
def test_specs_of_lists_that_both_refuse(spec, text):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.io.parse_sequence_example([sequence()], None, {"x": spec})
    with pytest.raises(ValueError, match=text):
        hr.parse_sequence_example([sequence()], None, {"x": spec})


def test_a_sequence_in_the_context_is_refused_by_both():
    for parse in (tf.io.parse_sequence_example, hr.parse_sequence_example):
        with pytest.raises(ValueError, match="(?i)unsupported.*FixedLenSequenceFeature"):
            parse([sequence()], {"x": DENSE}, None)


def test_context_errors():
    one = {"k": tf.io.FixedLenFeature([], tf.int64)}
    errors_in_both(sequence(), one, None, "Feature: k .* is required but could not be found", "expected 1, but found 0")
    errors_in_both(sequence({"k": [1, 2]}), one, None, "Values size: 2 but output shape", "expected 1, but found 2")
    errors_in_both(sequence({"k": [b"x"]}), one, None, "Data types don't match", "Data types don't match")
    default = {"k": tf.io.FixedLenFeature([], tf.int64, default_value=5)}
    errors_in_both(sequence({"k": []}), default, None, "Values size: 0", "Unexpected number of elements")


def test_a_context_feature_without_kind_has_the_default():
    default = {"k": tf.io.FixedLenFeature([], tf.int64, default_value=5)}
    record = sequence({"k": None})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unexpected number of elements"):
        tf.io.parse_sequence_example([record], default, None)
    assert hr.parse_sequence_example([record], default, None)[0]["k"].numpy().tolist() == [5]


# The same record in other wire forms. SequenceExample: 1 context, 2 feature_lists; entry: 1 key, 2 value.
def list_entry(key, steps):
    return field(1, field(1, key.encode()) + field(2, steps))


def step(*values):
    return field(1, field(3, field(1, b"".join(varint(value) for value in values))))


UNPACKED = field(1, field(3, b"\x08\x05"))
CHUNKS = field(1, field(3, field(1, varint(1)) + field(1, varint(2))))
GROUP = b"\x1b\x08\x01\x1c"  # field 3
X = {"x": tf.io.VarLenFeature(tf.int64)}


@pytest.mark.parametrize(
    "record, steps",
    [
        (field(2, list_entry("x", step(1)) + list_entry("x", step(2))), [[2]]),  # the last list of a key
        (field(2, list_entry("x", UNPACKED)), [[5]]),
        (varint(9 << 3) + b"\x01" + field(2, list_entry("x", step(1))) + field(7, b"?"), [[1]]),  # beside
        (field(1, field(1, field(1, b"x") + field(2, b""))), []),  # a plain Example
        (field(2, list_entry("x", step(1)) + list_entry("y", b"\x0a\xff")), [[1]]),  # malformed, but not asked for
    ],
)
def test_wire_forms_that_both_read(record, steps):
    _, lists, _ = in_both([record], None, X)
    assert lists["x"].tolist() == [steps]


@pytest.mark.parametrize(
    "record, steps",
    [
        (field(2, list_entry("x", CHUNKS)), [[1, 2]]),
        (GROUP + field(2, list_entry("x", step(1))), [[1]]),
        (field(2, list_entry("x", step(1)) + field(9, b"")), [[1]]),  # unknown inside the lists
        (field(2, field(1, field(2, step(1)) + field(1, b"x"))), [[1]]),  # value before key
        (field(2, field(1, field(1, b"x"))), []),  # no value
    ],
)
def test_legal_wire_forms_that_tensorflow_refuses(record, steps):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_sequence_example([record], None, X)
    assert hr.parse_sequence_example([record], None, X)[1]["x"].tolist() == [steps]
    assert steps == [[value for value in values] for values in proto_steps(record)]


def proto_steps(record):
    """The steps of list x as protobuf reads them."""
    parsed = tf.train.SequenceExample.FromString(record)
    return [list(each.int64_list.value) for each in parsed.feature_lists.feature_list["x"].feature]


@pytest.mark.parametrize("record", [b"\xff", b"garbage, not a record", field(2, b"\x0a\x05"), b"\x00"])
def test_garbage(record):
    errors_in_both(record, None, X, "Invalid protocol message input", "Invalid protocol message input")


def test_a_record_cut_inside_its_lists():
    record = field(2, list_entry("x", step(1)))[:1] + b"\x7f"
    assert tf.io.parse_sequence_example([record], None, X)[1]["x"].shape[1] == 0  # the lists are lost in silence
    fails(record, None, X, "Invalid protocol message input")


VALUES = {
    tf.int64: st.integers(-(2**63), 2**63 - 1),
    tf.float32: st.floats(width=32),
    tf.string: st.binary(max_size=6),
}


@st.composite
def sequences(draw):
    """Specs of a few lists, and records that fit them."""
    dtypes = {name: draw(st.sampled_from(list(VALUES))) for name in ("dense", "varlen", "ragged")}
    inner = draw(st.sampled_from([[], [2], [1, 3]]))
    specs = {
        "dense": tf.io.FixedLenSequenceFeature(inner, dtypes["dense"], allow_missing=True),
        "varlen": tf.io.VarLenFeature(dtypes["varlen"]),
        "ragged": RF(dtypes["ragged"], row_splits_dtype=tf.int64),
    }
    records = []
    for _ in range(draw(st.integers(1, 4))):
        lists = {}
        for name in draw(st.lists(st.sampled_from(list(specs)), unique=True)):
            count = int(np.prod(inner, dtype=int)) if name == "dense" else None
            values = st.lists(VALUES[dtypes[name]], min_size=count or 0, max_size=5 if count is None else count)
            lists[name] = [typed(dtypes[name], row) for row in draw(st.lists(values, max_size=4))]
        records.append(sequence(lists=lists))
    return specs, records


def typed(dtype, values):
    return np.float32(values) if dtype == tf.float32 else values or None


@settings(max_examples=150, deadline=None)
@given(sequences())
def test_random_sequences(case):
    specs, records = case
    in_both(records, None, specs)


def test_through_a_pipeline(tmp_path):
    path = str(tmp_path / "sequences.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for record in RECORDS:
            writer.write(record)
    context = {("y" if name == "x" else name): spec for name, spec in CONTEXT.items()}
    pipeline = hr.TFRecordDataset(path).batch(2).parse_sequence(context, LISTS)
    dataset = hrtf.dataset(pipeline)
    assert dataset.element_spec["varlen"] == tf.SparseTensorSpec([None, None, None], tf.int64)
    assert dataset.element_spec["ragged"].ragged_rank == 2 and dataset.element_spec["pairs"].shape[2:] == [2, 1]
    for start, batch in zip((0, 2), dataset):
        wanted_context, wanted, lengths = tf.io.parse_sequence_example(RECORDS[start : start + 2], context, LISTS)
        wanted = {**wanted_context, **wanted, **{f"{name}_lengths": value for name, value in lengths.items()}}
        assert set(batch) == set(wanted)
        for name, tensor in wanted.items():
            assert type(batch[name]) is type(tensor)
            for part, other in zip(tf.nest.flatten(batch[name], True), tf.nest.flatten(tensor, True)):
                assert_same_array(part.numpy(), other.numpy())
