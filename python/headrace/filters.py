"""What Dataset.filter keeps: expressions over the values of features, evaluated on the serialized records."""

import numbers

from . import _core, arguments
from .errors import ArgumentError


def feature(key, default=None):
    """The one value of a feature, to be compared in Dataset.filter.

        dataset.filter((hr.feature("label") == 3) & (hr.feature("width").isin([32, 64]) | ~hr.feature("tags").any("test")))

    Compared with an int it must be an int64 feature, with a float a float feature (compared as float32), with str or bytes a
    bytes feature. Terms are joined with `&`, `|` and `~`.

    Args:
        key: key of the feature in the Examples.
        default: the value where a record does not have the feature. None: such a record is a SchemaError, as is one with
            several values.
    """
    return FeatureValue(key, default)


class FeatureValue:
    """A feature as a side of a comparison; see feature()."""

    __hash__ = None

    def __init__(self, key, default=None):
        self._key = key.encode() if isinstance(key, str) else bytes(key)
        self._default = default

    def __eq__(self, other):
        return self._term("value", "==", [other])

    def __ne__(self, other):
        return self._term("value", "!=", [other])

    def __lt__(self, other):
        return self._term("value", "<", [other])

    def __le__(self, other):
        return self._term("value", "<=", [other])

    def __gt__(self, other):
        return self._term("value", ">", [other])

    def __ge__(self, other):
        return self._term("value", ">=", [other])

    def isin(self, values):
        """Whether the value is one of `values`, which are all of one kind."""
        return self._term("value", "in", list(values))

    def any(self, value):
        """Whether one of the values of the feature, of which there may be any number, equals `value`."""
        return self._term("any", "==", [value])

    @property
    def count(self):
        """The number of values, 0 where the feature is missing; to be compared with an int."""
        return _Count(self._key)

    def __bool__(self):
        raise TypeError("compare the feature with a value, as in feature('label') == 3")

    def _term(self, subject, comparison, operands):
        return Condition(_Term(self._key, subject, comparison, operands, self._default))


class _Count(FeatureValue):
    def _term(self, subject, comparison, operands):
        return Condition(_Term(self._key, "count", comparison, operands, None))


class Condition:
    """A comparison, or several of them joined with `&`, `|` and `~`."""

    __hash__ = None

    def __init__(self, *steps):
        self._steps = steps

    def __and__(self, other):
        return self._join(other, "both")

    def __or__(self, other):
        return self._join(other, "either")

    def __invert__(self):
        return Condition(*self._steps, "negate")

    def __bool__(self):
        raise TypeError("conditions are joined with &, | and ~, not with and, or and not")

    def __repr__(self):
        return f"<headrace.Condition {self.to_core().text()}>"

    def _join(self, other, step):
        if not isinstance(other, Condition):
            return NotImplemented
        return Condition(*self._steps, *other._steps, step)

    def to_core(self):
        """The engine's form."""
        core = _core.Filter()
        for step in self._steps:
            if isinstance(step, str):
                getattr(core, step)()
            else:
                step.add_to(core)
        return core


class _Term:
    def __init__(self, key, subject, comparison, operands, default):
        values = operands if default is None else [*operands, default]
        kinds = {_kind(value) for value in values}
        if len(kinds) > 1:
            raise ArgumentError(f"filter: {key!r} is compared with values of several kinds: {values!r}")
        self._kind = kinds.pop() if kinds else "ints"
        self._arguments = (key, subject, comparison, [_convert(value) for value in operands])
        self._default = None if default is None else _convert(default)

    def add_to(self, core):
        getattr(core, f"add_{self._kind}")(*self._arguments, fallback=self._default)


def _kind(value):
    if isinstance(value, (str, bytes)):
        return "strings"
    if isinstance(value, numbers.Integral):
        return "ints"
    if isinstance(value, numbers.Real):
        return "floats"
    raise ArgumentError(f"filter: {value!r} is no int, float, str or bytes")


def _convert(value):
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if isinstance(value, numbers.Integral):
        return arguments.integer("filter", int(value))
    return float(value)
