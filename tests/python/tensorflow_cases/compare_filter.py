"""Dataset.filter keeps what tf.data's filter keeps, in the same order."""

import pytest
import tensorflow as tf

import headrace as hr

NUMBERS = {"id": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (hr.feature("label") == 1, lambda row: row["label"] == 1),
        ((hr.feature("id") > 10) & ~hr.feature("label").isin([0, 2]), lambda row: (row["id"] > 10) & (row["label"] == 1)),
        ((hr.feature("id") <= 3) | (hr.feature("label") != 0), lambda row: (row["id"] <= 3) | (row["label"] != 0)),
    ],
)
def test_same_records_in_the_same_order(shards, ours, theirs):
    parsed = tf.data.TFRecordDataset(shards).map(lambda record: tf.io.parse_single_example(record, NUMBERS))
    expected = [int(row["id"]) for row in parsed.filter(theirs)]
    batches = hr.TFRecordDataset(shards).filter(ours).batch(5).parse(NUMBERS)
    assert [int(number) for batch in batches for number in batch["id"].numpy()] == expected
    assert expected
