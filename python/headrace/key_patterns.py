"""Patterns of keys in a dict of features: replaced, once, by the keys that the first records have.

    features = {
        "dense": hr.Stack("I*", hr.float32),                   # one column of the keys I1, I2, …
        "sparse": hr.match("C*", hr.VarLenFeature(hr.int64)),  # a column each for C1, C2, …, by their own names
    }

Dataset.parse does it and keeps what came out: `dataset.features`.
"""

import dataclasses
import fnmatch
import re

from . import _core
from .errors import ArgumentError, SchemaError

# Records whose keys are looked at.
RECORDS = 256


@dataclasses.dataclass(frozen=True)
class Match:
    """What match() gives."""

    pattern: str
    spec: object


def match(pattern, spec):
    """A place in a dict of features for every key that fits `pattern`: each becomes a column with its own name.

    Keys that other specs of the dict read are left out. The order is that of the names, numbers in them by their value.

    Args:
        pattern: `*`, `?` and `[...]` as in file names; upper and lower case differ.
        spec: the spec of each of these columns, one without keys of its own.
    """
    if not isinstance(pattern, str) or not pattern:
        raise ArgumentError(f"match: pattern {pattern!r} must be a str such as 'C*'")
    if isinstance(spec, Match) or _own_keys(spec):
        raise ArgumentError(f"match({pattern!r}): {spec!r} names keys itself")
    return Match(pattern, spec)


def expand(features, first_records):
    """`features` without patterns.

    Args:
        features: {name: spec}; a dict of specs alone is given back as it is.
        first_records: a function that gives records (bytes), called when there is a pattern.

    Raises:
        ValueError: for a pattern that no key fits, or two columns of one name.
    """
    if not hasattr(features, "items") or not any(_pattern(spec) for spec in features.values()):
        return features
    taken = {key for name, spec in features.items() if not _pattern(spec) for key in keys_of(name, spec)}
    keys = _keys_in(first_records())
    expanded = {}
    for name, spec in features.items():
        pattern = _pattern(spec)
        if pattern is None:
            new = {name: spec}
        else:
            found = [key for key in keys if key not in taken and fnmatch.fnmatchcase(key, pattern)]
            if not found:
                some = ", ".join(map(repr, keys[:10])) + (", …" if len(keys) > 10 else "")
                raise ArgumentError(f"feature {name!r}: no key fits {pattern!r}; there are {some or 'none'}", key=name)
            is_match = isinstance(spec, Match)
            new = dict.fromkeys(found, spec.spec) if is_match else {name: dataclasses.replace(spec, keys=found)}
        for column in new:
            if column in expanded:
                raise ArgumentError(f"feature {column!r}: there twice, once by {pattern!r}", key=column)
        expanded.update(new)
    return expanded


def keys_of(name, spec):
    """The keys in a record that a spec without a pattern reads."""
    partitions = [partition.key for partition in getattr(spec, "partitions", None) or () if hasattr(partition, "key")]
    return [*(_own_keys(spec) or [name]), *partitions]


def _own_keys(spec):
    """The keys that a spec names, without its partitions; empty: its key is the name of the column."""
    keys = getattr(spec, "keys", None)
    if keys is not None:
        return [keys] if isinstance(keys, str) else list(keys)
    own = [getattr(spec, "value_key", None) or getattr(spec, "key", None)]
    index = getattr(spec, "index_key", None) or []
    return [key for key in [*own, *([index] if isinstance(index, str) else index)] if key]


def _pattern(spec):
    if isinstance(spec, Match):
        return spec.pattern
    keys = getattr(spec, "keys", None)
    return keys if isinstance(keys, str) else None


def _keys_in(records):
    """The keys that have a list in some record, in the order of their names."""
    keys = set()
    for record in records:
        try:
            listed, _ = _core.read_example(record)
        except SchemaError:
            continue
        keys.update(key for key, kind, _, _ in listed if kind is not None)
    return sorted(keys, key=_natural)


def _natural(key):
    return [int(piece) if place % 2 else piece for place, piece in enumerate(re.split(r"(\d+)", key))]
