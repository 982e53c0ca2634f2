"""The check of a takeover: on the first records, the user's own function against what replaces it.

Both sides get the same random draws. It proves what it compared: these records.
"""

import numpy as np
import tensorflow as tf
from tensorflow.python.data.util import structure

from . import graph, lift
from .refusal import Refused, brief

_RELATIVE, _ABSOLUTE = 1e-5, 1e-6


class Differs(Exception):
    """The two sides have different results; the text says where."""


class Probe:
    """The first records, and what the user's function makes of them."""

    def __init__(self, plan, serialized, columns):
        """Args:
        serialized: string tensor, the records.
        columns: {name: tensor}, the same records parsed by the engine.
        """
        self._plan = plan
        self.columns = columns
        self._rows = int(serialized.shape[0])
        self._random = [name + ":0" for name in plan.split.random]
        try:
            self._run_user(serialized)
        except tf.errors.OpError as error:
            raise Refused(f"the function fails for the first records: {brief(error)}") from error

    def _run_user(self, serialized):
        plan = self._plan
        original, acting = plan.original, graph.acting(plan.original.graph_def)

        def draw(records):
            return graph.replay(original.graph_def, self._random, original.given(records))

        def user(records, draws):
            if not draws and len(original.functions) == 1 and hasattr(original.functions[0], "structured_outputs"):
                return structure.from_compatible_tensor_list(self._result_spec(), original.functions[0](records))
            given = {**original.given(records), **dict(zip(self._random, draws))}
            flat = graph.replay(original.graph_def, original.outputs, given, acting)
            return tf.nest.pack_sequence_as(self._result_spec(), flat, expand_composites=True)

        draw, user = (tf.function(each, autograph=False, reduce_retracing=True) for each in (draw, user))
        items = [serialized] if plan.split.batched else list(serialized)
        drawn = [draw(item) if self._random else [] for item in items]
        self._wanted = [tf.nest.flatten(user(item, draws)) for item, draws in zip(items, drawn)]
        stacked = drawn[0] if plan.split.batched else [tf.stack(each) for each in zip(*drawn)]
        self._draws = dict(zip(plan.split.random, stacked))

    def _result_spec(self):
        plan = self._plan
        return plan.sample_spec if plan.sample_spec is not None else plan.spec

    def compare(self, way):
        """What was found equal, for the report.

        Raises:
            Differs: with the place.
        """
        plan = self._plan
        ours = tf.function(lambda columns, draws: lift.run(plan, way, columns, draws), autograph=False)
        flat = ours(self.columns, self._draws)
        if plan.split.hidden_random:
            return f"shapes and types of {self._rows} records: {', '.join(plan.split.hidden_random)} draw anew each time"
        spec = plan.spec if plan.split.batched else plan.batch.spec if not plan.after else plan.specs_between[0]
        found = tf.nest.flatten(tf.nest.pack_sequence_as(spec, flat, expand_composites=True))
        worst = 0.0
        for leaf, tensor in enumerate(found):
            for row, wanted in enumerate(self._wanted):
                mine, theirs = tensor if plan.split.batched else tensor[row], wanted[leaf]
                if plan.batch.op == "PaddedBatch" and not plan.split.batched:
                    theirs = _padded(theirs, mine.shape, plan.batch.arguments["padding_values"][leaf])
                worst = max(worst, _difference(mine, theirs, f"output {leaf}, record {row}"))
        exact = "bit for bit" if worst == 0 else f"to {worst:.0e}"
        same = ", with the same random draws" if self._random else ""
        return f"{self._rows} records equal {exact}{same}"


def _padded(tensor, shape, value):
    sizes = [[0, size - own] for size, own in zip(shape, tensor.shape)]
    return tf.pad(tensor, sizes, constant_values=tf.constant(value, tensor.dtype)) if sizes else tensor


def _difference(ours, theirs, where):
    """The largest difference of two tensors of floats, 0 for equal ones."""
    worst = 0.0
    for mine, wanted in zip(*(tf.nest.flatten(each, expand_composites=True) for each in (ours, theirs)), strict=True):
        mine, wanted = _array(mine), _array(wanted)
        if np.shape(mine) != np.shape(wanted) or mine.dtype != wanted.dtype:
            raise Differs(f"{where}: {mine.dtype}{list(np.shape(mine))} instead of {wanted.dtype}{list(np.shape(wanted))}")
        if wanted.dtype.kind in "fc":
            if not np.allclose(mine, wanted, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True):
                raise Differs(f"{where}: other values")
            finite = np.isfinite(wanted)
            worst = max(worst, float(np.max(np.abs(mine - wanted), where=finite, initial=0)))
        elif not np.array_equal(mine, wanted):
            raise Differs(f"{where}: other values")
    return worst


def _array(tensor):
    """A tensor as NumPy; TensorFlow gives one string as bytes."""
    value = tensor.numpy()
    return np.array(value, dtype=object) if isinstance(value, bytes) else value


def rows_are_independent(rest, columns, rows):
    """Whether two halves of a batch, each by itself, give the halves of the whole batch."""
    seed = tf.constant([0, 0])
    half = rows // 2
    try:
        function = tf.function(rest, autograph=False)
        whole, *parts = (
            tf.nest.flatten(function(each, seed))
            for each in (columns, _cut(columns, 0, half), _cut(columns, half, rows - half))
        )
        for mine, *halves in zip(whole, *parts):
            _difference(tf.concat(halves, 0), mine, "")
    except (Differs, tf.errors.OpError, ValueError):
        return False
    return half > 0


def _cut(columns, begin, size):
    def cut(tensor):
        if isinstance(tensor, tf.SparseTensor):
            start = [begin] + [0] * (tensor.dense_shape.shape[0] - 1)
            return tf.sparse.slice(tensor, start, tf.concat([[size], tensor.dense_shape[1:]], 0))
        return tensor[begin : begin + size]

    return {name: cut(tensor) for name, tensor in columns.items()}
