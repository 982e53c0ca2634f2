"""Which files a program reads: the dataset of names in front of its interleave, and the function that opens each."""

import re

import tensorflow as tf
from tensorflow.python.framework import function_def_to_graph

from . import graph
from .chain import Files, Stage
from .refusal import Refused

_PASSED_BY = ("PrefetchDataset", "OptionsDataset", "Identity")


def serialized(dataset):
    """The GraphDef that makes the dataset, as TensorFlow writes it."""
    policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(dataset._as_serialized_graph(external_state_policy=policy).numpy())
    return graph_def


def read_files(names, function, compression):
    """The Files of a dataset of names and the function of interleave or flat_map that opens one.

    Args:
        function: None when TFRecordDataset itself opens them, with `compression`.
    """
    inner = []
    if function is not None:
        compression, inner = _opening(function)
    repeat, shuffled, seed = 1, False, 0
    while True:  # whole passes over the names are no part of the list
        kind = type(names).__name__
        if kind == "_ShuffleDataset":
            shuffled, seed = True, int(names._seed2)
        elif kind == "_RepeatDataset":
            if repeat != 1:
                raise Refused("the list of files is repeated twice")
            repeat = int(names._count)
        elif kind not in ("_PrefetchDataset", "_OptionsDataset"):
            break
        names = names._input_dataset
    if names.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise Refused("the list of files has no end")
    ops = {node.op for node in _all_nodes(serialized(names))}
    if ops & {"PyFunc", "EagerPyFunc", "GeneratorDataset"}:
        raise Refused("the list of files comes from Python while the program runs")
    inside = "ShuffleDatasetV3" in ops or "ShuffleDatasetV2" in ops  # list_files in a flat_map
    # The list is small and finite: running it is the sturdiest way to read it.
    paths = [name.decode() for name in names.as_numpy_iterator()]
    if not paths:
        raise Refused("the list of files is empty")
    paths = sorted(paths) if inside else paths
    return Files(paths, compression, shuffled=shuffled or inside, file_seed=seed, repeat=repeat, file_stages=tuple(inner))


def _all_nodes(graph_def):
    return [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]


class LibraryFunction:
    """A function that exists only inside another function's graph, with what flatten reads of a ConcreteFunction."""

    def __init__(self, library, name):
        definition = next(function for function in library.function if function.signature.name == name)
        self.graph = function_def_to_graph.function_def_to_graph(definition)
        self.library = library
        self.inputs, self.outputs, self.captured_inputs = self.graph.inputs, self.graph.outputs, []


def _opening(function):
    """(compression, stages) of a function from one file's name to a dataset of its records."""
    graph_def = function.graph.as_graph_def()
    nodes = graph.nodes_of(graph_def)
    node, stages = nodes[graph.name(function.outputs[0].name)], []
    while True:
        op = re.sub(r"V\d$", "", node.op)
        if op == "TFRecordDataset":
            _check_is_argument(nodes, node.input[0], function)
            return _text(graph_def, node.input[1]), stages[::-1]
        if op in ("FlatMapDataset", "ParallelInterleaveDataset", "LegacyParallelInterleaveDataset"):
            return _one_file(graph_def, nodes, node, function), stages[::-1]
        if op in ("MapDataset", "ParallelMapDataset"):
            captures = node.input[1 : len(node.input) - op.startswith("Parallel")]
            if captures:
                raise Refused("a map inside interleave captures tensors; it can stand behind the interleave")
            stages.append(Stage("Map", {}, LibraryFunction(graph_def.library, node.attr["f"].func.name)))
        elif op not in _PASSED_BY:
            raise Refused(f"{op} of each file by itself, inside interleave")
        node = nodes[graph.name(node.input[0])]


def _one_file(graph_def, nodes, node, function):
    """The compression of TFRecordDataset(name), which is a flat_map over the one name."""
    names = nodes[graph.name(node.input[0])]
    if names.op != "TensorSliceDataset":
        raise Refused("interleave of datasets that interleave files themselves")
    _check_is_argument(nodes, names.input[0], function)
    body = next(f for f in graph_def.library.function if f.signature.name == node.attr["f"].func.name)
    readers = [inner for inner in body.node_def if inner.op.startswith("TFRecordDataset")]
    if len(readers) != 1 or any("Dataset" in inner.op for inner in body.node_def if inner is not readers[0]):
        raise Refused("the function of interleave does more than to read TFRecords")
    ref = readers[0].input[1]
    inside = {inner.name: inner for inner in body.node_def}.get(ref.split(":")[0])
    if inside is not None:
        return tf.make_ndarray(inside.attr["value"].tensor).item().decode()
    place = [argument.name for argument in body.signature.input_arg].index(ref)
    return _text(graph_def, node.input[place])


def _check_is_argument(nodes, ref, function):
    """The name that is opened must be the one that the function was called with."""
    node = nodes[graph.name(ref)]
    while node.op in ("Identity", "Reshape", "ExpandDims"):
        node = nodes[graph.name(node.input[0])]
    if node.name != function.inputs[0].op.name:
        raise Refused("the function of interleave changes the file's name")


def _text(graph_def, ref):
    node = graph.nodes_of(graph_def)[graph.name(ref)]
    if node.op != "Const":
        raise Refused("the compression is not the same for all files")
    return tf.make_ndarray(node.attr["value"].tensor).item().decode()
