"""What is left of the user's functions, as one function from a batch of columns to the element that the user gets."""

import tensorflow as tf
from tensorflow.python.data.util import structure

from . import draws, graph, lift


class Rest:
    """Called as headrace.tensorflow calls a `map`: with the dict of columns of a batch and the batch's seed. Constant.

    Args:
        plan: the Plan.
        way: one of lift.ways(plan.split).
        salt: int; goes into the seeds of the random numbers. None: they are TensorFlow's own.
    """

    def __init__(self, plan, way, salt):
        self._plan = plan
        self.way = way
        self._salt = salt

    @tf.autograph.experimental.do_not_convert
    def __call__(self, columns, seed):
        plan = self._plan
        seeds = self._seeds(seed, 1 + len(plan.after))
        first = self._first_draws(columns, seeds[0])
        flat = lift.run(plan, self.way, columns, first)
        specs = [self._of_rows(spec, static_rows(columns)) for spec in (*plan.specs_between, plan.spec)]
        element = packed(flat, specs[0])
        for function, before, after, own in zip(plan.after, specs, specs[1:], seeds[1:]):
            given = function.given(*structure.to_tensor_list(before, element))
            drawn = {} if own is None else draws.draw_batch(function, given, own)
            given.update({name + ":0": value for name, value in drawn.items()})
            acting = graph.acting(function.graph_def)
            element = packed(graph.replay(function.graph_def, function.outputs, given, acting), after)
        return element

    def _of_rows(self, spec, rows):
        """The spec of a part of a batch: what has the rows of a whole one has `rows` then."""
        size = self._plan.batch.arguments["batch_size"]
        if rows == size or not self._plan.batch.arguments["drop_remainder"]:
            return spec

        def relaxed(leaf):
            shape = leaf.shape
            if shape.rank and shape[0] == size:
                shape = tf.TensorShape([rows]).concatenate(shape[1:])
            if isinstance(leaf, tf.RaggedTensorSpec):
                return tf.RaggedTensorSpec(shape, leaf.dtype, leaf.ragged_rank, leaf.row_splits_dtype)
            return type(leaf)(shape, leaf.dtype)

        return tf.nest.map_structure(relaxed, spec)

    def _seeds(self, seed, count):
        if self._salt is None:
            return [None] * count
        salted = tf.random.experimental.stateless_fold_in(seed, self._salt)
        return [tf.random.experimental.stateless_fold_in(salted, place) for place in range(count)]

    def _first_draws(self, columns, seed):
        split = self._plan.split
        if seed is None:
            return {}
        if split.batched:
            return draws.draw_batch(split.flat, split.given(columns), seed)
        names = draws.seeded_by_row(split)
        return draws.draw_rows(split, names, rows_of(columns), seed) if names else {}


def static_rows(columns):
    """Number of rows of a batch of columns as far as tracing knows it, else None."""
    return next(iter(columns.values())).shape[0]


def rows_of(columns):
    """Number of rows of a batch of columns, an int32 tensor."""
    first = next(iter(columns.values()))
    if isinstance(first, tf.SparseTensor):
        return tf.cast(first.dense_shape[0], tf.int32)
    if isinstance(first, tf.RaggedTensor):
        return first.nrows(tf.int32)
    return tf.shape(first)[0]


def packed(flat, spec):
    """The element of flat components, with the shapes that the spec promises."""
    components = tf.nest.flatten(spec, expand_composites=True)
    shaped = [
        tensor if component.shape.rank is None else tf.ensure_shape(tensor, component.shape)
        for tensor, component in zip(flat, components, strict=True)
    ]
    return tf.nest.pack_sequence_as(spec, shaped, expand_composites=True)
