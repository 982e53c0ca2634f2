"""What a tf.train.Checkpoint saves of a dataset: its position."""

import json

import tensorflow as tf

from .errors import ArgumentError


class _CheckpointedPosition(tf.train.experimental.PythonState):
    def __init__(self, dataset):
        self._dataset = dataset

    def serialize(self):
        return json.dumps(self._dataset.state_dict())

    def deserialize(self, string_value):
        self._dataset.load_state_dict(json.loads(string_value))


def checkpointable(dataset):
    """What a tf.train.Checkpoint saves of a dataset: where its iteration stands.

        checkpoint = tf.train.Checkpoint(model=model, data=headrace.tensorflow.checkpointable(data))

    Restoring it makes the next iterator continue there; a checkpoint of a single iterator restores before its first next().

    Args:
        dataset: what distribute() made by its direct route, an iterator of it, or any object with state_dict() and
            load_state_dict().
    """
    return _CheckpointedPosition(resumable("dataset", dataset))


def resumable(parameter, dataset):
    if not hasattr(dataset, "state_dict") or not hasattr(dataset, "load_state_dict"):
        raise ArgumentError(
            f"{parameter}: {type(dataset).__name__} has no position to save; give what headrace.tensorflow.distribute() made "
            "by its direct route"
        )
    return dataset
