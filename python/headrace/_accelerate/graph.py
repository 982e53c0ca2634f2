"""GraphDefs of functions: looking at them, and running parts of them in another graph.

A *ref* names a tensor: "node:0", or "node" for its first output. Only TensorFlow's public graph functions are used here.
"""

import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

RANDOM = (
    *("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "RandomGamma", "RandomPoissonV2"),
    *("Multinomial", "RandomShuffle", "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"),
    "ParameterizedTruncatedNormal",
)
GENERATOR = ("RngReadAndSkip", "RngSkip", "StatefulUniform", "StatefulUniformInt", "StatefulStandardNormalV2")
PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
_READS = (  # marked as stateful, but nobody notices whether they run
    *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarHandleOp", "VarIsInitializedOp", "VariableShape"),
    *("LookupTableFind", "LookupTableFindV2", "LookupTableSizeV2", "HashTableV2", "AnonymousHashTable", "Placeholder", "NoOp"),
)
_ACTS = (  # do something, but leave no state behind: may happen for another batch, on another thread
    *("Assert", "CheckNumerics", "CheckNumericsV2", "Print", "PrintV2"),
    *("While", "If", "Case", "PartitionedCall", "StatefulPartitionedCall"),
)


def key(ref):
    """The ref with its output number."""
    return ref if ":" in ref else ref + ":0"


def name(ref):
    """The name of the node of a ref or of a control input."""
    return ref.split(":")[0].lstrip("^")


def data_inputs(node):
    return [ref for ref in node.input if not ref.startswith("^")]


def has_effect(node):
    """Whether the node must run although nobody reads it."""
    op = op_def_registry.get(node.op)
    return node.op == "NoOp" or (op is not None and op.is_stateful and node.op not in ("Placeholder", *RANDOM))


def acting(graph_def):
    """Control refs of the nodes that must run whenever the function is called."""
    return ["^" + node.name for node in graph_def.node if has_effect(node) and node.op not in _READS]


def nodes_of(graph_def):
    return {node.name: node for node in graph_def.node}


def needed(graph_def, refs, cuts=()):
    """{name: node} of what the refs depend on when the tensors `cuts` are given.

    Control inputs count only when the node has an effect: functions traced by tf.function wait for their arguments.
    """
    nodes, cuts, kept = nodes_of(graph_def), {key(cut) for cut in cuts}, {}
    todo = [ref for ref in refs if ref.startswith("^") or key(ref) not in cuts]
    while todo:
        node = nodes[name(todo.pop())]
        if node.name in kept:
            continue
        kept[node.name] = node
        for ref in node.input:
            if not ref.startswith("^"):
                todo += [ref] if key(ref) not in cuts else []
            elif has_effect(nodes[ref[1:]]):
                todo.append(ref)
    return kept


def replay(graph_def, refs, given, also=()):
    """The tensors `refs` in the current graph, computed from `given`, {ref: tensor}; only what is needed is imported.

    The nodes of the control refs `also` run before the tensors are there.
    """
    given = {key(ref): tensor for ref, tensor in given.items()}
    kept = needed(graph_def, [*refs, *also], given)
    part = graph_pb2.GraphDef(library=graph_def.library, versions=graph_def.versions)
    for node in graph_def.node:
        if node.name in kept:
            copy = part.node.add()
            copy.CopyFrom(node)
            copy.attr.pop("_class", None)  # colocation with nodes that are not imported
            copy.attr.pop("_output_shapes", None)  # may have the rows of a whole batch, and this is a part of one
            del copy.input[:]
            copy.input.extend(ref for ref in node.input if not ref.startswith("^") or ref[1:] in kept)
    read = {key(ref) for node in part.node for ref in data_inputs(node)}
    wanted = list(dict.fromkeys(key(ref) for ref in refs if key(ref) not in given))
    found = []
    if wanted or also:
        inputs = {ref: tf.identity(tensor) for ref, tensor in given.items() if ref in read}
        names = [*wanted, *(ref[1:] for ref in also)]
        found = tf.graph_util.import_graph_def(part, inputs, return_elements=names, name="user")
    tensors = {**given, **dict(zip(wanted, found))}
    if not also:
        return [tensors[key(ref)] for ref in refs]
    with tf.control_dependencies(found[len(wanted) :]):
        return [tf.identity(tensors[key(ref)]) for ref in refs]


def constant(graph_def, ref):
    """The value as NumPy when it depends on no input, else None."""
    node = nodes_of(graph_def)[name(ref)]
    if node.op == "Const":
        return tf.make_ndarray(node.attr["value"].tensor)
    depends = needed(graph_def, [ref]).values()
    if any(node.op == "Placeholder" or has_effect(node) or node.op in RANDOM for node in depends):
        return None
    return tf.function(lambda: replay(graph_def, [ref], {})[0], autograph=False)().numpy()


def reached(graph_def, nodes):
    """The nodes, and those of every function that they call."""
    library, seen, found, todo = {f.signature.name: f for f in graph_def.library.function}, set(), [], list(nodes)
    while todo:
        node = todo.pop()
        found.append(node)
        for attribute in node.attr.values():
            called = [attribute.func.name] if attribute.HasField("func") else [f.name for f in attribute.list.func]
            for function in called:
                if function in library and function not in seen:
                    seen.add(function)
                    todo += library[function].node_def
    return found


def effects(nodes):
    """Names of the ops among the nodes that may write state which outlives the call."""
    harmless = (*_READS, *_ACTS, *RANDOM, *GENERATOR, *PYTHON)
    found = {node.op for node in nodes if node.op not in harmless}
    return sorted(op for op in found if op_def_registry.get(op) is None or op_def_registry.get(op).is_stateful)


def static_shape(node, output=0):
    """Dimensions that are known at tracing, -1 for an unknown one; None without a rank."""
    shapes = node.attr["_output_shapes"].list.shape
    if len(shapes) <= output or shapes[output].unknown_rank:
        return None
    return [dimension.size for dimension in shapes[output].dim]


class Users:
    """Who reads what in a part of a graph."""

    def __init__(self, nodes):
        self._readers = {}
        for node in nodes:
            for ref in data_inputs(node):
                self._readers.setdefault(key(ref), []).append(node)

    def of(self, ref):
        """The nodes that read the tensor, once per input."""
        return self._readers.get(key(ref), [])

    def only(self, ref, outputs):
        """The one node that reads the tensor, when there is one and it is no output."""
        readers = self.of(ref)
        return readers[0] if len(readers) == 1 and key(ref) not in outputs else None
