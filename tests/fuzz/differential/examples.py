"""Questions about serialized Examples: for each kind of spec, records that fit it, and what both readers make of them."""

import math
import re
from pathlib import Path

import numpy as np
import tensorflow as tf
from same import assert_same_columns

import headrace as hr
from headrace import _core
from headrace.features import to_schema

from . import reading, rules
from .tensorflow_side import Eager, Graph

CORPUS = Path(__file__).parents[1] / "corpus"
RF = tf.io.RaggedFeature
INTEGERS = (0, 1, -1, 2, 3, 127, 128, 300, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.5, math.inf, math.nan, 1e-45, 3e38)
STRINGS = (b"", b"a", b"text", b"\0\xff", b"x" * 130)
VALUES = {"int64": INTEGERS, "float32": FLOATS, "string": STRINGS}
_MILLION = 1_000_000
# What could be a value of that length in a list.
_LONG_STRING = re.compile(rb"\x0a[\x80-\xff]{4}", re.DOTALL)


def some(random, dtype, count):
    """An array of `count` values."""
    values = random.choices(VALUES[dtype], k=count)
    return np.array(values, object if dtype == "string" else dtype)


def corpus(name):
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


class ExampleQuestion:
    """Specs of tf.io that both sides take; `make(random)` gives the values of one record."""

    def __init__(self, name, specs, make, eager=False):
        self.name = name
        self.forms, self.faults = frozenset(rules.FORMS), frozenset(rules.FAULTS)
        self.specs = specs
        self.keys = frozenset(key.encode() for key in keys_of(specs))
        self._make = make
        parse = lambda records: tf.io.parse_example(records, specs)
        self.theirs = Eager(parse) if eager else Graph(parse)
        self._set_ours(specs)

    def _set_ours(self, specs):
        self._ours = specs
        self._schema, _ = to_schema(specs)

    def _use(self, ours, decoded):
        """Reads by these specs of headrace; TensorFlow by `decoded` of the strings that it has parsed."""
        specs = self.specs
        self._set_ours(ours)
        self.theirs = Graph(
            lambda records: {name: decoded(strings) for name, strings in tf.io.parse_example(records, specs).items()}
        )

    def seeds(self, random):
        own = [hr.make_example(self._make(random)) for _ in range(300)]
        return own + corpus("example")

    def read(self, record):
        return reading.read(record, self.keys)

    def written(self, read):
        return reading.written(read)

    def not_asked(self, record):
        """A name of rules.NOT_ASKED when TensorFlow must not see the record."""
        return dangerous(record, self.specs, self.read)

    def value_rule(self, read):
        return None

    def ours_accepts(self, records):
        return np.array([self._accepts(record) for record in records], bool)

    def _accepts(self, record):
        try:
            _core.parse_example((record,), self._schema, 1)
        except hr.SchemaError:
            return False
        return True

    def same(self, ours, theirs):
        """Does headrace read the first records as TensorFlow reads the second?"""
        return same_columns(hr.parse_example(ours, self._ours), self.theirs.parse(theirs))


def dangerous(record, specs, read):
    """The name of what in the record would damage TensorFlow's memory, None when there is nothing."""
    if _LONG_STRING.search(record):
        return "byte string of 2 GiB"
    sizes = fixed_floats(specs)
    if sizes and record.count(b"\x0d") > min(sizes.values()):
        most = read(record).most_unpacked_floats
        if any(most.get(key.encode(), 0) > size for key, size in sizes.items()):
            return "single floats beyond the shape"
    return None


def same_columns(ours, theirs):
    try:
        assert_same_columns(ours, theirs)
    except AssertionError:
        return False
    return True


def keys_of(specs):
    for name, spec in specs.items():
        if isinstance(spec, RF):
            yield spec.value_key or name
            yield from (each.key for each in spec.partitions if not isinstance(each, RF.UniformRowLength))
        elif isinstance(spec, tf.io.SparseFeature):
            yield from (spec.value_key, *([spec.index_key] if isinstance(spec.index_key, str) else spec.index_key))
        else:
            yield name


def fixed_floats(specs):
    """{key: number of values} of the FixedLenFeatures of floats."""
    return {
        name: math.prod(spec.shape)
        for name, spec in specs.items()
        if isinstance(spec, tf.io.FixedLenFeature) and spec.dtype == tf.float32
    }


def lists():
    """Everything may be absent."""
    specs = {
        "i": tf.io.FixedLenFeature([], tf.int64, 7),
        "f": tf.io.FixedLenFeature([2], tf.float32, [0.5, 1.5]),
        "vi": tf.io.VarLenFeature(tf.int64),
        "vf": tf.io.VarLenFeature(tf.float32),
        "vb": tf.io.VarLenFeature(tf.string),
        "q": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="none"),
    }

    def make(random):
        counts = {"i": 1, "f": 2, "q": 2 * random.randrange(3)}
        dtypes = {"i": "int64", "f": "float32", "vi": "int64", "vf": "float32", "vb": "string", "q": "int64", "s": "string"}
        wanted = random.sample(list(dtypes), random.randrange(len(dtypes) + 1))
        return {key: some(random, dtypes[key], counts.get(key, random.randrange(5))) for key in wanted}

    return ExampleQuestion("lists", specs, make)


