"""The rest of a function of one record, on a batch of records."""

import contextlib
import logging

import tensorflow as tf

AS_IS, VECTORIZED, ONE_BY_ONE = "as it is", "tf.vectorized_map", "tf.map_fn"


def ways(split):
    """The ways that can work, the cheapest first."""
    if split.batched or is_plain(split):
        return (AS_IS,)
    if any(column.varies for column in split.columns) or split.python:
        return (ONE_BY_ONE,)
    return (VECTORIZED, ONE_BY_ONE)


def is_plain(split):
    """Whether no op is left: each output is a column."""
    refs = {column.parts.get("dense") for column in split.columns if not column.varies}
    return not split.ops and all(ref in refs for ref in split.flat.outputs)


def run(split, way, columns, draws, sample_spec):
    """The outputs of a whole batch, as flat components.

    Args:
        columns: {name: tensor} of the batch.
        draws: {random node: its values, one a row where the function takes one record}.
        sample_spec: what the function gives for one record.
    """
    if way == AS_IS:
        return split.run(columns, draws)
    if way == VECTORIZED:
        with _quiet():
            results = tf.vectorized_map(
                lambda row: tuple(split.run(*row)), (dict(columns), dict(draws)), fallback_to_while_loop=False
            )
        return list(results)

    def one(row):
        return tf.nest.pack_sequence_as(sample_spec, split.run(*row), expand_composites=True)

    element = tf.map_fn(one, (dict(columns), dict(draws)), fn_output_signature=sample_spec, parallel_iterations=16)
    return tf.nest.flatten(element, expand_composites=True)


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
