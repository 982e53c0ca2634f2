"""Predicates of filter() that the engine evaluates on serialized records: comparisons of a feature with a constant."""

import dataclasses
import operator

import tensorflow as tf

from .. import filters
from . import graph
from .parse_ops import parsed_features
from .refusal import Refused

_COMPARISONS = {
    "Equal": ("==", operator.eq),
    "NotEqual": ("!=", operator.ne),
    "Less": ("<", operator.lt),
    "LessEqual": ("<=", operator.le),
    "Greater": (">", operator.gt),
    "GreaterEqual": (">=", operator.ge),
}
_MIRRORED = {"Less": "Greater", "LessEqual": "GreaterEqual", "Greater": "Less", "GreaterEqual": "LessEqual"}


@dataclasses.dataclass
class Predicate:
    """A condition of headrace, and the Python source that makes it."""

    condition: filters.Condition
    source: str

    def __repr__(self):
        return self.source


def predicate(flat):
    """The Predicate of a Flat from one serialized record to a boolean.

    Raises:
        Refused: it is something else than comparisons of single features with constants.
    """
    features, batched = parsed_features(flat)
    if batched or graph.acting(flat.graph_def):
        raise Refused("filter of single records by more than a comparison of a feature")
    by_ref = {feature.parts["dense"]: feature for feature in features if feature.kind == "fixed" and feature.shape == []}
    return _Reader(flat.graph_def, by_ref).read(flat.outputs[0])


class _Reader:
    def __init__(self, graph_def, features):
        self._graph_def = graph_def
        self._nodes = graph.nodes_of(graph_def)
        self._features = features

    def read(self, ref):
        node = self._nodes[graph.name(ref)]
        if node.op == "LogicalNot":
            inner = self.read(node.input[0])
            return Predicate(~inner.condition, f"~{inner.source}")
        if node.op in ("LogicalAnd", "LogicalOr"):
            left, right = (self.read(side) for side in graph.data_inputs(node))
            if node.op == "LogicalAnd":
                return Predicate(left.condition & right.condition, f"({left.source} & {right.source})")
            return Predicate(left.condition | right.condition, f"({left.source} | {right.source})")
        if node.op not in _COMPARISONS:
            raise Refused(f"filter of single records by {node.op}")
        return self._comparison(node)

    def _comparison(self, node):
        left, right = (graph.key(side) for side in graph.data_inputs(node))
        op = node.op
        if left not in self._features:
            left, right, op = right, left, _MIRRORED.get(op, op)
        value = graph.constant(self._graph_def, right)
        if left not in self._features or value is None or value.ndim:
            raise Refused("filter of single records by more than a comparison of a feature with a constant")
        feature, number = self._features[left], value.item()
        if feature.dtype == tf.float32 and number != number:
            raise Refused("filter by a comparison with NaN")
        default = None if feature.default is None else feature.default.item()
        written = f"hr.feature({feature.key!r}" + ("" if default is None else f", default={default!r}") + ")"
        symbol, compare = _COMPARISONS[op]
        return Predicate(compare(filters.feature(feature.key, default), number), f"({written} {symbol} {number!r})")
