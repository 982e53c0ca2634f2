"""Random numbers of the user's functions, drawn from a seed: a repeated or resumed run draws the same."""

import tensorflow as tf

from . import graph

_MAKERS = {
    "RandomUniform": tf.random.stateless_uniform,
    "RandomStandardNormal": tf.random.stateless_normal,
    "TruncatedNormal": tf.random.stateless_truncated_normal,
}


def seeded_by_row(split):
    """The random nodes of a function of one record that can be drawn for a whole batch: their shapes are constants."""
    found = []
    for name in split.random:
        node = graph.nodes_of(split.flat.graph_def)[name]
        if all(graph.constant(split.flat.graph_def, ref) is not None for ref in _known_inputs(node)):
            found += [name] if node.op in (*_MAKERS, "RandomUniformInt") else []
    return found


def _known_inputs(node):
    return graph.data_inputs(node)[: 3 if node.op == "RandomUniformInt" else 1]


def draw_rows(split, names, rows, seed):
    """{name: draws [rows, …]} of the nodes of a function of one record, a pure function of the seed (int32 [2])."""
    draws = {}
    for place, name in enumerate(names):
        node = graph.nodes_of(split.flat.graph_def)[name]
        inputs = [graph.constant(split.flat.graph_def, ref) for ref in _known_inputs(node)]
        shape = tf.concat([[rows], tf.constant(inputs[0].tolist(), tf.int32)], 0)
        draws[name] = _draw(node, shape, inputs[1:], _fold_in(seed, place))
    return draws


def draw_batch(flat, given, seed):
    """{name: draws} of the random nodes of a function of batches; shapes may depend on the batch.

    Nodes of other kinds are left out: they draw as TensorFlow does.
    """
    draws = {}
    live = graph.needed(flat.graph_def, [*flat.outputs, *graph.acting(flat.graph_def)], given)
    order = [node for node in _sorted(flat.graph_def) if node.name in live]
    for place, node in enumerate(order):
        if node.op not in (*_MAKERS, "RandomUniformInt"):
            continue
        known = {**given, **{name + ":0": value for name, value in draws.items()}}
        shape, *limits = graph.replay(flat.graph_def, _known_inputs(node), known)
        draws[node.name] = _draw(node, shape, limits, _fold_in(seed, place))
    return draws


def unseeded(split, flats):
    """Names of the random ops that draw as TensorFlow does, although the others are drawn from the seed."""
    names = [] if split.batched else seeded_by_row(split)
    nodes = graph.nodes_of(split.flat.graph_def)
    seeded = (*_MAKERS, "RandomUniformInt")
    found = {nodes[name].op for name in split.random if not (nodes[name].op in seeded if split.batched else name in names)}
    found |= set(split.hidden_random)
    for flat in flats:
        top = {node.op for node in flat.graph_def.node}
        inside = {node.op for node in graph.reached(flat.graph_def, flat.graph_def.node)[len(flat.graph_def.node) :]}
        found |= ((top - set(seeded)) | inside) & {*graph.RANDOM, *graph.GENERATOR}
    return sorted(found)


def draws_nothing(flat):
    """Whether a function has no random numbers."""
    ops = {node.op for node in graph.reached(flat.graph_def, flat.graph_def.node)}
    return not ops & {*graph.RANDOM, *graph.GENERATOR}


def _fold_in(seed, number):
    return tf.random.experimental.stateless_fold_in(seed, number)


def _draw(node, shape, limits, seed):
    if node.op == "RandomUniformInt":
        low, high = (tf.convert_to_tensor(limit) for limit in limits)
        return tf.random.stateless_uniform(shape, seed, low, high, dtype=low.dtype)
    return _MAKERS[node.op](shape, seed, dtype=tf.as_dtype(node.attr["dtype"].type))


def _sorted(graph_def):
    """The nodes, each behind those that it reads."""
    nodes, done, order = graph.nodes_of(graph_def), set(), []
    todo = [(node, False) for node in reversed(graph_def.node)]
    while todo:
        node, is_ready = todo.pop()
        if is_ready:
            order.append(node)
        elif node.name not in done:
            done.add(node.name)
            todo.append((node, True))
            todo += [(nodes[graph.name(ref)], False) for ref in node.input]
    return order
