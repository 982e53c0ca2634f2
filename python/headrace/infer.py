"""What is in the records of some files, told from the first of them: infer_schema()."""

import collections
import json
from dataclasses import dataclass, field
from typing import Any

from . import _core, arguments, spec_text
from .content import recognise
from .dataset import Dataset
from .dtypes import as_dtype
from .errors import ArgumentError, SchemaError
from .features import FixedLenFeature, RawFeature, TensorFeature, VarLenFeature
from .images import inferred_image
from .sources import TFRecordDataset

# Shards that are looked into at once, so that the first records are not those of one file alone.
_SHARDS = 16
# Equal lengths of fewer bytes are codes rather than arrays.
_SMALLEST_ARRAY_BYTES = 8
# Dimensions of a TensorFeature of which some are unknown (kMaxUnknownRank).
_MAX_UNKNOWN_RANK = 8


@dataclass(frozen=True)
class Range:
    """The least, the mean and the largest of some numbers."""

    min: int
    mean: float
    max: int

    def __str__(self):
        return f"{self.min}" if self.min == self.max else f"{self.min} … {self.mean:.4g} … {self.max}"


@dataclass(frozen=True)
class FeatureSummary:
    """What the records hold under one key.

    Attributes:
        key: the key.
        kinds: {type of the list: number of records}; the type None stands for a feature without a kind.
        missing: share of the records without the key or without a kind, 0 … 1.
        values: values per record that has the key, a Range.
        sizes: bytes per value for byte strings, a Range; None for numbers.
        content: what the byte strings are, as content.recognise tells it, with shapes; "" for numbers.
        spec: a spec that parses all of these records, None when there is none.
        note: what the spec does not say.
    """

    key: str
    kinds: dict
    missing: float
    values: Range
    sizes: Any
    content: str
    spec: Any
    note: str = ""


@dataclass(frozen=True)
class InferredSchema:
    """What infer_schema() found. str() gives a table.

    Attributes:
        records: number of records looked at.
        malformed: how many of them are no Example.
        sequences: how many are SequenceExamples; their context is what `summaries` tell of.
        summaries: a FeatureSummary per key, in the order of their first appearance.
    """

    records: int
    malformed: int
    sequences: int
    summaries: tuple

    @property
    def features(self):
        """{key: spec} of every key that one spec can parse: what Dataset.parse takes."""
        return {summary.key: summary.spec for summary in self.summaries if summary.spec is not None}

    def to_code(self):
        """Python source that makes `features`."""
        return spec_text.to_code(self.features, {summary.key: summary.note for summary in self.summaries if summary.note})

    def to_json(self):
        """`features` as JSON text that features_from() reads."""
        return json.dumps(spec_text.to_json(self.features), indent=2)

    def rows(self):
        """The table: a list of lists of str, the heading first."""
        table = [["key", "type", "missing", "values", "bytes each", "content"]]
        for summary in self.summaries:
            kinds = ", ".join(str(kind) for kind in summary.kinds if kind is not None) or "no kind"
            missing = f"{summary.missing:.1%}" if summary.missing else ""
            table.append([summary.key, kinds, missing, str(summary.values), str(summary.sizes or ""), summary.content])
        return table

    def headline(self):
        """One line about the records as a whole."""
        line = f"{self.records} records, {len(self.summaries)} keys"
        if self.malformed:
            line += f"; {self.malformed} records are no tf.train.Example"
        if self.sequences:
            line += f"; {self.sequences} are SequenceExamples, of which only the context is shown"
        return line

    def __str__(self):
        table = self.rows()
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
        return "\n".join([self.headline(), "", *lines])


def infer_schema(files, records=1000, **options):
    """Looks into the first records of some files: keys, types, counts, sizes, and specs that parse them.

    Args:
        files: as TFRecordDataset takes them, or a Dataset without batch().
        records: records to look at (>= 1), taken in turn from the first 16 shards.
        **options: options of TFRecordDataset.

    Returns:
        An InferredSchema. Its specs hold for the records that were looked at; later ones may differ.

    Raises:
        ValueError: when there is no record, or none is a tf.train.Example.
        FileNotFoundError, PermissionError, OSError, DataLossError: as reading raises them.
    """
    return summarise(first_records(files, records, **options))


def first_records(files, records, **options):
    """The first `records` records, as infer_schema takes them; an iterator of bytes."""
    if isinstance(files, Dataset):
        if options:
            raise ArgumentError(f"{next(iter(options))}: options belong to the TFRecordDataset that is given")
        dataset = files
    else:
        dataset = TFRecordDataset(files, **options).interleave(cycle_length=_SHARDS)
    return iter(dataset.take(arguments.integer("records", records, minimum=1)))


