"""wire_cases.py beside TensorFlow, bit for bit: what it reads, what it refuses, and what it loses; and beside protobuf."""

import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.message import DecodeError
from same import assert_same_array

import headrace as hr

sys.path.insert(0, str(Path(__file__).parents[1]))
from wire_cases import ABSENT, CASES, ERROR, KINDS, SAME, Lists, entry, record, spec

# protobuf's Python runtime drops an entry that has an unknown field; its other ones read it, as headrace does.
DROPPED_BY_PYTHON = ("an unknown field inside an entry", "a group inside an entry")


def theirs(case, kind, parse):
    """What TensorFlow makes of the case."""
    if case.theirs is SAME:
        return ERROR if case.fails else case.ours
    if isinstance(case.theirs, dict):
        return case.theirs.get(kind, case.theirs.get(parse))
    return case.theirs


def flat(tensor):
    if isinstance(tensor, tf.SparseTensor):
        return tensor.values
    return tf.reshape(tensor.flat_values if isinstance(tensor, tf.RaggedTensor) else tensor, [-1])


PARSERS = {
    "parse_example": lambda features: lambda record: tf.io.parse_example(record[None], features),
    "single": lambda features: lambda record: tf.io.parse_single_example(record, features),
}


def read_one_by_one(cases, parse):
    """{name: all values} of the cases that TensorFlow reads."""
    dataset = tf.data.Dataset.from_tensor_slices(([case.name for case in cases], [case.record for case in cases]))
    rows = dataset.map(lambda name, record: (name, flat(parse(record)["k"]))).ignore_errors()
    return {name.numpy().decode(): values.numpy() for name, values in rows}


def check(cases, kind, name, features):
    """Cases of which TensorFlow must make values of one number, as the features ask for it, or an error."""
    found = read_one_by_one(cases, PARSERS[name](features))
    wanted = {case.name: theirs(case, kind, name) for case in cases}
    assert set(found) == {name for name, values in wanted.items() if values is not ERROR}
    for case in cases:
        if case.name in found:
            assert_same_array(found[case.name], case.values(kind, wanted[case.name]))


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("dtype", ["int64", "float32", "string"])
def test_both_functions(dtype, name):
    cases = [case for case in CASES if case.dtype == dtype]
    for kind in KINDS[1:]:
        check(cases, kind, name, {"k": spec(kind, ABSENT, dtype, tf.io, tf)})
    by_count = {}
    for case in cases:
        wanted = theirs(case, "FixedLen", name)
        by_count.setdefault(len(wanted) if isinstance(wanted, list) else ABSENT, []).append(case)
    for case in by_count.pop(0):
        with pytest.raises(tf.errors.InvalidArgumentError):  # a list is there, so there is no default
            PARSERS[name]({"k": spec("FixedLen", ABSENT, dtype, tf.io, tf)})(tf.constant(case.record))
    for count, some in by_count.items():
        values = count if count is ABSENT else [None] * count
        check(some, "FixedLen", name, {"k": spec("FixedLen", values, dtype, tf.io, tf)})


@pytest.mark.parametrize("dtype", ["int64", "float32", "string"])
def test_the_fused_op_of_datasets_is_the_same_parser(dtype):
    cases = [case for case in CASES if case.dtype == dtype]
    kept = [case for case in cases if theirs(case, "VarLen", "parse_example") is not ERROR]
    features = {"k": spec("VarLen", ABSENT, dtype, tf.io, tf)}
    records = tf.data.Dataset.from_tensor_slices([case.record for case in cases]).batch(1)
    parsed = records.apply(tf.data.experimental.parse_example_dataset(features)).ignore_errors()
    rows = [row["k"].values.numpy() for row in parsed]
    assert len(rows) == len(kept)
    for case, row in zip(kept, rows):
        assert_same_array(row, case.values("VarLen", theirs(case, "VarLen", "parse_example")))


def test_protobuf_reads_the_legal_ones_as_headrace():
    for case in CASES:
        if not case.is_legal:
            with pytest.raises(DecodeError):
                tf.train.Example.FromString(case.record)
            continue
        feature = tf.train.Example.FromString(case.record).features.feature["k"]
        if case.fails or case.name in DROPPED_BY_PYTHON:
            continue  # legal, but of another kind, or with a value that protobuf skips
        kind = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}[case.dtype]
        assert feature.WhichOneof("kind") == (None if case.ours is ABSENT else kind), case
        values = np.array(getattr(feature, kind).value, object if case.dtype == "string" else case.dtype)
        assert_same_array(values, case.values("VarLen", case.ours))


def test_keys_are_bytes():
    w = Lists("int64")
    keys = ["", "with\0nul", "caf\u00e9", "cafe\u0301", "x" * 200]
    serialized = record(*(entry(w.list(number), key.encode()) for number, key in enumerate(keys)))
    features = {key: tf.io.FixedLenFeature([], tf.int64) for key in keys if key}
    wanted = tf.io.parse_example([serialized], features)
    ours = hr.parse_example([serialized], features)
    for number, key in enumerate(keys):
        if key:
            assert_same_array(ours[key].numpy(), wanted[key].numpy())
            assert ours[key].numpy().tolist() == [number]


def test_a_record_that_is_no_utf8_is_a_unicode_error_of_tensorflow():
    """Its message holds the whole record."""
    with pytest.raises(UnicodeDecodeError):
        tf.io.parse_example([b"\xff\xfe\xfd"], {"k": tf.io.VarLenFeature(tf.int64)})
    with pytest.raises(hr.SchemaError):
        hr.parse_example([b"\xff\xfe\xfd"], {"k": hr.VarLenFeature(hr.int64)})
