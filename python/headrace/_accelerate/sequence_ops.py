"""ParseSequenceExampleV2 in a graph: the context and the feature lists of SequenceExamples."""

import tensorflow as tf

from . import graph
from .parsed import Parsed
from .refusal import Refused

# The groups of outputs in their order, each with the attribute that counts it.
_OUTPUTS = (
    ("sparse_indices", "context_sparse_types"),
    ("sparse_values", "context_sparse_types"),
    ("sparse_shapes", "context_sparse_types"),
    ("dense_values", "Tcontext_dense"),
    ("ragged_values", "context_ragged_value_types"),
    ("ragged_splits", "context_ragged_split_types"),
    ("list_sparse_indices", "feature_list_sparse_types"),
    ("list_sparse_values", "feature_list_sparse_types"),
    ("list_sparse_shapes", "feature_list_sparse_types"),
    ("list_dense_values", "feature_list_dense_types"),
    ("list_dense_lengths", "feature_list_dense_types"),
    ("list_ragged_values", "feature_list_ragged_value_types"),
    ("list_ragged_outer", "feature_list_ragged_split_types"),
    ("list_ragged_inner", "feature_list_ragged_split_types"),
)


def sequence_features(graph_def, parser, batched):
    """The Parsed of a ParseSequenceExampleV2."""
    return _Reader(graph_def, parser, batched).features()


class _Reader:
    def __init__(self, graph_def, parser, batched):
        self._graph_def = graph_def
        self._parser = parser
        self._batched = batched
        self._first, place = {}, 0
        for group, counter in _OUTPUTS:
            self._first[group] = place
            place += len(parser.attr[counter].list.type)

    def features(self):
        found = [*self._context(), *self._lists()]
        for feature in found:
            feature.in_sequence_example = True
        return found

    def _context(self):
        for j, (name, dtype) in enumerate(self._named(2, "context_sparse_types")):
            parts = self._parts(j, indices="sparse_indices", values="sparse_values", shape="sparse_shapes")
            yield Parsed(name, "var", dtype, parts)
        for j, (name, dtype) in enumerate(self._named(3, "Tcontext_dense")):
            shape = [dimension.size for dimension in self._parser.attr["context_dense_shapes"].list.shape[j].dim]
            default = graph.constant(self._graph_def, self._parser.input[9 + j])
            if default is None or -1 in shape or 0 in shape:
                raise Refused(f"the context feature {name!r} has a default or a shape that is not known")
            feature = Parsed(name, "fixed", dtype, self._parts(j, dense="dense_values"), shape)
            feature.default = default if default.size else None
            yield feature
        for j, (name, dtype) in enumerate(self._named(4, "context_ragged_value_types")):
            yield self._ragged(name, dtype, self._parts(j, values="ragged_values", splits="ragged_splits"), "context", j)

    def _lists(self):
        for j, (name, dtype) in enumerate(self._named(5, "feature_list_sparse_types")):
            parts = self._parts(j, indices="list_sparse_indices", values="list_sparse_values", shape="list_sparse_shapes")
            yield self._of_list(Parsed(name, "var", dtype, parts))
        missing = graph.constant(self._graph_def, self._parser.input[8])
        for j, (name, dtype) in enumerate(self._named(6, "feature_list_dense_types")):
            shape = [dimension.size for dimension in self._parser.attr["feature_list_dense_shapes"].list.shape[j].dim]
            if missing is None or -1 in shape:
                raise Refused(f"the feature list {name!r} has a shape that is not known")
            parts = self._parts(j, dense="list_dense_values", lengths="list_dense_lengths")
            feature = Parsed(name, "sequence", dtype, parts, shape, in_list=True)
            feature.may_be_missing = bool(missing[j])
            yield feature
        for j, (name, dtype) in enumerate(self._named(7, "feature_list_ragged_value_types")):
            parts = self._parts(j, values="list_ragged_values", splits="list_ragged_outer", inner_splits="list_ragged_inner")
            yield self._of_list(self._ragged(name, dtype, parts, "feature_list", j))

    def _of_list(self, feature):
        if not self._batched:
            raise Refused(f"the feature list {feature.key!r} has rows of its own, and records are parsed one by one")
        feature.in_list = True
        return feature

    def _ragged(self, name, dtype, parts, where, j):
        feature = Parsed(name, "ragged", dtype, parts)
        feature.splits_dtype = tf.as_dtype(self._parser.attr[f"{where}_ragged_split_types"].list.type[j])
        return feature

    def _parts(self, j, **groups):
        return {part: f"{self._parser.name}:{self._first[group] + j}" for part, group in groups.items()}

    def _named(self, place, attribute):
        keys = graph.constant(self._graph_def, self._parser.input[place])
        if keys is None:
            raise Refused("the names of the features are made while the program runs")
        types = [tf.as_dtype(each) for each in self._parser.attr[attribute].list.type]
        return zip((key.decode() for key in keys.ravel()), types, strict=True)
