"""Which replicas of a strategy are in this process, and that all processes read the same stream."""

import hashlib
from typing import NamedTuple

import tensorflow as tf

from ._tf_recipe import declared
from .errors import ArgumentError


class Place(NamedTuple):
    """The replicas of this process among those of a strategy.

    Attributes:
        devices: of the replicas here, as TensorFlow names them.
        first: the place of the first of them among all.
        replicas: of all processes.
    """

    devices: tuple[str, ...]
    first: int
    replicas: int

    @property
    def is_whole(self):
        """Whether all replicas are here."""
        return self.replicas == len(self.devices)


def place_of(strategy):
    """The Place of this process. ValueError for a strategy whose processes cannot be told apart."""
    if not tf.distribute.has_strategy() and strategy is tf.distribute.get_strategy():  # TensorFlow's default, which names no device
        logical = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
        return Place((logical[0].name,), 0, 1)
    devices, replicas = tuple(strategy.extended.worker_devices), strategy.num_replicas_in_sync
    if replicas == len(devices):
        return Place(devices, 0, replicas)
    resolver = getattr(strategy, "cluster_resolver", None)
    if resolver is None or replicas % len(devices) != 0:
        raise ArgumentError(
            f"strategy: {type(strategy).__name__} has {replicas} replicas, {len(devices)} of them in this process; headrace "
            "feeds strategies of one process, and MultiWorkerMirroredStrategy with as many replicas in each"
        )
    # The chief comes before the workers.
    jobs = resolver.cluster_spec().as_dict()
    chiefs = len(jobs.get("chief", ())) if resolver.task_type == "worker" else 0
    return Place(devices, (chiefs + resolver.task_id) * len(devices), replicas)


def share_out(pipeline, place):
    """`pipeline`, whose batches go to all replicas; it delivers the slices of this process."""
    if declared(pipeline, "prefetch_to_device") is None:
        local = None if place.is_whole else range(place.first, place.first + len(place.devices))
        return pipeline.prefetch_to_device([f"/CPU:{replica}" for replica in range(place.replicas)], local=local)
    if not place.is_whole and pipeline.places != (place.first, len(place.devices), place.replicas):
        raise ArgumentError(
            f"pipeline: prefetch_to_device gives this process other rows than its replicas: leave it out, or name the "
            f"{place.replicas} devices of all processes and local=range({place.first}, {place.first + len(place.devices)})"
        )
    if pipeline.replicas != len(place.devices):
        raise ArgumentError(
            f"pipeline: prefetch_to_device names {pipeline.replicas} devices of this process, the strategy has "
            f"{len(place.devices)} replicas here"
        )
    return pipeline


def compare_streams(strategy, pipeline, place):
    """ValueError in all processes when one of them reads other files, or has other steps or seeds. Waits for all of them."""
    if place.is_whole:
        return
    with iter(pipeline) as running:
        state = running.state_dict()
    identity = " ".join((state["files"], state["spec"], str(state["epoch"])))
    ours = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:5], "little")  # so that no sum overflows

    @tf.function
    def add_up():
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(lambda: tf.constant(ours, tf.int64)), axis=None)

    # The sum is so many times one's own for all of them only when all are equal.
    if int(add_up()) != place.replicas * ours:
        raise ArgumentError(
            "pipeline: the processes do not read the same stream: files (names and sizes), steps or seeds differ; a shuffle needs "
            "a seed that is the same in all"
        )
