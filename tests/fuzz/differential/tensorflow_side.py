"""TensorFlow as one of two readers: what it accepts, record by record, and what it makes of records that it accepts."""

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")  # it warns of every SparseFeature
_REFUSALS = (tf.errors.InvalidArgumentError, ValueError)  # UnicodeDecodeError, of its own message, is a ValueError
_STRINGS = [tf.TensorSpec([None], tf.string)]


class Graph:
    """A parse function of many records, traced once."""

    def __init__(self, parse):
        self._parse = tf.function(parse, input_signature=_STRINGS)
        self._accepted = tf.function(lambda records: _accepted(parse, records), input_signature=_STRINGS)

    def parse(self, records):
        return self._parse(_tensor(records))

    def accepts(self, records):
        """For each record by itself: is it parsed without an error?"""
        found = np.zeros(len(records), bool)
        found[self._accepted(_tensor(records)).numpy()[1:]] = True
        return found


def _accepted(parse, records):
    """-1, then the numbers of the records that are parsed without an error."""

    def parsed(number, record):
        return number, *tf.nest.flatten(parse(record[None]), expand_composites=True)

    # Two maps: what the second does not use would be pruned from the first.
    rows = tf.data.Dataset.from_tensor_slices(records).enumerate().map(parsed).ignore_errors()
    numbers = rows.map(lambda number, *_: number)
    return tf.data.Dataset.from_tensors(tf.constant(-1, tf.int64)).concatenate(numbers).batch(2**20).get_single_element()


class Eager:
    """A parse function that checks shapes in Python, so that it has to be called record by record."""

    def __init__(self, parse):
        self._parse = parse

    def parse(self, records):
        return self._parse(_tensor(records))

    def accepts(self, records):
        return np.array([self._accepts(record) for record in records], bool)

    def _accepts(self, record):
        try:
            self._parse(_tensor([record]))
        except _REFUSALS:
            return False
        return True


def _tensor(records):
    return tf.constant(records, tf.string, [len(records)])
