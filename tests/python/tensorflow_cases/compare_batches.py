"""padded_batch, unbatch and enumerate beside tf.data's."""

import random

import numpy as np
import pytest
import tensorflow as tf

import headrace as hr
from headrace import tensorflow as hrtf

SPEC = {"id": tf.io.FixedLenFeature([], tf.int64), "t": tf.io.RaggedFeature(tf.int64), "s": tf.io.RaggedFeature(tf.string)}
SPEC["pairs"] = tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """53 records of up to 11 values."""
    chooser, path = random.Random(2), str(tmp_path_factory.mktemp("shards") / "records")
    with hr.TFRecordWriter(path) as writer:
        for number in range(53):
            count = chooser.randrange(12)
            pairs = np.arange(2 * (count // 2), dtype=np.float32)
            values = {"id": number, "t": np.arange(count) + 1, "s": np.array([b"x" * i for i in range(count)], object), "pairs": pairs}
            writer.write(hr.make_example(values))
    return path


def parsed(path):
    return tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, SPEC))


def same(ours, theirs, names=tuple(SPEC)):
    count = 0
    for mine, reference in zip(ours, theirs, strict=True):
        for name in names:
            np.testing.assert_array_equal(mine[name].numpy(), reference[name].numpy())
        count += 1
    assert count > 3


@pytest.mark.parametrize("drop_remainder", [False, True])
@pytest.mark.parametrize(
    "shapes, values",
    [
        (None, None),
        ({"id": [], "t": [11], "s": [None], "pairs": [None, 2]}, None),
        ({"id": [], "t": [-1], "s": [20], "pairs": [7, 2]}, {"id": None, "t": np.int64(-1), "s": "none", "pairs": 0.5}),
    ],
)
def test_padded_batch(path, shapes, values, drop_remainder):
    theirs = parsed(path).padded_batch(5, shapes, values, drop_remainder=drop_remainder)
    same(hr.TFRecordDataset(path).padded_batch(5, shapes, values, drop_remainder).parse(SPEC), theirs)


def test_the_element_spec_and_the_failure_are_tensorflows(path):
    shapes = {"id": [], "t": [4], "s": [None], "pairs": [None, 2]}
    theirs = parsed(path).padded_batch(5, shapes)
    pipeline = hr.TFRecordDataset(path).padded_batch(5, shapes).parse(SPEC)
    assert hrtf.dataset(pipeline).element_spec == theirs.element_spec
    message = "Attempted to pad to a smaller size than the input element"
    with pytest.raises(tf.errors.DataLossError, match=message):
        list(theirs)
    with pytest.raises(hr.SchemaError, match=message):
        list(pipeline)


def test_unbatch(path):
    ids = {"id": SPEC["id"]}
    records = tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, ids))
    theirs = records.batch(6).skip(1).take(4).unbatch().batch(5)
    same(hr.TFRecordDataset(path).batch(6).skip(1).take(4).unbatch().batch(5).parse(ids), theirs, ("id",))


def test_enumerate(path):
    ids = {"id": SPEC["id"]}

    def theirs(dataset):
        return dataset.map(lambda index, row: {"_index": index, "id": tf.io.parse_single_example(row, ids)["id"]})

    records = tf.data.TFRecordDataset(path)
    rows = theirs(records.skip(3).repeat(2).enumerate(7)).batch(6).repeat(2)
    same(hr.TFRecordDataset(path).skip(3).repeat(2).enumerate(7).batch(6).parse(ids).repeat(2), rows, ("id", "_index"))
    ours = hr.TFRecordDataset(path).batch(6).skip(1).enumerate(7).parse(ids).repeat(2)
    for mine, (index, batch) in zip(ours, records.batch(6).skip(1).enumerate(7).repeat(2), strict=True):
        assert set(mine["_index"].numpy()) == {int(index)} and len(mine["_index"].numpy()) == len(batch)
