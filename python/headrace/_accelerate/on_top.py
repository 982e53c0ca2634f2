"""Stages behind the batch that stay tf.data's: put on top of the dataset that the engine feeds."""

import tensorflow as tf
from tensorflow.python.data.util import structure


def put_on_top(dataset, stages):
    """The dataset with the stages behind it, as the user had them."""
    for stage in stages:
        dataset = _MAKERS[stage.op](dataset, stage)
    return dataset


def _called(dataset, stage, spec):
    """The stage's ConcreteFunction as a function of elements."""

    def function(*element):
        nested = element if isinstance(dataset.element_spec, tuple) else element[0]
        flat = stage.function(*structure.to_tensor_list(dataset.element_spec, nested))
        return structure.from_compatible_tensor_list(spec, flat)

    return tf.autograph.experimental.do_not_convert(function)


def _shuffle(dataset, stage):
    given = stage.arguments
    seed = None if (given["seed"], given["seed2"]) == (0, 0) else given["seed2"]
    return dataset.shuffle(given["buffer_size"], seed=seed, reshuffle_each_iteration=given["reshuffle"])


_MAKERS = {
    "Map": lambda dataset, stage: dataset.map(_called(dataset, stage, stage.spec)),
    "Filter": lambda dataset, stage: dataset.filter(_called(dataset, stage, tf.TensorSpec([], tf.bool))),
    "Shuffle": _shuffle,
    "Repeat": lambda dataset, stage: dataset.repeat(stage.arguments["count"]),
    "Take": lambda dataset, stage: dataset.take(stage.arguments["count"]),
    "Skip": lambda dataset, stage: dataset.skip(stage.arguments["count"]),
    "Shard": lambda dataset, stage: dataset.shard(stage.arguments["num_shards"], stage.arguments["index"]),
    "Unbatch": lambda dataset, stage: dataset.unbatch(),
    "Batch": lambda dataset, stage: dataset.batch(stage.arguments["batch_size"], stage.arguments["drop_remainder"]),
    "Cache": lambda dataset, stage: dataset.cache(stage.arguments["filename"]),
    "AssertCardinality": lambda dataset, stage: dataset.apply(
        tf.data.experimental.assert_cardinality(stage.arguments["count"])
    ),
}
