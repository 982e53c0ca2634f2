"""headrace for TensorFlow and Keras.

    train = headrace.TFRecordDataset(...).shuffle(2000).batch(1024, drop_remainder=True).parse(features)
    strategy = tf.distribute.MirroredStrategy()
    model.fit(headrace.tensorflow.distribute(train, strategy, structure=("image", "label")), epochs=10)

`distribute` gives a distributed dataset for Keras and for custom loops, `dataset` a tf.data.Dataset. `accelerate` takes a
tf.data program over, `doctor` says what limits one. `BackupAndRestore` and `checkpointable` save where the data stands
together with the model. `TrainingReport` says for each epoch of fit() what the input cost. `check_routes` tells how batches reach
this TensorFlow, `recommended_environment` what it should find in the environment (before this import:
`headrace.recommended_environment`). TensorFlow 2.16 or later is imported with this module, and by nothing else in headrace.
"""

import logging
from typing import NamedTuple

import tensorflow as tf

from ._tf_checkpoint import checkpointable
from ._tf_dataset import make_dataset, make_zipped
from ._tf_elements import Elements
from ._tf_recipe import Recipe, batch_size, slice_rows
from ._tf_place import compare_streams, place_of, share_out
from .errors import ArgumentError
from .gpu_environment import recommended_environment
from .settings import value_of
from .zipped import ZippedDataset

__all__ = [
    *("BackupAndRestore", "TrainingReport", "accelerate", "check_routes", "checkpointable", "dataset"),
    *("distribute", "doctor", "recommended_environment"),
]

_logger = logging.getLogger("headrace.tensorflow")
_ROUTES = ("auto", "direct", "dataset")


def distribute(pipeline, strategy, structure=None, map=None, map_device=None, map_rows="independent", route="auto"):
    """A distributed dataset: each element holds one slice of a global batch per replica of `strategy`.

    Keras' fit, evaluate and predict take it as it is; so does `for x in ds: strategy.run(step, args=(x,))`. Inside a
    tf.function, call next() on an iterator made outside.

    Args:
        pipeline: a headrace Dataset with batch and parse. Its batch size is the global one; without prefetch_to_device
            the batch is shared out among the replicas of `strategy`. Zipped ones go by tf.data, see dataset().
        strategy: a tf.distribute strategy of this process (MirroredStrategy, OneDeviceStrategy), or a
            MultiWorkerMirroredStrategy: every process then declares the same pipeline, orders the same stream and parses the rows of
            its own replicas; that they do is proved here, for which all have to call distribute().
        structure: the nested tuple or dict the training loop wants, see headrace.structure; None: the dict of all columns.
        map: a function of TensorFlow ops, called as tf.data's map calls it, with what one replica gets. Traced once; runs
            ahead of the step on the replica's device. A parameter named `seed` gets int32 [2], a pure function of the
            shuffle's seed, the epoch, the number of the global batch and the replica.
        map_device: "host" runs `map` on the host; None on each replica's device.
        map_rows: "dependent" when `map` mixes rows: it is then called once, with the whole global batch.
        route: "direct" or "dataset" (by tf.data) forces one way; "auto" takes the direct one where it works. The
            environment variable HEADRACE_TF_ROUTE stands for "auto".

    Returns:
        A tf.distribute.DistributedDataset with map(fn), prefetch(n), element_spec and cardinality.

    Raises:
        ValueError: for a pipeline that was not batched and parsed, whose number of devices is not the strategy's, or whose
            batch cannot be shared out evenly.
    """
    _check_choice("map_rows", map_rows, ("independent", "dependent"))
    _check_choice("map_device", map_device, (None, "host"))
    place = place_of(strategy)
    if isinstance(pipeline, ZippedDataset):
        return _zipped(pipeline, strategy, place, structure, map, route)
    chosen = _route(route)
    if chosen.name != "direct":
        _warn_of_tf_data(chosen.reason)
    batch_size(pipeline)  # refuses what has no batches of its own
    pipeline.refuse_cuda("distribute")
    functions = () if map is None else (map,)
    if chosen.name == "dataset":
        if not place.is_whole:
            raise ArgumentError("route='dataset': feeds strategies of one process; the direct route feeds several")
        return _by_dataset(make_dataset(pipeline, structure, functions), strategy)
    pipeline = share_out(pipeline, place)
    elements = Elements(pipeline, structure, slice_rows(pipeline, place.replicas))
    recipe = Recipe(
        pipeline,
        place.devices,
        elements,
        map_device=map_device,
        dependent=map_rows == "dependent",
        route=f"TensorFlow {chosen.version}, direct: {chosen.reason}",
    )
    compare_streams(strategy, pipeline, place)
    from ._tf_direct import DirectDataset

    return DirectDataset(recipe.with_functions(*functions))


def dataset(pipeline, structure=None, map=None):
    """A tf.data.Dataset of global batches, for everything that wants one. Each iterator reads the data by itself.

    Args:
        pipeline: a headrace Dataset with batch and parse. One with prefetch_to_device over several devices is joined
            again, by a copy. Of zipped ones each element is a tuple.
        structure, map: as in distribute(); the function sees the global batch. Of zipped datasets `structure` is a tuple with
            one for each, and the function takes no seed.

    Returns:
        A tf.data.Dataset whose cardinality is known where the pipeline's is. It cannot be saved in a tf.train.Checkpoint.
    """
    if isinstance(pipeline, ZippedDataset):
        return make_zipped(pipeline, structure, map)
    pipeline.refuse_cuda("dataset")
    return make_dataset(pipeline, structure, () if map is None else (map,))


