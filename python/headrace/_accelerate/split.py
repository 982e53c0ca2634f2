"""The function of a program, cut in two: what the engine's parser does, and the rest."""

import dataclasses

import tensorflow as tf

from . import decode, graph
from .columns import Column
from .flatten import Flat, without_identities
from .fold import densify, fold
from .parse_ops import parsed_features
from .refusal import Refused


@dataclasses.dataclass
class Part:
    """What decode and fold look at: the part of the function that its results depend on."""

    graph_def: object
    outputs: tuple
    users: graph.Users


@dataclasses.dataclass
class Split:
    """A function as the columns that the engine delivers and the ops behind them."""

    flat: Flat  # outputs from the columns
    columns: list
    batched: bool  # the function takes a batch of records, not one
    random: list  # names of nodes that draw, outside of control flow
    ops: list  # names of the ops that are left

    @property
    def python(self):
        """Whether Python functions are among the rest."""
        return bool(set(self.ops) & set(graph.PYTHON))

    @property
    def hidden_random(self):
        """Ops that draw inside control flow, or with a state of their own."""
        nodes = graph.nodes_of(self.flat.graph_def)
        shown = [nodes[name].op for name in self.random]
        left = list(self.ops)
        for op in shown:
            left.remove(op)
        return sorted({op for op in left if op in (*graph.RANDOM, *graph.GENERATOR)})

    def given(self, tensors):
        """{ref: tensor} of the columns, for graph.replay; `tensors` is {name: tensor} of a batch or of one row."""
        given = {}
        for column in self.columns:
            given.update(column.given(tensors))
        return {**self.flat.given(), **given}

    def run(self, tensors, draws=None):
        """The outputs from the columns; `draws` gives the values of random nodes, {name: tensor}."""
        given = {**self.given(tensors), **{name + ":0": value for name, value in (draws or {}).items()}}
        return graph.replay(self.flat.graph_def, self.flat.outputs, given, graph.acting(self.flat.graph_def))


def split(flat):
    """The Split of a Flat whose argument is the serialized record.

    Raises:
        Refused: what is left needs the record itself, or changes state.
    """
    flat = without_identities(flat)
    parsed, batched = parsed_features(flat)
    roots = [*flat.outputs, *graph.acting(flat.graph_def)]
    part = Part(flat.graph_def, tuple(flat.outputs), graph.Users(graph.needed(flat.graph_def, roots).values()))
    columns = [column for feature in parsed for column in _columns(part, feature, batched)]
    refs = [ref for column in columns for ref in column.parts.values()]
    rest = graph.needed(flat.graph_def, roots, [*refs, *flat.captures])
    if flat.arguments[0] in rest:
        raise Refused("what is left of the function reads the serialized record itself")
    read = {graph.key(ref) for node in rest.values() for ref in graph.data_inputs(node)} | set(flat.outputs)
    columns = [column for column in columns if read & set(column.parts.values())]
    if not columns:
        raise Refused("the results do not depend on the records")
    _name(columns)
    nodes = graph.reached(flat.graph_def, rest.values())
    changing = graph.effects(nodes)
    if changing:
        raise Refused(f"the function changes state: {', '.join(changing)}")
    random = [node.name for node in flat.graph_def.node if node.name in rest and node.op in graph.RANDOM]
    return Split(flat, columns, batched, random, [node.op for node in nodes])


def _columns(part, feature, batched):
    """The column of a feature and those of the chains that decode it."""
    plain = Column(feature.key, feature, dict(feature.parts), batched)
    is_string = feature.kind == "fixed" and feature.dtype == tf.string and feature.shape == [] and feature.default is None
    columns = [plain]
    for ref, found in decode.chains(part, graph.key(feature.parts["dense"]), batched) if is_string else ():
        column = Column(feature.key, feature, {"dense": ref}, batched, found)
        fold(part, column)
        is_known = found.shape is not None and None not in found.shape
        # Records of other shapes are the user's business where ops look at each alone; an error where they are batched.
        if is_known or batched or (column.parts["dense"] in part.outputs and not part.users.of(column.parts["dense"])):
            columns.append(column)
    densify(part, plain)
    fold(part, plain)
    return columns


def _name(columns):
    """Names each column by its feature, a second one of the same feature otherwise."""
    taken = {f"{column.name}_lengths" for column in columns if column.parsed.in_list}
    for column in columns:
        number = 2
        while column.name in taken:
            column.name = f"{column.parsed.key}#{number}"
            number += 1
        taken.add(column.name)
