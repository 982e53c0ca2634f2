"""Saving model, epoch and the position of the data together: a Keras callback."""

import json
import os
import shutil
import tempfile

import keras

from ._tf_checkpoint import resumable
from .errors import ArgumentError

_FORMAT = 1
_NAME = "backup-"
_WEIGHTS = "model.weights.h5"


class BackupAndRestore(keras.callbacks.Callback):
    """As keras.callbacks.BackupAndRestore, and the training data goes on where it was: no batch is lost, none comes twice.

        data = headrace.tensorflow.distribute(train, strategy, structure=("image", "label"))
        model.fit(data, epochs=10, callbacks=[headrace.tensorflow.BackupAndRestore("backup", data, save_freq=1000)])

    Model, optimizer, epoch and position are one folder that appears as a whole or not at all; fit() with the same arguments,
    after the process died, continues from the newest one. The folder is removed when training has come to its end.

    Args:
        backup_dir: folder of the backups; made when it is not there.
        dataset: what fit() gets: what distribute() made, by its direct route.
        save_freq: "epoch", or a number of batches (a backup stands at each epoch's end, too). With steps_per_epoch, an epoch
            that continues in its middle runs that many steps again, over the batches that follow.
        delete_checkpoint: False keeps the last backup after training.

    Raises:
        ValueError: naming the argument; at the start of training also for a backup of other files or another pipeline.
    """

    def __init__(self, backup_dir, dataset, save_freq="epoch", delete_checkpoint=True):
        super().__init__()
        if save_freq != "epoch" and (isinstance(save_freq, bool) or not isinstance(save_freq, int) or save_freq < 1):
            raise ArgumentError(f'save_freq={save_freq!r}: must be "epoch" or a number of batches')
        self._directory = os.fspath(backup_dir)
        self._dataset = resumable("dataset", dataset)
        self._save_freq = save_freq
        self._delete = bool(delete_checkpoint)
        self._epoch = 0
        self._unsaved = 0  # batches since the last backup
        self._last_batch = -1

    def on_train_begin(self, logs=None):
        backups = _backups(self._directory)
        if backups:
            self._restore(os.path.join(self._directory, backups[-1]))

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._last_batch = -1

    def on_train_batch_end(self, batch, logs=None):
        self._unsaved += batch - self._last_batch  # several with steps_per_execution
        self._last_batch = batch
        if self._save_freq != "epoch" and self._unsaved >= self._save_freq:
            state = self._dataset.state_dict()
            ended = state.get("batches") == 0  # the data has no more for this epoch
            self._save(self._epoch + 1 if ended else self._epoch, state)

    def on_epoch_end(self, epoch, logs=None):
        self._save(epoch + 1, self._dataset.state_dict())

    def on_train_end(self, logs=None):
        if self._delete:
            for name in _backups(self._directory):
                shutil.rmtree(os.path.join(self._directory, name))

    def _save(self, epoch, state):
        self._unsaved = 0
        os.makedirs(self._directory, exist_ok=True)
        old = _backups(self._directory)
        made = tempfile.mkdtemp(prefix=".unfinished-", dir=self._directory)
        self.model.save_weights(os.path.join(made, _WEIGHTS))
        with open(os.path.join(made, "state.json"), "w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, "epoch": epoch, "data": state}, file)
        for name in (*os.listdir(made), ""):
            _sync(os.path.join(made, name))
        number = int(old[-1][len(_NAME) :]) + 1 if old else 0
        os.rename(made, os.path.join(self._directory, f"{_NAME}{number:09}"))
        _sync(self._directory)
        for name in old:
            shutil.rmtree(os.path.join(self._directory, name))

    def _restore(self, backup):
        with open(os.path.join(backup, "state.json"), encoding="utf-8") as file:
            state = json.load(file)
        if state.get("format") != _FORMAT:
            raise ArgumentError(f"{backup}: format {state.get('format')!r}; this version of headrace reads {_FORMAT}")
        if not self.model.built:
            raise ArgumentError("BackupAndRestore: the model is not built; call it on a batch before fit()")
        if self.model.optimizer is not None and not self.model.optimizer.built:
            self.model.optimizer.build(self.model.trainable_variables)
        self.model.load_weights(os.path.join(backup, _WEIGHTS))
        self.model._initial_epoch = state["epoch"]  # as Keras' own callback does
        self._dataset.load_state_dict(state["data"])


def _backups(directory):
    """Names of the whole ones, the newest last."""
    if not os.path.isdir(directory):
        return []
    return sorted(name for name in os.listdir(directory) if name.startswith(_NAME))


def _sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
