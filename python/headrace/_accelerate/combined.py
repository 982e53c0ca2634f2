"""Programs with several sources of records: concatenated, sampled, chosen."""

import numpy as np
import tensorflow as tf

from . import graph
from .chain import Combined
from .files import serialized
from .refusal import Refused

_MAX_CHOICES = 1 << 20


def read_combined(dataset, kind, read):
    """The Combined of a dataset of that kind; `read` reads each of its inputs."""
    if kind == "Concatenate":
        inputs = [dataset._input_dataset, dataset._dataset_to_concatenate]
        return Combined("Concatenate", [read(each) for each in inputs])
    chains = [read(each) for each in dataset._data_inputs]
    selector = dataset._selector_input
    arguments = {"stop_on_empty_dataset": bool(dataset._stop_on_empty_dataset)}
    if type(selector).__name__ == "_MapDataset":
        return Combined("Sample", chains, {**arguments, **_sampling(selector, len(chains))})
    arguments["choices"], arguments["endless"] = _choices(selector)
    if not arguments["endless"] and not arguments["stop_on_empty_dataset"]:
        raise Refused("choices that end, over datasets that may end before them")
    return Combined("Choose", chains, arguments)


def _sampling(selector, count):
    """Weights and seed of sample_from_datasets: a stateless draw from logits, by seeds from a random dataset."""
    batches = selector._input_dataset
    source = getattr(batches, "_input_dataset", None)
    if type(batches).__name__ != "_BatchDataset" or type(source).__name__ != "_RandomDataset":
        raise Refused("sampling with weights that change")
    function = selector._map_func.function
    graph_def = function.graph.as_graph_def()
    draws = [node for node in graph_def.node if node.op == "StatelessMultinomial"]
    if len(draws) != 1:
        raise Refused("the datasets are not chosen by sample_from_datasets")
    logits = graph.constant(graph_def, draws[0].input[0])
    if logits is None:
        place = [tensor.op.name for tensor in function.inputs].index(graph.name(draws[0].input[0]))
        logits = function.captured_inputs[place - (len(function.inputs) - len(function.captured_inputs))].numpy()
    if logits.shape != (1, count):
        raise Refused("the datasets are not chosen by sample_from_datasets")
    weights = np.exp(logits[0].astype(np.float64) - logits.max())
    return {
        "weights": [float(weight) for weight in weights],
        "seed": int(source._seed2),
        "rerandomize": bool(source._rerandomize),
    }


def _choices(selector):
    """(the choices, whether they are taken again from the first)."""
    if selector.cardinality() != tf.data.INFINITE_CARDINALITY:
        return _run(selector), False
    graph_def = serialized(selector)
    nodes = graph.nodes_of(graph_def)
    node = nodes[next(node for node in graph_def.node if node.op == "_Retval").input[0].split(":")[0]]
    while node.op in ("RewriteDataset", "OptionsDataset", "PrefetchDataset"):
        node = nodes[graph.name(node.input[0])]
    if node.op != "RepeatDataset":
        raise Refused("choices without an end that are not repeated")
    part = tf.compat.v1.GraphDef(versions=graph_def.versions, library=graph_def.library)
    part.node.extend(other for other in graph_def.node if other.op != "_Retval")

    def once():
        variant = tf.graph_util.import_graph_def(part, {}, return_elements=[graph.key(node.input[0])], name="")[0]
        return tf.data.experimental.from_variant(variant, selector.element_spec)

    variant = tf.function(lambda: tf.data.experimental.to_variant(once()), autograph=False)()
    return _run(tf.data.experimental.from_variant(variant, selector.element_spec)), True


def _run(selector):
    choices = [int(choice) for choice in selector.take(_MAX_CHOICES + 1).as_numpy_iterator()]
    if len(choices) > _MAX_CHOICES:
        raise Refused(f"more than {_MAX_CHOICES} choices")
    return choices