def summarise(records):
    """The InferredSchema of an iterable of records."""
    tallies = {}
    number = malformed = sequences = 0
    for number, record in enumerate(records, 1):
        try:
            listed, is_sequence = _core.read_example(record)
        except SchemaError:
            malformed += 1
            continue
        sequences += is_sequence
        for key, kind, values, strings in listed:
            tallies.setdefault(key, _Tally()).add(kind, values, strings)
    if number == malformed:
        raise ArgumentError("there is no record" if number == 0 else f"none of {number} records is a tf.train.Example")
    examples = number - malformed
    return InferredSchema(
        number, malformed, sequences, tuple(tally.summary(key, examples) for key, tally in tallies.items())
    )


class _Numbers:
    """Least, sum and largest."""

    def __init__(self):
        self.count, self.sum, self.min, self.max = 0, 0, None, None

    def add(self, number):
        self.min = number if self.count == 0 else min(self.min, number)
        self.max = number if self.count == 0 else max(self.max, number)
        self.count += 1
        self.sum += number

    def range(self):
        return Range(self.min, self.sum / self.count, self.max) if self.count else Range(0, 0.0, 0)


@dataclass
class _Tally:
    """Counts over the records of one key."""

    kinds: collections.Counter = field(default_factory=collections.Counter)
    values: _Numbers = field(default_factory=_Numbers)
    sizes: _Numbers = field(default_factory=_Numbers)
    contents: dict = field(default_factory=dict)  # what it is: [its least shape, its largest] or None

    def add(self, kind, values, strings):
        self.kinds[kind] += 1
        if kind is None:
            return
        self.values.add(values)
        for string in strings:
            self.sizes.add(len(string))
            name, shape = recognise(string)
            self.contents[name] = _widen(self.contents[name], shape) if name in self.contents else _bounds(shape)

    def summary(self, key, records):
        present = sum(self.kinds.values()) - self.kinds[None]
        spec, note = self._spec(present == records)
        return FeatureSummary(
            key=key,
            kinds={kind: count for kind, count in self.kinds.items() if count},
            missing=1 - present / records,
            values=self.values.range(),
            sizes=self.sizes.range() if self.sizes.count else None,
            content=", ".join(f"{name}{_shape_text(bounds)}" for name, bounds in self.contents.items()),
            spec=spec,
            note=note,
        )

    def _spec(self, is_always_there):
        """(spec, note)."""
        kinds = [kind for kind in self.kinds if kind is not None]
        if len(kinds) != 1:
            counts = ", ".join(f"{kind} in {self.kinds[kind]} records" for kind in kinds)
            return None, f"lists of different types: {counts}" if kinds else "never has a list"
        dtype = as_dtype(kinds[0])
        count = self.values.max if self.values.min == self.values.max else None
        if not is_always_there or not count:
            return VarLenFeature(dtype), ""
        if count > 1:
            return FixedLenFeature([count], dtype), ""
        return self._nested_spec() or (FixedLenFeature([], dtype), self._content_note())

    def _nested_spec(self):
        """The spec of an array or image in the one byte string of every record, when they all hold such."""
        image = inferred_image(self.contents)
        if image is not None:
            spec, is_one_size = image
            return spec, "" if is_one_size else f"{self._content_note()}: resized to the least height and width"
        if len(self.contents) != 1:
            return None
        ((name, bounds),) = self.contents.items()
        if name.startswith("tensor of ") and bounds is not None:
            shape = [least if least == most else None for least, most in zip(*bounds)]
            if None not in shape or len(shape) <= _MAX_UNKNOWN_RANK:
                note = self._content_note() if None in shape else ""
                return TensorFeature(shape, as_dtype(name.removeprefix("tensor of "))), note
        size = self.sizes.max
        if name == "bytes" and self.sizes.min == size >= _SMALLEST_ARRAY_BYTES:
            return RawFeature([size], as_dtype("uint8")), f"{size} bytes each; their type and shape are not in the data"
        return None

    def _content_note(self):
        return ", ".join(f"{name}{_shape_text(bounds)}" for name, bounds in self.contents.items() if name != "text")


def _bounds(shape):
    return None if shape is None else (tuple(shape), tuple(shape))


def _widen(bounds, shape):
    """`bounds` so that they hold `shape` too; None when shapes are unknown or have different ranks."""
    if bounds is None or shape is None or len(bounds[0]) != len(shape):
        return None
    return tuple(map(min, bounds[0], shape)), tuple(map(max, bounds[1], shape))


def _shape_text(bounds):
    if bounds is None:
        return ""
    sizes = [f"{low}" if low == high else f"{low}…{high}" for low, high in zip(*bounds)]
    return f" [{', '.join(sizes)}]"
