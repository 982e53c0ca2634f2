"""Training that is cut off and started again: model, epoch and data go on together."""

import json
import os

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import RECORDS, parts

from headrace import tensorflow as hrtf

COLUMNS = ("image", "label", "id")
BATCHES = RECORDS // 24


class Recorder(keras.Model):
    """Keeps the ids of each training step, and the loss."""

    def __init__(self):
        super().__init__()
        self.layer = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(3)])
        self.seen = []

    def call(self, image):
        return self.layer(image)

    def train_step(self, data):
        image, label, number = data
        result = super().train_step((image, label))
        tf.py_function(lambda n: self.seen.append(sorted(n.numpy().tolist())), [number], [])
        return result


def make_model(strategy):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = Recorder()
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model(np.zeros((1, 4, 4, 3), np.float32))
    return model


def data(images, strategy, **options):
    return hrtf.distribute(images(size=24, **options), strategy, structure=COLUMNS)


class PowerCut(Exception):
    pass


class CutAt(keras.callbacks.Callback):
    """Raises when the model has seen that many steps."""

    def __init__(self, steps):
        super().__init__()
        self.left = steps

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            raise PowerCut


def train(images, strategy, folder, save_freq, cut_at=None, **options):
    model, dataset = make_model(strategy), data(images, strategy)
    callbacks = [hrtf.BackupAndRestore(folder, dataset, save_freq=save_freq, **options)]
    if cut_at is not None:
        callbacks.append(CutAt(cut_at))
    try:
        model.fit(dataset, epochs=3, verbose=0, callbacks=callbacks)
    except PowerCut:
        pass
    return model


def weights(model):
    return [variable.numpy() for variable in (*model.trainable_variables, *model.optimizer.variables)]


@pytest.mark.parametrize("save_freq, cut_at, from_step", [(1, 2, 2), (1, 6, 6), (2, 7, 6), ("epoch", 7, 4), (3, 4, 3), (3, 5, 4), (4, 4, 4)])
def test_continues_as_if_nothing_had_happened(images, strategy, tmp_path, save_freq, cut_at, from_step):
    whole = train(images, strategy, tmp_path / "whole", save_freq)
    steps = [sorted(sum(whole.seen[4 * step : 4 * step + 4], [])) for step in range(3 * BATCHES)]
    train(images, strategy, tmp_path / "backup", save_freq, cut_at)
    again = train(images, strategy, tmp_path / "backup", save_freq)
    assert [sorted(sum(again.seen[4 * step : 4 * step + 4], [])) for step in range(len(again.seen) // 4)] == steps[from_step:]
    for a, b in zip(weights(whole), weights(again), strict=True):
        np.testing.assert_array_equal(a, b)
    assert list((tmp_path / "backup").iterdir()) == []


def test_the_newest_whole_backup_counts(images, strategy, tmp_path):
    train(images, strategy, tmp_path, 1, cut_at=3)
    (backup,) = tmp_path.iterdir()
    (tmp_path / ".unfinished-abc").mkdir()
    backup.rename(tmp_path / "backup-000000041")
    again = train(images, strategy, tmp_path, 1, delete_checkpoint=False)
    assert len(again.seen) // 4 == 3 * BATCHES - 3
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".unfinished-abc", f"backup-{41 + 9 + 3:09}"]  # 9 steps, and the ends of 3 epochs
    state = json.loads((tmp_path / names[1] / "state.json").read_text())
    assert state["epoch"] == 3 and state["data"]["epoch"] == 3


def test_arguments(images, strategy, tmp_path):
    dataset = data(images, strategy)
    for save_freq in (0, "batch", 2.5, True):
        with pytest.raises(ValueError, match="save_freq"):
            hrtf.BackupAndRestore(tmp_path, dataset, save_freq=save_freq)
    with pytest.raises(ValueError, match="direct route"):
        hrtf.BackupAndRestore(tmp_path, hrtf.dataset(images()))
    with pytest.raises(ValueError, match="direct route"):
        hrtf.checkpointable(hrtf.dataset(images()))


def ids(batches):
    return [sorted(int(i) for part in parts(batch["id"]) for i in part) for batch in batches]


def test_a_checkpoint_holds_the_position(images, strategy, tmp_path):
    dataset = hrtf.distribute(images(size=24), strategy)
    first, rest = iter(dataset), []
    head = ids([next(first), next(first)])
    path = tf.train.Checkpoint(data=hrtf.checkpointable(dataset), step=tf.Variable(2)).save(str(tmp_path / "model"))
    rest = ids(first)
    second = ids(dataset)
    assert second != head + rest and len(rest) == BATCHES - 2

    restored, step = hrtf.distribute(images(size=24), strategy), tf.Variable(0)
    tf.train.Checkpoint(data=hrtf.checkpointable(restored), step=step).restore(path).assert_consumed()
    assert int(step) == 2
    assert ids(restored) == rest
    assert ids(restored) == second


def test_the_state_of_a_dataset(images, strategy):
    dataset = hrtf.distribute(images(size=24), strategy)
    assert dataset.state_dict() == {}
    epochs = [ids(dataset) for _ in range(2)]
    assert epochs[0] != epochs[1]
    behind = dataset.state_dict()
    assert (behind["epoch"], behind["batches"]) == (2, 0)
    third = iter(dataset)
    next(third)
    assert dataset.state_dict()["batches"] == 1
    assert dataset.map(lambda batch: batch).state_dict()["batches"] == 1
    del third  # a peek: its batch is given again
    assert dataset.state_dict() == behind
    third = iter(dataset)
    taken = ids([next(third), next(third)])
    third.close()
    assert dataset.state_dict()["batches"] == 2
    middle = dataset.state_dict()

    other = hrtf.distribute(images(size=24), strategy)
    other.load_state_dict(behind)
    assert other.state_dict() == behind
    whole = ids(other)
    assert whole[:2] == taken
    other.load_state_dict(middle)
    next(iter(other))  # a peek takes nothing away
    assert ids(other) == whole[2:]
    with pytest.raises(ValueError, match="state"):
        other.load_state_dict({"epoch": 1})


def test_the_state_inside_a_function(images, strategy):
    dataset = hrtf.distribute(images(size=24), strategy)
    iterator = iter(dataset)

    @tf.function
    def two_steps():
        next(iterator)
        return next(iterator)["id"]

    taken = two_steps()
    state = dataset.state_dict()
    assert state["batches"] == 2
    other = hrtf.distribute(images(size=24), strategy)
    other.load_state_dict(state)
    rest = ids(other)
    seen = {int(i) for part in parts(taken) for i in part}
    assert len(rest) == BATCHES - 2 and not seen & set(sum(rest, []))


def test_a_fork_has_no_say(images, strategy):
    dataset = hrtf.distribute(images(size=24), strategy)
    iterator = iter(dataset)
    next(iterator), next(iterator)
    child = os.fork()
    if child == 0:
        try:
            del iterator
            os._exit(0 if dataset.state_dict() == {} else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert dataset.state_dict()["batches"] == 2