def accelerate(dataset, strategy=None, verify=32, seed=None, random="seeded", strict=False, explain=False):
    """A tf.data program, taken over: headrace reads, orders, batches and parses, TensorFlow does what is left on batches.

    Nothing is guessed. A program that is not understood for sure comes back as it is, with one warning that says why.
    What is taken over is checked on the first records: the user's own functions against what replaces them.

    Args:
        dataset: a tf.data.Dataset that reads TFRecord files, parses Examples and batches.
        strategy: a tf.distribute strategy of this process: the result is what distribute() gives.
        verify: records to compare, >= 1. Functions of batches are compared on one batch.
        seed: int; for shuffles without a seed and for random numbers. None draws one now (.takeover.source shows it).
        random: "seeded" draws the random numbers of the functions from the seed, the epoch and the number of the batch: a
            run with the same seed, or a resumed one, repeats them. "tensorflow" leaves them as they are.
        strict: raise instead of giving the dataset back.
        explain: print the account.

    Returns:
        A tf.data.Dataset with the same element_spec and the same values, or the object of distribute(). Its attribute
        `takeover` is the account: what moved, what stayed, what is not as before, the check, the equivalent program.

    Raises:
        ValueError: with strict, for a program that is not taken over.
    """
    from ._accelerate import accelerate

    return accelerate(dataset, strategy, verify, seed, random, strict, explain)


def doctor(dataset, strategy=None, step_time=None, verify=False):
    """What limits a tf.data program, why, and what each fix gains.

    Reads the program, runs it for a second and its steps one after another for a third of a second each, the user's own
    functions among them. What accelerate() would make of it is tried, too. The dataset itself stays as it is; a cache in a file is begun as in training.

    Args:
        dataset: a tf.data.Dataset.
        strategy: the tf.distribute strategy that it is for: whether its batches can be shared out.
        step_time: seconds that a training step takes with its batch at hand. Tells whether the input limits at all; where
            it does not, faults of speed are left out.
        verify: apply each fix that the doctor can apply, run both programs in turn, and print predicted against achieved.

    Returns:
        A Diagnosis: `input_bound`, `limit`, `findings` (cause, evidence, fix as code, predicted and achieved gain), `facts`;
        `program` is the corrected tf.data program, `takeover` what accelerate() would move and leave or why it would not,
        `equivalent` the same program for headrace, as source. str() is a report.

    Raises:
        ValueError: dataset is no tf.data.Dataset or gives no batch, step_time is not positive.
    """
    from ._doctor.tf_doctor import doctor

    return doctor(dataset, strategy, step_time, verify)


def __getattr__(name):
    if name == "BackupAndRestore":  # imports Keras
        from ._tf_backup import BackupAndRestore

        return BackupAndRestore
    if name == "TrainingReport":
        from ._tf_report import TrainingReport

        return TrainingReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Route(NamedTuple):
    """How batches reach TensorFlow.

    Attributes:
        name: "direct", which is the best one, or "dataset" (through tf.data).
        reason: why it is that one.
        version: of TensorFlow.
    """

    name: str
    reason: str
    version: str


def check_routes():
    """The Route that route="auto" takes with this TensorFlow; tries what the direct one is made of."""
    return _route("auto")


def _fault_of_direct():
    """Why the direct route cannot be taken; "" when it can."""
    try:
        from ._tf_direct import self_test

        self_test()
    except (ImportError, AttributeError, TypeError) as error:
        return f"the direct route does not work with TensorFlow {tf.__version__}: {error}"
    return ""


def _route(asked):
    _check_choice("route", asked, _ROUTES)
    by = f"route={asked!r} asks for it"
    if asked == "auto":
        asked = value_of("HEADRACE_TF_ROUTE")
        by = f"HEADRACE_TF_ROUTE={asked} asks for it"
    if asked == "dataset":
        return Route(asked, by, tf.__version__)
    fault = _fault_of_direct()
    if fault and asked == "direct":
        raise RuntimeError(fault)
    if fault:
        return Route("dataset", fault, tf.__version__)
    return Route("direct", by if asked == "direct" else "it works here and is the best one", tf.__version__)


def _check_choice(parameter, value, choices):
    if value not in choices:
        raise ArgumentError(f"{parameter}={value!r}: must be one of {', '.join(repr(choice) for choice in choices)}")


def _warn_of_tf_data(reason):
    _logger.warning("batches go by tf.data, which costs 2 to 3 times the CPU of the direct route: %s", reason)


def _zipped(pipeline, strategy, place, structure, function, route):
    _check_choice("route", route, _ROUTES)
    if route == "direct" or not place.is_whole:
        raise ArgumentError("pipeline: zipped datasets go to strategies of one process, and by tf.data: route='dataset'")
    _warn_of_tf_data("so do zipped datasets always")
    return _by_dataset(make_zipped(pipeline, structure, function), strategy)


def _by_dataset(made, strategy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return strategy.experimental_distribute_dataset(made.with_options(options))
