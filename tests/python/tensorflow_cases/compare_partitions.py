"""Ragged partitions: the RaggedTensors of tf.io.parse_example where the partition fits, errors where it does not."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from same import assert_same

import headrace as hr

RF = tf.io.RaggedFeature
KINDS = {
    "row_splits": RF.RowSplits,
    "row_lengths": RF.RowLengths,
    "row_starts": RF.RowStarts,
    "row_limits": RF.RowLimits,
    "value_rowids": RF.ValueRowIds,
    "uniform": RF.UniformRowLength,
}


def encoded(kind, lengths):
    """Rows of these lengths as a partition of `kind`."""
    splits = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
    return {
        "row_splits": splits,
        "row_lengths": np.asarray(lengths, dtype=np.int64),
        "row_starts": splits[:-1],
        "row_limits": splits[1:],
        "value_rowids": np.repeat(np.arange(len(lengths)), lengths),
    }[kind]


def record(kinds, uniform, generator):
    """A record with random rows in every dimension: partitions p0, p1, ... and values v."""
    fields = {}
    rows = int(generator.integers(0, 4))
    for level, kind in enumerate(kinds):
        if kind == "uniform":
            rows *= uniform
            continue
        lengths = generator.integers(0, 4, rows)
        if kind == "value_rowids" and rows:
            lengths[-1] += 1  # it cannot say that rows without values follow
        fields[f"p{level}"] = encoded(kind, lengths)
        rows = int(lengths.sum())
    return hr.make_example({**fields, "v": generator.standard_normal(rows).astype(np.float32)})


def spec(kinds, uniform, splits=tf.int64):
    partitions = [KINDS[kind](uniform if kind == "uniform" else f"p{level}") for level, kind in enumerate(kinds)]
    return {"r": RF(tf.float32, "v", partitions, row_splits_dtype=splits)}


def check(kinds, uniform, seed, rows=5):
    generator = np.random.default_rng(seed)
    records = [record(kinds, uniform, generator) for _ in range(rows)]
    features = spec(kinds, uniform)
    assert_same(hr.parse_example(records, features)["r"], tf.io.parse_example(records, features)["r"])


@pytest.mark.parametrize("kind", KINDS)
def test_one_partition(kind):
    for seed in range(5):
        check([kind], 3, seed)


@pytest.mark.parametrize("inner", KINDS)
@pytest.mark.parametrize("outer", KINDS)
def test_nested_partitions(outer, inner):
    for seed in range(3):
        check([outer, inner], 2, seed)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(list(KINDS)), min_size=3, max_size=4), st.integers(1, 3), st.integers(0, 2**32))
def test_deeper_partitions(kinds, uniform, seed):
    check(kinds, uniform, seed)


# In each the partition does not describe exactly the values 7, 8, 9.
MISFITS = [
    ("row_lengths", [2, 2]),
    ("row_lengths", [1, 1]),
    ("row_lengths", [-1, 4]),
    ("row_lengths", None),
    ("row_splits", [0, 4]),
    ("row_splits", [0, 2]),
    ("row_splits", [1, 3]),
    ("row_splits", [0, 2, 1, 3]),
    ("row_splits", [0, -1, 3]),
    ("row_splits", None),
    ("row_starts", [1, 2]),
    ("row_starts", [0, 4]),
    ("row_starts", [0, 2, 1]),
    ("row_starts", [-1, 0]),
    ("row_starts", None),
    ("row_limits", [1, 4]),
    ("row_limits", [1, 2]),
    ("row_limits", [2, 1, 3]),
    ("row_limits", [-1, 3]),
    ("row_limits", None),
    ("value_rowids", [0, 1]),
    ("value_rowids", [0, 0, 1, 1]),
    ("value_rowids", [-1, 0, 0]),
    ("value_rowids", [0, 1, 0]),
    ("value_rowids", None),
]


def misfit(partition):
    fields = {"v": np.float32([7, 8, 9])}
    return hr.make_example(fields if partition is None else {**fields, "p0": partition})


@pytest.mark.parametrize("kind, partition", MISFITS)
def test_a_partition_that_does_not_fit_is_an_error(kind, partition):
    fits = hr.make_example({"v": np.float32([1]), "p0": encoded(kind, [1])})
    with pytest.raises(hr.SchemaError, match="do not form a valid RaggedTensor") as caught:
        hr.parse_example([fits, misfit(partition), fits], spec([kind], 1))
    assert (caught.value.key, caught.value.row) == ("p0", 1)
    assert caught.value.expected.lstrip("-").isdigit() and caught.value.found.lstrip("-").isdigit()


@pytest.mark.parametrize("kind, partition", MISFITS)
def test_tensorflow_finds_them_in_single_records_when_asked(kind, partition):
    record = misfit(partition)
    checked = {"r": RF(tf.float32, "v", [KINDS[kind]("p0")], tf.int64, validate=True)}
    if (kind, partition) == ("row_starts", None):
        assert tf.io.parse_single_example(record, checked)["r"].to_list() == []  # 7, 8, 9 are lost
        return
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.io.parse_single_example(record, checked)


def test_rows_of_a_uniform_length_that_does_not_divide():
    records = [hr.make_example({"v": np.float32([1, 2, 3])})]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_example(records, spec(["uniform"], 2))
    with pytest.raises(hr.SchemaError, match="multiple of 2") as caught:
        hr.parse_example(records, spec(["uniform"], 2))
    assert caught.value.key == "v"


def test_a_uniform_length_of_0_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        hr.parse_example([], spec(["uniform"], 0))


def test_a_partition_of_another_type_is_an_error_in_both():
    records = [hr.make_example({"v": np.float32([1]), "p0": [0.5]})]
    for parse, error in ((tf.io.parse_example, tf.errors.InvalidArgumentError), (hr.parse_example, hr.SchemaError)):
        with pytest.raises(error, match="Data types don't match"):
            parse(records, spec(["row_lengths"], 1))


def test_int32_splits_through_a_pipeline(tmp_path):
    from headrace import tensorflow as hrtf

    kinds = ["row_splits", "uniform"]
    generator = np.random.default_rng(1)
    records = [record(kinds, 2, generator) for _ in range(8)]
    path = str(tmp_path / "ragged.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for serialized in records:
            writer.write(serialized)
    features = spec(kinds, 2, tf.int32)
    batch = next(iter(hrtf.dataset(hr.TFRecordDataset(path).batch(8).parse(features))))
    wanted = tf.io.parse_example(records, features)["r"]
    assert batch["r"].row_splits.dtype == tf.int32 == wanted.row_splits.dtype
    assert batch["r"].to_list() == wanted.to_list()
