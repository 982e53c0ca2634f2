"""Wide tables in TensorFlow: a Stack is a tensor, a Jagged is refused unless the structure leaves it out."""

import numpy as np
import pytest
import tensorflow as tf

import headrace as hr
from headrace import tensorflow as hrtf

KEYS = ["I1", "I2", "I3"]


@pytest.fixture
def batches(tmp_path):
    with hr.TFRecordWriter(tmp_path / "rows.tfrecord") as writer:
        for row in range(8):
            numbers = {key: np.float32(row + place / 4) for place, key in enumerate(KEYS)}
            writer.write(hr.make_example({**numbers, "C1": [row], "C2": [row, row]}))
    features = {"dense": hr.Stack("I*", hr.float32), "ids": hr.Jagged("C*")}
    return hr.TFRecordDataset(tmp_path).batch(8, drop_remainder=True).parse(features)


def test_a_stack_is_a_tensor(batches, strategy):
    (element,) = hrtf.dataset(batches, structure="dense")
    wanted = tf.io.parse_example(
        [hr.make_example({key: np.float32(row + place / 4) for place, key in enumerate(KEYS)}) for row in range(8)],
        {key: tf.io.FixedLenFeature([], tf.float32) for key in KEYS},
    )
    np.testing.assert_array_equal(element, tf.stack([wanted[key] for key in KEYS], axis=1))
    (per_replica,) = hrtf.distribute(batches, strategy, structure="dense")
    shares = strategy.experimental_local_results(per_replica)
    np.testing.assert_array_equal(tf.concat(shares, axis=0), element)


def test_a_jagged_column_is_refused(batches):
    with pytest.raises(ValueError, match="feature 'ids': TensorFlow has no jagged tensor"):
        hrtf.dataset(batches)
