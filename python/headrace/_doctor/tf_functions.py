"""What the functions of a tf.data program do: which ops they reach, in every function that they call."""

import functools

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from .._accelerate import graph
from .._accelerate.files import serialized
from .._accelerate.parse_ops import PARSERS

DECODERS = ("ParseTensor", "DecodeRaw", "DecodePaddedRaw")
IMAGES = ("DecodeJpeg", "DecodePng", "DecodeImage", "DecodeAndCropJpeg")


def ops_of(step):
    """The ops that the function of a step reaches, as a frozenset of names."""
    return frozenset() if step.function is None else _ops(step.function)


@functools.lru_cache(maxsize=256)
def _ops(function):
    if not hasattr(function, "function"):  # one of ours
        return frozenset()
    graph_def = function.function.graph.as_graph_def()
    return frozenset(node.op for node in graph.reached(graph_def, graph_def.node))


def parses(step):
    return bool(ops_of(step) & set(PARSERS))


def decodes(step):
    """Whether the step makes arrays out of strings."""
    return bool(ops_of(step) & {*PARSERS, *DECODERS, *IMAGES})


def is_python(step):
    return bool(ops_of(step) & set(graph.PYTHON))


def source_is_python(dataset):
    """Whether the elements of a dataset come from Python."""
    try:
        graph_def = serialized(dataset)
    except tf.errors.OpError:
        return False
    return bool({node.op for node in graph.reached(graph_def, graph_def.node)} & {*graph.PYTHON, "GeneratorDataset"})


def draws(step):
    """Whether the step uses random numbers."""
    return bool(ops_of(step) & {*graph.RANDOM, *graph.GENERATOR})


def is_stateful(step):
    """Whether TensorFlow regards the function as stateful, and then runs it in order."""
    found = (op_def_registry.get(op) for op in ops_of(step) if op not in ("Placeholder", "Assert"))
    return any(op is not None and op.is_stateful for op in found)
