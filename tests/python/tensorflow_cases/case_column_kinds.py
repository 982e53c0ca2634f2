"""Each cell of docs/guides/columns.md that is TensorFlow's: a kind of column in fit, evaluate, predict and a custom loop."""

import column_kinds
import headrace as hr
import keras
import numpy as np
import pytest
import tensorflow as tf
from column_kinds import KINDS, ROWS, WAYS_OUT, pipeline, table, value

from headrace import tensorflow as hrtf

SAYS = {
    "bool": r"column 'x' has dtype bool, .*hr\.cast",
    "string": r"column 'x' has dtype string, .*hr\.hash_bucket",
    "ragged": r"column 'x' is ragged, .*hr\.pad",
    "sparse": r"column 'x' is sparse, .*hr\.pad",
    "uneven slices": r"column 'x' has slices of 11, 11, 10, 10 rows, .*drop_remainder=True",
}


def totals(x):
    """float32 [rows, 1] of what a column holds in each row."""
    if isinstance(x, tf.SparseTensor):
        sums = tf.sparse.reduce_sum(x, axis=1)
    elif isinstance(x, tf.RaggedTensor):
        sums = tf.reduce_sum(x, axis=1)
    elif x.dtype == tf.string:
        sums = tf.strings.length(x)
    elif x.shape.rank == 2:
        sums = tf.reduce_sum(x, axis=1)
    else:
        sums = x
    return tf.reshape(tf.cast(sums, tf.float32), [-1, 1])


def wanted(kind, row):
    x = value(kind, row)
    return float(len(x)) if kind == "string" else float(np.sum(x))


class Totals(keras.Model):
    """Predicts the totals; one weight that is never used makes it trainable."""

    def __init__(self):
        super().__init__()
        self.scale = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")

    def call(self, x):
        return self.scale(totals(x))


def model(strategy):
    with strategy.scope():
        made = Totals()
        made.compile("sgd", "mse")
    return made


def loop(strategy, data):
    run = lambda batch: strategy.run(lambda x, label: totals(x), args=batch)
    step = tf.function(run, reduce_retracing=True)
    return np.concatenate([part for batch in data for part in strategy.experimental_local_results(step(batch))])


def use(consumer, strategy, batches):
    """What the consumer makes of each row, in order; None for fit and evaluate, which give a loss."""
    data = hrtf.distribute(batches, strategy, structure=("x", "label"))
    if consumer == "fit":
        assert np.all(np.isfinite(model(strategy).fit(data, epochs=2, verbose=0).history["loss"]))
    elif consumer == "evaluate":
        return model(strategy).evaluate(data, verbose=0)
    elif consumer == "predict":
        return model(strategy).predict(data, verbose=0)[:, 0]
    else:
        return loop(strategy, data)[:, 0]


def squares(kind):
    rows = ROWS - 6 if kind == "uneven slices" else ROWS
    return np.mean([(wanted(kind, row) - row % 3) ** 2 for row in range(rows)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("consumer", ["fit", "evaluate", "predict", "custom loop"])
def test_cell(kind, consumer, strategy, tmp_path):
    batches = pipeline(kind, tmp_path)
    if table()[kind, consumer] == "refused":
        with pytest.raises(ValueError, match=SAYS[kind]):
            use(consumer, strategy, batches)
        return
    assert table()[kind, consumer] == "yes"
    found = use(consumer, strategy, batches)
    if consumer == "evaluate":
        assert found == pytest.approx(squares(kind), rel=1e-5)
    elif consumer != "fit":
        np.testing.assert_allclose(found, [wanted(kind, row) for row in range(len(found))], rtol=1e-6)
        assert len(found) == (ROWS - 6 if kind == "uneven slices" else ROWS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dense"])
def test_the_way_out_that_the_error_names(kind, strategy, tmp_path):
    if kind == "uneven slices":
        batches = pipeline(kind, tmp_path).prefetch_to_device([f"/CPU:{place}" for place in range(4)], remainder="pad")
    else:
        batches = pipeline(kind, tmp_path, features=WAYS_OUT[kind])
    use("fit", strategy, batches)
    assert np.isfinite(use("evaluate", strategy, batches))


def test_one_replica_takes_all_of_them(tmp_path):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    for kind in ("bool", "string", "uneven slices"):
        assert use("evaluate", strategy, pipeline(kind, tmp_path)) == pytest.approx(squares(kind), rel=1e-5)


def test_what_a_function_made_is_named_by_its_place(strategy, tmp_path):
    data = hrtf.distribute(
        pipeline("dense", tmp_path), strategy, structure=("x", "label"), map=lambda x, label: ({"a": x, "b": x > 3}, label)
    )
    with pytest.raises(ValueError, match=r"the result of map= at \[0\]\['b'\] has dtype bool"):
        model(strategy).fit(data, verbose=0)


def test_padded_rows_are_as_long_in_all_slices(strategy, tmp_path):
    """The longest row is that of the global batch."""
    steps = {"x": hr.FixedLenSequenceFeature([], hr.float32, allow_missing=True)}
    batches = pipeline("ragged", tmp_path, features=steps)
    for x, _ in hrtf.distribute(batches, strategy, structure=("x", "label")):
        assert [part.shape.as_list() for part in x.values] == [[2, 3]] * 4
    assert use("evaluate", strategy, batches) == pytest.approx(squares("ragged"), rel=1e-5)


def test_slices_of_other_shapes(strategy, tmp_path):
    widen = lambda x, label: (x.to_tensor(), label)  # by what this slice holds
    data = hrtf.distribute(pipeline("ragged", tmp_path), strategy, structure=("x", "label"), map=widen)
    with pytest.raises(ValueError, match=r"map= at \[0\] has slices of shapes \[2, 1\], \[2, 3\], .*hr\.pad"):
        model(strategy).fit(data, verbose=0)


def test_the_table_has_every_cell():
    cells = {(kind, consumer) for kind in KINDS for consumer in column_kinds.CONSUMERS}
    assert set(table()) == cells
