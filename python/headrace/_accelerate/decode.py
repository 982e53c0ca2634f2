"""Chains that decode a string feature, tf.io.parse_tensor or decode_raw and a shape, which the engine's parser does itself."""

import dataclasses

import tensorflow as tf

from . import decode_loops, graph
from .columns import Decode

_DECODERS = (*decode_loops.DECODERS, "DecodePaddedRaw")


def chains(part, ref, batched):
    """(ref behind the chain, Decode) of every chain that reads the string feature `ref`."""
    for node in part.users.of(ref):
        if node.op in _DECODERS and graph.key(node.input[0]) == graph.key(ref):
            if node.op == "ParseTensor" and batched:  # takes one string
                continue
            decode = _decoder(part.graph_def, node)
            if decode is not None:
                yield _shaped(part, graph.key(node.name), decode, batched)
        elif node.op == "TensorListFromTensor" and batched:
            found = decode_loops.mapped(part, node)
            if found is not None:
                yield found


def _decoder(graph_def, node):
    if node.op in decode_loops.DECODERS:
        return decode_loops.decoder(node)
    length = graph.constant(graph_def, node.input[1])
    if length is None:
        return None
    dtype, little_endian = tf.as_dtype(node.attr["out_type"].type), node.attr["little_endian"].b
    return Decode(dtype, raw=True, little_endian=little_endian, fixed_length=int(length))


def _shaped(part, ref, decode, batched):
    """Follows the chain from the decoder's output as far as it only says the shape."""
    rows = 1 if batched else 0
    while True:
        node = graph.nodes_of(part.graph_def)[graph.name(ref)]
        known = graph.static_shape(node)
        if decode.shape is None and known is not None and -1 not in known[rows:]:  # set_shape
            decode = dataclasses.replace(decode, shape=known[rows:])
        user = part.users.only(ref, part.outputs)
        if user is None or user.op not in decode_loops.SHAPERS or graph.key(user.input[0]) != ref:
            return ref, decode
        shape = _shape_of(part.graph_def, user)
        if shape is None or decode.shape is not None or (batched and shape[:1] != [None]):
            return ref, decode
        if user.op == "Reshape" and shape[rows:].count(None) > (0 if batched else 1):
            return ref, decode
        decode = dataclasses.replace(decode, shape=shape[rows:], reshape=user.op == "Reshape")
        ref = graph.key(user.name)


def _shape_of(graph_def, node):
    """The shape that a Reshape or EnsureShape asks for, None for an unknown dimension; None when it is not constant."""
    if node.op == "EnsureShape":
        if node.attr["shape"].shape.unknown_rank:
            return None
        sizes = [dimension.size for dimension in node.attr["shape"].shape.dim]
    else:
        value = graph.constant(graph_def, node.input[1])
        if value is None:
            return None
        sizes = value.tolist()
    return [None if size < 0 else size for size in sizes]