def required():
    """Nothing may be absent."""
    specs = {
        "i": tf.io.FixedLenFeature([2], tf.int64),
        "f": tf.io.FixedLenFeature([3, 1], tf.float32),
        "b": tf.io.FixedLenFeature([], tf.string),
    }

    def make(random):
        return {"b": some(random, "string", 1), "f": some(random, "float32", 3), "i": some(random, "int64", 2)}

    return ExampleQuestion("required", specs, make)


def ragged():
    specs = {
        "rows": RF(tf.int64, "vi", row_splits_dtype=tf.int64),
        "again": RF(tf.int64, "vi", row_splits_dtype=tf.int64),
        "vf": RF(tf.float32, row_splits_dtype=tf.int64),
        "vb": RF(tf.string, row_splits_dtype=tf.int64),
        "pairs": RF(tf.int64, "q", [RF.UniformRowLength(2)], row_splits_dtype=tf.int64),
    }

    def make(random):
        return {
            "vi": some(random, "int64", random.randrange(5)),
            "vf": some(random, "float32", random.randrange(5)),
            "vb": some(random, "string", random.randrange(5)),
            "q": some(random, "int64", 2 * random.randrange(3)),
        }

    return ExampleQuestion("ragged", specs, make)


class PartitionQuestion(ExampleQuestion):
    """Ragged features whose rows are given by feature p, alone and beside rows of a uniform length."""

    def __init__(self, kind, partition):
        two = RF.UniformRowLength(2)
        specs = {
            "r": RF(tf.int64, "r", [partition("p")], row_splits_dtype=tf.int64),
            "n": RF(tf.float32, "n", [partition("p"), two], row_splits_dtype=tf.int64),
        }
        super().__init__(f"ragged by {kind}", specs, self._record)
        self.kind = kind

    def _record(self, random):
        lengths = [random.randrange(4) for _ in range(random.randrange(4))]
        if self.kind == "value_rowids" and lengths:
            lengths[-1] += 1
        splits = np.cumsum([0, *lengths])
        rows = {
            "row_splits": splits,
            "row_lengths": np.array(lengths, np.int64),
            "row_starts": splits[:-1],
            "row_limits": splits[1:],
            "value_rowids": np.repeat(np.arange(len(lengths)), lengths),
        }[self.kind]
        count = int(splits[-1])
        return {"r": some(random, "int64", count), "p": rows, "n": some(random, "float32", 2 * count)}

    def not_asked(self, record):
        if self.kind == "value_rowids":
            _, ids = self.read(record).features.get(b"p", reading.NO_KIND)
            if any(isinstance(value, int) and value > _MILLION for value in ids):
                return "row ids beyond a million"
        return super().not_asked(record)

    def value_rule(self, read):
        kind, partition = read.features.get(b"p", reading.NO_KIND)
        if kind not in (None, "int64"):
            return None  # both refuse it
        rows = [reading.signed(value) for value in partition]
        for key, per_element in ((b"r", 1), (b"n", 2)):
            kind, values = read.features.get(key, reading.NO_KIND)
            if len(values) % per_element == 0 and not fits(self.kind, rows, len(values) // per_element):
                return "partition that does not fit its values"
        return None


def fits(kind, rows, count):
    """Do these rows hold exactly `count` elements, one after another?"""
    if kind == "row_lengths":
        return all(length >= 0 for length in rows) and sum(rows) == count
    if kind == "value_rowids":
        return len(rows) == count and all(id >= 0 for id in rows[:1]) and rows == sorted(rows)
    if not rows:
        return count == 0
    first = rows[0] == 0 if kind in ("row_splits", "row_starts") else rows[0] >= 0
    last = rows[-1] <= count if kind == "row_starts" else rows[-1] == count
    return first and last and rows == sorted(rows)


class SparseQuestion(ExampleQuestion):
    SIZES = {b"vi": 400, b"r": 4}

    def __init__(self):
        specs = {
            "one": tf.io.SparseFeature("vi", "vb", tf.string, 400),
            "two": tf.io.SparseFeature(["vi", "r"], "vb", tf.string, [400, 4]),
            "kept": tf.io.SparseFeature(["r"], "vb", tf.string, [4], already_sorted=True),
        }
        super().__init__("sparse", specs, self._record, eager=True)

    def _record(self, random):
        count = random.randrange(5)
        indices = {"vi": np.array(random.choices(range(400), k=count), np.int64)}
        return {**indices, "r": np.array(random.choices(range(4), k=count), np.int64), "vb": some(random, "string", count)}

    def value_rule(self, read):
        for key, size in self.SIZES.items():
            kind, values = read.features.get(key, reading.NO_KIND)
            if kind == "int64" and any(not 0 <= reading.signed(value) < size for value in values):
                return "sparse index out of range"
        return None


def examples():
    kinds = {
        "row_splits": RF.RowSplits,
        "row_lengths": RF.RowLengths,
        "row_starts": RF.RowStarts,
        "row_limits": RF.RowLimits,
        "value_rowids": RF.ValueRowIds,
    }
    partitions = (PartitionQuestion(kind, partition) for kind, partition in kinds.items())
    return [lists(), required(), ragged(), *partitions, SparseQuestion()]
