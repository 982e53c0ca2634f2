"""tf.map_fn over the strings of a batch, as a loop in the graph: what it does to each string."""

import dataclasses

import tensorflow as tf

from . import graph
from .columns import Decode

DECODERS = ("ParseTensor", "DecodeRaw")
SHAPERS = ("Reshape", "EnsureShape")


def decoder(node):
    """The Decode of one of DECODERS, without a shape."""
    dtype = tf.as_dtype(node.attr["out_type"].type)
    if node.op == "ParseTensor":
        return Decode(dtype, raw=False)
    return Decode(dtype, raw=True, little_endian=node.attr["little_endian"].b)


def mapped(part, source):
    """(ref of the stacked result, Decode) when the strings that `source` makes a list of are decoded one by one, or None.

    The loop takes string i, decodes it and puts it in place i of the result, for i from 0 on.
    """
    loop = part.users.only(graph.key(source.name), part.outputs)
    if loop is None or loop.op not in ("While", "StatelessWhile"):
        return None
    body = _Body(part.graph_def, loop)
    taken = [place for place, ref in enumerate(loop.input) if graph.name(ref) == source.name]
    for place in range(len(body.results)):
        decode = body.decoded(place, taken[0])
        stack = part.users.only(f"{loop.name}:{place}", part.outputs)
        if decode is not None and stack is not None and stack.op == "TensorListStack" and _counts_up(part, loop, body, place):
            known = graph.static_shape(stack)
            if decode.shape is None and known is not None and -1 not in known[1:]:
                decode = dataclasses.replace(decode, shape=known[1:])
            return graph.key(stack.name), decode
    return None


def _counts_up(part, loop, body, place):
    """Whether the index with which the loop writes result `place` starts at 0 and grows by 1."""
    index = body.index_of(place)
    start = graph.constant(part.graph_def, loop.input[index])
    return start is not None and int(start) == 0 and body.adds_one(index)


class _Body:
    """The body of a While as an expression over its arguments."""

    def __init__(self, graph_def, loop):
        definition = next(f for f in graph_def.library.function if f.signature.name == loop.attr["body"].func.name)
        self._arguments = [argument.name for argument in definition.signature.input_arg]
        self._nodes = {node.name: node for node in definition.node_def}
        self.results = [definition.ret[result.name] for result in definition.signature.output_arg]

    def _node(self, ref):
        """The node behind a ref of the body ("node:output:0"), Identities passed by; None for an argument."""
        node = self._nodes.get(ref.split(":")[0])
        while node is not None and node.op == "Identity":
            ref = node.input[0]
            node = self._nodes.get(ref.split(":")[0])
        return node

    def _argument(self, ref):
        """The place of the argument that a ref is, or None."""
        while ref not in self._arguments:
            node = self._nodes.get(ref.split(":")[0])
            if node is None or node.op != "Identity":
                return None
            ref = node.input[0]
        return self._arguments.index(ref)

    def _constant(self, ref):
        node = self._node(ref)
        return tf.make_ndarray(node.attr["value"].tensor) if node is not None and node.op == "Const" else None

    def _writer(self, place):
        node = self._node(self.results[place])
        is_writer = node is not None and node.op == "TensorListSetItem" and self._argument(node.input[0]) == place
        return node if is_writer else None

    def index_of(self, place):
        """The argument that is the index with which result `place` is written."""
        return self._argument(self._writer(place).input[1])

    def adds_one(self, place):
        node = self._node(self.results[place])
        if node is None or node.op not in ("AddV2", "Add"):
            return False
        one = self._constant(node.input[1])
        return self._argument(node.input[0]) == place and one is not None and int(one) == 1

    def decoded(self, place, source):
        """The Decode when result `place` at index i is a chain over item i of the list that argument `source` is."""
        writer = self._writer(place)
        if writer is None or self._argument(writer.input[1]) is None:
            return None
        shapes, node = [], self._node(writer.input[2])
        while node is not None and node.op in SHAPERS:
            shapes.append(node)
            node = self._node(node.input[0])
        if node is None or node.op not in DECODERS or len(shapes) > 1:
            return None
        taker = self._node(node.input[0])
        if taker is None or taker.op != "TensorListGetItem" or self._argument(taker.input[0]) != source:
            return None
        if self._argument(taker.input[1]) != self._argument(writer.input[1]):
            return None
        decode = decoder(node)
        for shaper in shapes:
            if shaper.op == "EnsureShape" and not shaper.attr["shape"].shape.unknown_rank:
                sizes = [dimension.size for dimension in shaper.attr["shape"].shape.dim]
            else:
                sizes = self._constant(shaper.input[1]) if shaper.op == "Reshape" else None
            if sizes is None:
                return None
            shape = [None if size < 0 else int(size) for size in sizes]
            decode = dataclasses.replace(decode, shape=shape, reshape=shaper.op == "Reshape")
        return decode
