"""Functions as one flat GraphDef: calls are inlined, harmless conditions become Selects, packed results are unpacked."""

import dataclasses

from tensorflow.core.framework import graph_pb2, node_def_pb2, tensor_shape_pb2
from tensorflow.python.framework import function_def_to_graph

from . import graph

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_CONDITIONS = ("If", "StatelessIf")
# Ops that give a value for every input, at little cost: both branches of a condition made of them can be computed. As in
# random_flip_left_right, whose condition tf.vectorized_map cannot take.
TOTAL = (
    *("Identity", "Const", "Placeholder", "NoOp", "ReverseV2", "Transpose", "Cast", "Mul", "Add", "AddV2", "Sub", "Maximum"),
    *("Minimum", "Neg", "Exp", "Tanh", "Sqrt", "Square", "ZerosLike", "OnesLike", "Shape", "ExpandDims", "Select", "SelectV2"),
    *("AdjustContrastv2", "AdjustHue", "AdjustSaturation", "ClipByValue"),
)


@dataclasses.dataclass
class Flat:
    """A function: `results` of `graph_def` from the placeholders `arguments` and `captures`."""

    graph_def: graph_pb2.GraphDef
    arguments: list  # names of placeholders
    captures: dict  # name of placeholder -> live tensor
    results: list  # refs, as the next function of a program takes them: ragged and sparse ones packed into variants
    functions: tuple  # what was flattened, kept alive

    @property
    def outputs(self):
        """The refs of the results; of ragged and sparse ones their components."""
        return _unpacked(self.graph_def, self.results)

    def given(self, *arguments):
        """{ref: tensor} of the arguments and captures, for graph.replay in a function that is being traced."""
        return {**dict(zip(self.arguments, arguments)), **self.captures}


def flatten(function, with_conditions=False):
    """The Flat of a ConcreteFunction or LibraryFunction; with_conditions leaves conditions as they are."""
    graph_def = function.graph.as_graph_def(add_shapes=True)
    if not graph_def.library.function and getattr(function, "library", None) is not None:
        graph_def.library.CopyFrom(function.library)
    inliner = _Inliner(graph_def, with_conditions)
    graph_def = inliner.run()
    names = [tensor.op.name for tensor in function.inputs]
    count = len(names) - len(function.captured_inputs)
    results = [inliner.resolve(tensor.name) for tensor in function.outputs]
    return Flat(graph_def, names[:count], dict(zip(names[count:], function.captured_inputs)), results, (function,))


def compose(flats):
    """One Flat that calls each with the results of the one before it."""
    if len(flats) == 1:
        return flats[0]
    nodes, captures, library, results = [], {}, {}, None
    for place, flat in enumerate(flats):
        prefix = f"map{place}/"
        sources = {} if place == 0 else dict(zip(flat.arguments, results))
        for node in flat.graph_def.node:
            copy = node_def_pb2.NodeDef()
            copy.CopyFrom(node)
            copy.name = prefix + node.name
            del copy.input[:]
            copy.input.extend("^" + prefix + ref[1:] if ref.startswith("^") else prefix + ref for ref in node.input)
            if node.name in sources:
                copy = node_def_pb2.NodeDef(name=copy.name, op="Identity", input=[sources[node.name]])
                copy.attr["T"].CopyFrom(node.attr["dtype"])
                copy.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
            nodes.append(copy)
        captures.update({prefix + name: tensor for name, tensor in flat.captures.items()})
        library.update({function.signature.name: function for function in flat.graph_def.library.function})
        results = [prefix + ref for ref in flat.results]
    graph_def = graph_pb2.GraphDef(node=nodes, versions=flats[0].graph_def.versions)
    graph_def.library.function.extend(library.values())
    arguments = ["map0/" + name for name in flats[0].arguments]
    return Flat(graph_def, arguments, captures, results, tuple(function for flat in flats for function in flat.functions))


def without_identities(flat):
    """The Flat with every Identity passed by, unless it waits for something or knows more of the shape."""
    nodes = graph.nodes_of(flat.graph_def)

    def says_more(identity, ref):
        known = graph.static_shape(identity)
        before = graph.static_shape(nodes[graph.name(ref)], int(graph.key(ref).split(":")[1]))
        return known is not None and (before is None or any(b < 0 <= k for k, b in zip(known, before)))

    def origin(ref):
        node = nodes[graph.name(ref)]
        while node.op == "Identity":
            waits = any(r.startswith("^") and graph.has_effect(nodes[r[1:]]) for r in node.input)
            if waits or says_more(node, node.input[0]):
                break
            ref, node = node.input[0], nodes[graph.name(node.input[0])]
        return graph.key(ref)

    graph_def = graph_pb2.GraphDef()
    graph_def.CopyFrom(flat.graph_def)
    for node in graph_def.node:
        inputs = [ref if ref.startswith("^") else origin(ref) for ref in node.input]
        del node.input[:]
        node.input.extend(inputs)
    return dataclasses.replace(flat, graph_def=graph_def, results=[origin(ref) for ref in flat.results])


