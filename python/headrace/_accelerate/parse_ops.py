"""ParseExampleV2 in a graph: which features it reads, and which tensors they become."""

import tensorflow as tf

from . import graph, sequence_ops
from .parsed import Parsed
from .refusal import Refused

PARSERS = (
    *("ParseExampleV2", "ParseSequenceExampleV2", "ParseExample", "ParseSingleExample"),
    *("ParseSequenceExample", "ParseSingleSequenceExample"),
)


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
        if not parser.op.endswith("V2"):
            raise Refused(f"{parser.op} is not known")
        source = _origin(nodes, parser.input[0])
        if graph.name(source) != flat.arguments[0]:
            raise Refused("the record is changed before it is parsed")
        shape = graph.static_shape(nodes[graph.name(parser.input[0])])
        if shape is None:
            raise Refused("it is not known whether one record or a batch of them is parsed")
        ranks.add(len(shape))
        if parser.op == "ParseExampleV2":
            features += _features(flat.graph_def, parser)
        else:
            features += sequence_ops.sequence_features(flat.graph_def, parser, len(shape) == 1)
    if len({parser.op for parser in parsers}) != 1:
        raise Refused("the records are parsed as Examples and as SequenceExamples")
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

    lists = ("sparse_types", "Tdense", "ragged_value_types", "ragged_split_types")
    types = {name: list(parser.attr[name].list.type) for name in lists}
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
        if default is None or 0 in shape:
            raise Refused(f"the default or the shape of {name!r} is not known")
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
