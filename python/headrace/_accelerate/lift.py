"""The rest of a function of one record, on a batch of records."""

import contextlib
import logging

import tensorflow as tf

from . import padding

AS_IS, VECTORIZED, ONE_BY_ONE = "as it is", "tf.vectorized_map", "tf.map_fn"


def ways(plan):
    """The ways that can work, the cheapest first."""
    split = plan.split
    if split.batched or is_plain(plan):
        return (AS_IS,)
    if split.python or any(column.varies for column in split.columns) or _rows_vary(plan):
        return (ONE_BY_ONE,)
    return (VECTORIZED, ONE_BY_ONE)


def is_plain(plan):
    """Whether no op is left: each output is a column."""
    rows = {column.row_ref for column in plan.split.columns if not column.varies}
    if _rows_vary(plan):
        rows |= {column.row_ref for column in plan.split.columns if column.varies}
    return not plan.split.ops and all(ref in rows for ref in plan.split.flat.outputs)


def _rows_vary(plan):
    """Whether records may give results of different lengths, which the batch pads or keeps ragged."""
    return any(isinstance(spec, tf.RaggedTensorSpec) for spec in tf.nest.flatten(padding.row_spec(plan)))


def run(plan, way, columns, draws):
    """The outputs of a whole batch, as flat components of its spec.

    Args:
        way: one of ways(plan).
        columns: {name: tensor} of the batch.
        draws: {random node: its values, one a row where the function takes one record}.
    """
    split = plan.split
    if way == AS_IS:
        if split.batched:
            return split.run(columns, draws)
        by_ref = {column.row_ref: columns[column.name] for column in split.columns}
        return padding.flat_batch(plan, [by_ref[ref] for ref in split.flat.outputs])
    if way == VECTORIZED:
        with _quiet():
            rows = (dict(columns), dict(draws))
            leaves = tf.vectorized_map(lambda row: tuple(split.run(*row)), rows, fallback_to_while_loop=False)
        return padding.flat_batch(plan, leaves)
    signature = padding.row_spec(plan)

    def one(row):
        element = tf.nest.pack_sequence_as(plan.sample_spec, split.run(*row), expand_composites=True)
        return tf.nest.map_structure(padding.as_row, signature, element)

    rows = (dict(columns), dict(draws))
    element = tf.map_fn(one, rows, fn_output_signature=signature, parallel_iterations=16)
    return padding.flat_batch(plan, tf.nest.flatten(element))


@contextlib.contextmanager
def _quiet():
    """tf.vectorized_map logs an op that it cannot take as an error; here that is one way that does not work."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