class _Inliner:
    def __init__(self, graph_def, with_conditions):
        self._graph_def = graph_def
        self._library = {f.signature.name: f for f in graph_def.library.function}
        self._with_conditions = with_conditions
        self._aliases = {}  # output of an inlined node -> the tensor that it is now

    def resolve(self, ref):
        ref = graph.key(ref)
        while ref in self._aliases:
            ref = self._aliases[ref]
        return ref

    def run(self):
        nodes = list(self._graph_def.node)
        while any(self._is_inlined(node) for node in nodes):
            nodes = self._round(nodes)
        return graph_pb2.GraphDef(node=nodes, library=self._graph_def.library, versions=self._graph_def.versions)

    def _round(self, nodes):
        made, effects = [], {}
        for node in nodes:
            if not self._is_inlined(node):
                made.append(node)
                continue
            effects[node.name] = []
            if node.op in _CALLS:
                results = self._body(node, node.attr["f"].func.name, graph.data_inputs(node), node.name, made, effects)
                self._aliases.update({f"{node.name}:{k}": result for k, result in enumerate(results)})
            else:
                self._select(node, made, effects)
        for node in made:
            inputs = []
            for ref in node.input:
                if not ref.startswith("^"):
                    inputs.append(self.resolve(ref))
                else:
                    inputs += ["^" + name for name in effects[ref[1:]]] if ref[1:] in effects else [ref]
            del node.input[:]
            node.input.extend(inputs)
        return made

    def _is_inlined(self, node):
        if node.op in _CALLS:
            return node.attr["f"].func.name in self._library
        return node.op in _CONDITIONS and not self._with_conditions and all(map(self._is_total, _branches(node)))

    def _is_total(self, function):
        return function in self._library and all(node.op in TOTAL for node in self._library[function].node_def)

    def _body(self, call, function, arguments, prefix, made, effects):
        """Appends the nodes of a function; the refs of its results."""
        definition = self._library[function]
        body, flat_names = function_def_to_graph.function_def_to_graph_def(definition)
        parameters = [argument.name for argument in definition.signature.input_arg]
        for node in body.node:
            copy = node_def_pb2.NodeDef()
            copy.CopyFrom(node)
            copy.name = f"{prefix}/{node.name}"
            del copy.input[:]
            if node.name in parameters:
                copy = node_def_pb2.NodeDef(name=copy.name, op="Identity", input=[arguments[parameters.index(node.name)]])
                copy.attr["T"].CopyFrom(node.attr["dtype"])
            else:
                copy.input.extend(("^" if ref.startswith("^") else "") + f"{prefix}/{ref.lstrip('^')}" for ref in node.input)
                if graph.has_effect(node):
                    effects[call.name].append(copy.name)
            made.append(copy)
        return [f"{prefix}/{flat_names[definition.ret[result.name]]}" for result in definition.signature.output_arg]

    def _select(self, node, made, effects):
        """A condition as Selects: the first version of the op, whose condition may be a vector (SelectV2 broadcasts)."""
        condition, *arguments = graph.data_inputs(node)
        sides = [
            self._body(node, function, arguments, f"{node.name}/{side}", made, effects)
            for side, function in zip(("then", "else"), _branches(node))
        ]
        shapes = node.attr["_output_shapes"].list.shape
        for k, (yes, no) in enumerate(zip(*sides)):
            select = node_def_pb2.NodeDef(name=f"{node.name}/select{k}", op="Select", input=[condition, yes, no])
            select.attr["T"].type = node.attr["Tout"].list.type[k]
            shape = shapes[k] if shapes else tensor_shape_pb2.TensorShapeProto(unknown_rank=True)
            select.attr["_output_shapes"].list.shape.add().CopyFrom(shape)
            made.append(select)
            self._aliases[f"{node.name}:{k}"] = f"{select.name}:0"


def _branches(node):
    return [node.attr[name].func.name for name in ("then_branch", "else_branch")]


def _unpacked(graph_def, outputs):
    """tf.data packs ragged and sparse results into variants; the refs of what goes into the packing instead."""
    nodes, refs = graph.nodes_of(graph_def), []
    for ref in outputs:
        node = nodes[graph.name(ref)]
        while node.op == "Identity":
            node = nodes[graph.name(node.input[0])]
        if node.op == "RaggedTensorToVariant":
            refs += [node.input[-1], *node.input[:-1]]
        elif node.op == "SerializeSparse":
            refs += list(node.input)
        else:
            refs.append(ref)
    return [graph.key(ref) for ref in refs]
