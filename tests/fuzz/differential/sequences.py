"""Questions about serialized SequenceExamples."""

import dataclasses

import numpy as np
import tensorflow as tf
from wire_bytes import field

import headrace as hr

from . import reading, rules
from .examples import RF, corpus, dangerous, fits, keys_of, same_columns, some
from .tensorflow_side import Graph


class SequenceQuestion:
    """`make(random)` gives (values of the context, values of each step of each list) of one record."""

    def __init__(self, name, context, lists, make):
        self.name = name
        self.forms, self.faults = frozenset(rules.SEQUENCE_FORMS), frozenset(rules.SEQUENCE_FAULTS)
        self.context, self.lists = context, lists
        self.keys = frozenset(key.encode() for key in keys_of(context))
        self.list_keys = frozenset(key.encode() for key in keys_of(lists))
        self._make = make
        self.theirs = Graph(lambda records: tf.io.parse_sequence_example(records, context, lists))

    def seeds(self, random):
        return [sequence(*self._make(random)) for _ in range(300)] + corpus("sequence_example")

    def read(self, record):
        read = reading.read(record, self.keys, self.list_keys)
        if reading.NO_KIND in read.features.values():
            read.names.add("context feature without a kind")
        return read

    def written(self, read):
        present = {key: value for key, value in read.features.items() if value != reading.NO_KIND}
        return reading.written(dataclasses.replace(read, features=present))

    def not_asked(self, record):
        read = self.read(record)
        if read.fault == "length beyond its message" or "several lists in a Feature" in read.names:
            return "byte string longer than its list"  # or could be, in a list that does not count
        return dangerous(record, self.context, self.read)

    def value_rule(self, read):
        return None

    def ours_accepts(self, records):
        return np.array([self._accepts(record) for record in records], bool)

    def _accepts(self, record):
        try:
            hr.parse_sequence_example((record,), self.context, self.lists)
        except hr.SchemaError:
            return False
        return True

    def same(self, ours, theirs):
        parts = zip(hr.parse_sequence_example(ours, self.context, self.lists), self.theirs.parse(theirs))
        return all(same_columns(part, wanted) for part, wanted in parts)


def sequence(context, lists):
    """A serialized SequenceExample: {key: array}, {key: list of arrays, one a step}."""
    feature = lambda values: reading.feature_of(hr.make_example({"x": values}))
    entries = b"".join(
        field(1, field(1, key.encode()) + field(2, b"".join(field(1, feature(step)) for step in steps)))
        for key, steps in lists.items()
    )
    return hr.make_example(context) + field(2, entries)


def plain_lists():
    context = {
        "i": tf.io.FixedLenFeature([], tf.int64, 7),
        "f": tf.io.FixedLenFeature([2], tf.float32, [0.5, 1.5]),
        "vb": tf.io.VarLenFeature(tf.string),
        "vi": RF(tf.int64, row_splits_dtype=tf.int64),
    }
    lists = {
        "vi": tf.io.VarLenFeature(tf.int64),
        "vf": tf.io.VarLenFeature(tf.float32),
        "s": RF(tf.string, row_splits_dtype=tf.int64),
        "q": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "f": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
        "b": tf.io.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
    }
    context_kinds = {"i": ("int64", 1), "f": ("float32", 2), "vb": ("string", None), "vi": ("int64", None)}
    list_kinds = {
        **{"vi": ("int64", None), "vf": ("float32", None), "s": ("string", None)},
        **{"q": ("int64", 2), "f": ("float32", 1), "b": ("string", 1)},
    }

    def values(random, kind, count):
        return some(random, kind, random.randrange(4) if count is None else count)

    def make(random):
        of_context = {key: values(random, *kind) for key, kind in context_kinds.items() if random.random() < 0.7}
        of_lists = {
            key: [values(random, *kind) for _ in range(random.randrange(4))]
            for key, kind in list_kinds.items()
            if random.random() < 0.7
        }
        return of_context, of_lists

    return SequenceQuestion("sequence lists", context, lists, make)


def required_list():
    """A dense list that must be there."""
    lists = {"q": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    context = {"b": tf.io.FixedLenFeature([], tf.string)}

    def make(random):
        steps = [some(random, "int64", 2) for _ in range(random.randrange(4))]
        return {"b": some(random, "string", 1)}, {"q": steps}

    return SequenceQuestion("sequence required", context, lists, make)


class PartitionedList(SequenceQuestion):
    """A ragged list whose steps have rows of the lengths that another list gives."""

    def __init__(self):
        lists = {"r": RF(tf.int64, "r", [RF.RowLengths("p")], row_splits_dtype=tf.int64)}
        super().__init__("sequence ragged by row_lengths", {}, lists, self._record)

    def _record(self, random):
        lengths = [[random.randrange(3) for _ in range(random.randrange(3))] for _ in range(random.randrange(4))]
        steps = [some(random, "int64", sum(each)) for each in lengths]
        return {}, {"r": steps, "p": [np.array(each, np.int64) for each in lengths]}

    def value_rule(self, read):
        values, lengths = read.lists.get(b"r", []), read.lists.get(b"p", [])
        if any(kind not in (None, "int64") for kind, _ in (*values, *lengths)):
            return None  # both refuse it
        of_steps = [[reading.signed(length) for length in step] for _, step in lengths]
        if len(lengths) != len(values) or not all(
            fits("row_lengths", rows, len(step)) for rows, (_, step) in zip(of_steps, values)
        ):
            return "partition that does not fit its values"
        return None


def sequences():
    return [plain_lists(), required_list(), PartitionedList()]
