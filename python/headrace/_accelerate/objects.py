"""Reading a tf.data program from its dataset objects.

The objects keep what users passed under private names, which have been the same from TensorFlow 2.16 to 2.21. A class or a
name that is not known is a refusal, and witness.py compares what was read with the serialized graph.
"""

import re

import tensorflow as tf

from .chain import Chain, Stage
from .combined import read_combined
from .files import read_files
from .refusal import Refused

# Class without "_", "Parallel" and "Dataset" -> (op of the Stage, {argument: attribute}).
_CLASSES = {
    "Map": ("Map", {}),
    "MapAndBatch": ("MapAndBatch", {"batch_size": "_batch_size_t", "drop_remainder": "_drop_remainder_t"}),
    "Filter": ("Filter", {}),
    "Shuffle": (
        "Shuffle",
        {"buffer_size": "_buffer_size", "seed": "_seed", "seed2": "_seed2", "reshuffle": "_reshuffle_each_iteration"},
    ),
    "ShuffleAndRepeat": (
        "ShuffleAndRepeat",
        {"buffer_size": "_buffer_size", "count": "_count", "seed": "_seed", "seed2": "_seed2"},
    ),
    "Repeat": ("Repeat", {"count": "_count"}),
    "Take": ("Take", {"count": "_count"}),
    "Skip": ("Skip", {"count": "_count"}),
    "Shard": ("Shard", {"num_shards": "_num_shards", "index": "_index"}),
    "Batch": ("Batch", {"batch_size": "_batch_size", "drop_remainder": "_drop_remainder"}),
    "PaddedBatch": ("PaddedBatch", {"batch_size": "_batch_size", "drop_remainder": "_drop_remainder"}),
    "DenseToRagged": ("Map", {}),
    "Cache": ("Cache", {"filename": "_filename"}),
    "Unbatch": ("Unbatch", {}),
    "AssertCardinality": ("AssertCardinality", {"count": "_expected_cardinality"}),
    "IgnoreErrors": ("IgnoreErrors", {}),
    "ParseExample": ("ParseExample", {"features": "_features"}),
    "Prefetch": ("Prefetch", {}),
    "Options": ("Options", {}),
    "Restructured": ("Restructured", {}),
}
READERS = ("TFRecord", "Interleave", "ParallelInterleave", "FlatMap")
_FUNCTIONS = {"Map": "_map_func", "MapAndBatch": "_map_func", "Filter": "_predicate"}
_COMBINED = ("Concatenate", "DirectedInterleave")


def read(dataset):
    """The Chain of a tf.data.Dataset.

    Raises:
        Refused: naming what is not known.
    """
    stages = []
    while True:
        dataset = unwrapped(dataset)
        kind = kind_of(dataset)
        try:
            if kind in READERS:
                source = reader(dataset, kind)
                return Chain(source, [*source.file_stages, *reversed(stages)])
            if kind in _COMBINED:
                return Chain(read_combined(dataset, kind, read), stages[::-1])
            if kind not in _CLASSES:
                raise Refused(f"{type(dataset).__name__.lstrip('_')} is not known")
            stages.append(_stage(dataset, kind))
            dataset = dataset._input_dataset
        except AttributeError as error:
            missing = f"{type(dataset).__name__} of TensorFlow {tf.__version__} has no {error.name}"
            raise Refused(missing) from None


def plain(value):
    """A size, seed or name that a dataset keeps as a tensor, as int, bool, float or str."""
    if isinstance(value, tf.Tensor):
        if not hasattr(value, "numpy"):
            raise Refused("the dataset was made inside a tf.function, where its sizes are not known")
        value = value.numpy()
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    return value.decode() if isinstance(value, bytes) else value


def unwrapped(dataset):
    """The dataset itself, without what the TensorFlow 1 interface puts around it."""
    while type(dataset).__name__ == "DatasetV1Adapter":
        dataset = dataset._dataset
    return dataset


def kind_of(dataset):
    """The class of a dataset object without "_", "Parallel" and "Dataset"."""
    return re.sub(r"^_?(Parallel(?!Interleave))?|Dataset(V\d)?$", "", type(dataset).__name__)


def _stage(dataset, kind):
    op, attributes = _CLASSES[kind]
    arguments = {name: getattr(dataset, attribute) for name, attribute in attributes.items()}
    if kind != "ParseExample":
        arguments = {name: plain(value) for name, value in arguments.items()}
    function = getattr(dataset, _FUNCTIONS[kind]) if kind in _FUNCTIONS else None
    if kind == "MapAndBatch":
        arguments["sample_spec"] = function.output_structure
    elif kind == "DenseToRagged":
        function = dataset._mapped_dataset._map_func
    elif kind == "PaddedBatch":
        shapes = tf.nest.flatten(dataset._padded_shapes)
        arguments["padded_shapes"] = [[int(size) for size in shape.numpy()] for shape in shapes]
        arguments["padding_values"] = [plain(value) for value in tf.nest.flatten(dataset._padding_values)]
    return Stage(op, arguments, None if function is None else function.function, dataset.element_spec)


def reader(dataset, kind):
    """The Files of a dataset of one of the kinds READERS."""
    opener, compression, function = dataset, None, None
    if kind == "TFRecord":
        opener, compression = unwrapped(dataset._impl), plain(dataset._compression_type or "")
    else:
        function = opener._map_func.function
    source = read_files(unwrapped(opener._input_dataset), function, compression)
    if kind_of(opener) != "FlatMap":
        source.cycle_length, source.block_length = plain(opener._cycle_length), plain(opener._block_length)
    return source
