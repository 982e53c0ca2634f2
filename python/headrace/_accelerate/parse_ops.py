"""ParseExampleV2 in a graph: which features it reads, and which tensors they become."""

import dataclasses
from typing import Any

import tensorflow as tf

from . import graph
from .refusal import Refused

PARSERS = ("ParseExampleV2", "ParseExample", "ParseSingleExample")
SEQUENCE_PARSERS = ("ParseSequenceExampleV2", "ParseSequenceExample", "ParseSingleSequenceExample")


@dataclasses.dataclass
class Parsed:
    """One feature of one parse op."""

    key: str
    kind: str  # fixed, sequence (dense with any number of steps), var (sparse), ragged
    dtype: tf.DType
    parts: dict  # dense | values, splits | indices, values, shape -> ref
    shape: list = dataclasses.field(default_factory=list)  # of fixed; of one step of sequence
    default: Any = None  # NumPy array
    splits_dtype: Any = None
    in_list: bool = False  # a feature list of a SequenceExample


def parsed_features(flat):
    """The Parsed of all parse ops that the function's results depend on, and whether they read a batch of records.

    Raises:
        Refused: the record is not parsed, or not as it is.
    """
    nodes = graph.needed(flat.graph_def, flat.outputs)
    parsers = [node for node in nodes.values() if node.op in PARSERS]
    if not parsers:
        raise Refused(_why_absent(flat, nodes.values()))
    features, ranks = [], set()
    for parser in parsers:
        if parser.op != "ParseExampleV2":
            raise Refused(f"{parser.op} is not known")
        source = _origin(nodes, parser.input[0])
        if graph.name(source) != flat.arguments[0]:
            raise Refused("the record is changed before it is parsed")
        shape = graph.static_shape(nodes[graph.name(parser.input[0])])
        if shape is None:
            raise Refused("it is not known whether one record or a batch of them is parsed")
        ranks.add(len(shape))
        features += _features(flat.graph_def, parser)
    if len(ranks) != 1 or max(ranks) > 1:
        raise Refused("records are parsed in an arrangement that is not known")
    return features, ranks == {1}


def _why_absent(flat, nodes):
    ops = {node.op for node in graph.reached(flat.graph_def, nodes)}
    if ops & set(graph.PYTHON):
        return "the record is parsed inside a Python function"
    if ops & set(PARSERS):
        return "the record is parsed inside control flow"
    return "no map parses the record with tf.io.parse_example or parse_single_example"


def _origin(nodes, ref):
    while nodes[graph.name(ref)].op == "Identity":
        ref = nodes[graph.name(ref)].input[0]
    return ref


def _features(graph_def, parser):
    def keys(place):
        value = graph.constant(graph_def, parser.input[place])
        if value is None:
            raise Refused("the names of the features are made while the program runs")
        return [item.decode() for item in value.ravel()]

    types = {name: list(parser.attr[name].list.type) for name in ("sparse_types", "Tdense", "ragged_value_types", "ragged_split_types")}
    sparse, dense, ragged = len(types["sparse_types"]), len(types["Tdense"]), len(types["ragged_value_types"])

    def output(place):
        return f"{parser.name}:{place}"

    found = []
    for j, name in enumerate(keys(2)):
        parts = {"indices": output(j), "values": output(sparse + j), "shape": output(2 * sparse + j)}
        found.append(Parsed(name, "var", tf.as_dtype(types["sparse_types"][j]), parts))
    for j, name in enumerate(keys(3)):
        shape = [dimension.size for dimension in parser.attr["dense_shapes"].list.shape[j].dim]
        default = graph.constant(graph_def, parser.input[5 + j])
        if default is None:
            raise Refused(f"the default of {name!r} is made while the program runs")
        feature = Parsed(name, "fixed", tf.as_dtype(types["Tdense"][j]), {"dense": output(3 * sparse + j)}, shape)
        if shape[:1] == [-1]:
            feature.kind, feature.shape = "sequence", shape[1:]
        feature.default = default if default.size else None  # none: the feature is required
        found.append(feature)
    for j, name in enumerate(keys(4)):
        first = 3 * sparse + dense
        parts = {"values": output(first + j), "splits": output(first + ragged + j)}
        feature = Parsed(name, "ragged", tf.as_dtype(types["ragged_value_types"][j]), parts)
        feature.splits_dtype = tf.as_dtype(types["ragged_split_types"][j])
        found.append(feature)
    return found
