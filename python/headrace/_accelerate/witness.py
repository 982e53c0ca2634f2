"""The serialized graph as a witness of what the dataset objects told: the same ops, in the same order, with the same sizes."""

import re

import tensorflow as tf

from . import graph
from .chain import Files
from .files import serialized
from .refusal import Refused

# Ops of the graph that change no element; objects tell them or not.
_SILENT = ("Prefetch", "Options", "Restructured", "Model", "MaxIntraOpParallelism", "PrivateThreadPool", "Identity")
# Argument of a Stage -> place among the inputs of its op; negative: from the end.
_PLACES = {
    "Shuffle": {"buffer_size": 1, "seed": 2, "seed2": 3},
    "ShuffleAndRepeat": {"buffer_size": 1, "seed": 2, "seed2": 3, "count": 4},
    "Repeat": {"count": 1},
    "Take": {"count": 1},
    "Skip": {"count": 1},
    "Shard": {"num_shards": 1, "index": 2},
    "Batch": {"batch_size": 1, "drop_remainder": -1},
    "PaddedBatch": {"batch_size": 1, "drop_remainder": -1},
    "MapAndBatch": {"batch_size": -3, "drop_remainder": -1},
    "Cache": {"filename": 1},
    "AssertCardinality": {"count": 1},
}
_FUNCTIONS = {"Map": "f", "MapAndBatch": "f", "Filter": "predicate"}
_READERS = ("FlatMap", "Interleave", "LegacyParallelInterleave", "ParallelInterleave")


def confirm(dataset, chain):
    """Compares the graph of `dataset` with its Chain; None, or why there is no graph to compare with.

    Raises:
        Refused: they differ.
    """
    try:
        graph_def = serialized(dataset)
    except tf.errors.OpError as error:
        return f"not compared with the serialized graph, which TensorFlow refuses to make: {error.message[:120]}"
    nodes = graph.nodes_of(graph_def)
    result = next(node for node in graph_def.node if node.op == "_Retval")
    _Witness(graph_def, nodes).compare(nodes[graph.name(result.input[0])], chain)
    return None


def _kind(node):
    return re.sub(r"^Parallel(?!Interleave)|Dataset(V\d)?$", "", node.op)


class _Witness:
    def __init__(self, graph_def, nodes):
        self._graph_def = graph_def
        self._nodes = nodes

    def compare(self, node, chain):
        """Walks from the last op inwards; stages inside an interleave have no op of their own."""
        inner = len(chain.source.file_stages) if isinstance(chain.source, Files) else 0
        for stage in reversed(chain.stages[inner:]):
            if stage.op in _SILENT:
                continue
            node = self._past_silent(node)
            self._compare_stage(node, stage)
            node = self._nodes[graph.name(node.input[0])]
        node = self._past_silent(node)
        if isinstance(chain.source, Files):
            self._compare_files(node, chain.source)
        else:
            self._compare_combined(node, chain.source)

    def _past_silent(self, node):
        while _kind(node) in _SILENT:
            node = self._nodes[graph.name(node.input[0])]
        return node

    def _compare_stage(self, node, stage):
        if _kind(node) != stage.op:
            raise Refused(f"the graph has {_kind(node)} where the objects tell {stage.op}")
        for argument, place in _PLACES.get(stage.op, {}).items():
            self._compare_value(node, place, stage.arguments[argument], f"{stage.op}.{argument}")
        if stage.op == "Shuffle" and node.attr["reshuffle_each_iteration"].b != stage.arguments["reshuffle"]:
            raise Refused("the graph and the objects differ in Shuffle.reshuffle_each_iteration")
        if stage.op in _FUNCTIONS:
            called, told = node.attr[_FUNCTIONS[stage.op]].func.name, stage.function.name
            if called != (told.decode() if isinstance(told, bytes) else told):
                raise Refused(f"the graph and the objects differ in the function of {stage.op}")

    def _compare_value(self, node, place, told, what):
        value = graph.constant(self._graph_def, node.input[place])
        found = None if value is None else value.item()
        found = found.decode() if isinstance(found, bytes) else found
        if found != told:
            raise Refused(f"the graph has {found} for {what}, the objects tell {told}")

    def _compare_files(self, node, files):
        kind = _kind(node)
        if kind not in _READERS:
            raise Refused(f"the graph has {kind} where the objects tell what opens the files")
        if kind == "FlatMap":
            if (files.cycle_length, files.block_length) != (1, 1):
                raise Refused("the graph reads the files one after another, the objects tell an interleave")
            return
        cycle = {"Interleave": -2, "ParallelInterleave": -5, "LegacyParallelInterleave": -4}[kind]
        if files.cycle_length >= 0:  # else the graph has the number that TensorFlow chose
            self._compare_value(node, cycle, files.cycle_length, "cycle_length")
        self._compare_value(node, cycle + 1, files.block_length, "block_length")

    def _compare_combined(self, node, combined):
        kind = {"Concatenate": "Concatenate"}.get(combined.op, "DirectedInterleave")
        inputs = [self._nodes[graph.name(ref)] for ref in node.input]
        inputs = inputs if combined.op == "Concatenate" else inputs[1:]
        if _kind(node) != kind or len(inputs) != len(combined.chains):
            raise Refused(f"the graph has {_kind(node)} of {len(inputs)} where the objects tell {kind}")
        for each, chain in zip(inputs, combined.chains):
            self.compare(each, chain)
