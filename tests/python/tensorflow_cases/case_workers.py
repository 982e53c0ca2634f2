"""Two processes under MultiWorkerMirroredStrategy on loopback: one stream, each parses its own rows."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

import headrace as hr

WORKER = """
import json, os, sys
task, seed, ports, path = int(sys.argv[1]), sys.argv[2], sys.argv[3].split(","), sys.argv[4]
os.environ["TF_CONFIG"] = json.dumps({
    "cluster": {"worker": ["127.0.0.1:" + port for port in ports]}, "task": {"type": "worker", "index": task},
})
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
import headrace as hr
dataset = hr.TFRecordDataset(path).shuffle(20, seed=None if seed == "none" else int(seed))
dataset = dataset.batch(8).parse({"id": hr.FixedLenFeature([], hr.int64)})
try:
    data = hr.tensorflow.distribute(dataset, strategy)
except ValueError as error:
    print(json.dumps(str(error)))
    sys.exit()

@tf.function(reduce_retracing=True)
def total(numbers):
    return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(numbers,)), axis=None)

rows, totals = [], []
for batch in data:
    (mine,) = strategy.experimental_local_results(batch["id"])
    rows.append(mine.numpy().tolist())
    totals.append(int(total(batch["id"])))
print(json.dumps([rows, totals, data.state_dict()]))
"""

FIT = """
import json, os, sys
task, ports, path = int(sys.argv[1]), sys.argv[3].split(","), sys.argv[4]
if sys.argv[2] != "alone":
    os.environ["TF_CONFIG"] = json.dumps({
        "cluster": {"worker": ["127.0.0.1:" + port for port in ports]}, "task": {"type": "worker", "index": task},
    })
import tensorflow as tf
one = sys.argv[2] == "alone"
strategy = tf.distribute.OneDeviceStrategy("/cpu:0") if one else tf.distribute.MultiWorkerMirroredStrategy()
import keras
import headrace as hr
dataset = hr.TFRecordDataset(path).shuffle(20, seed=3).batch(8, drop_remainder=True)
dataset = dataset.parse({"id": hr.FixedLenFeature([], hr.int64, transform=[hr.cast("float32"), hr.scale(0.05)])})
data = hr.tensorflow.distribute(dataset, strategy, structure=("id", "id"), map=lambda x, y: (x[:, tf.newaxis], y[:, tf.newaxis]))

# Keras takes the mean of the logs of several workers along their first dimension, and makes them without one.
def widen(logs):
    return {name: tf.reshape(value, [1]) for name, value in logs.items()}

class Model(keras.Sequential):
    def train_step(self, data):
        return widen(super().train_step(data))

    def test_step(self, data):
        return widen(super().test_step(data))

keras.utils.set_random_seed(1)
with strategy.scope():
    model = Model([keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
losses = model.fit(data, epochs=3, verbose=0).history["loss"]
print(json.dumps([losses, model.evaluate(data, verbose=0), [float(tf.reduce_sum(value)) for value in model.get_weights()]]))
"""


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    path = tmp_path_factory.mktemp("workers") / "shard"
    with hr.TFRecordWriter(path) as writer:
        for number in range(43):
            writer.write(hr.make_example({"id": number}))
    return str(path)


def run(words, shard, program=WORKER):
    """What each of the workers prints that get one of `words` each."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        ports = f"{one.getsockname()[1]},{other.getsockname()[1]}"
    environment = {key: value for key, value in os.environ.items() if key != "TF_CONFIG"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(task), word, ports, shard],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for task, word in enumerate(words)
    ]
    deadline = time.monotonic() + 200
    try:
        found = [worker.communicate(timeout=max(1, deadline - time.monotonic())) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert all(worker.returncode == 0 for worker in workers), [errors[-2000:] for _, errors in found]
    return [json.loads(printed.splitlines()[-1]) for printed, _ in found]


def test_two_workers_share_one_stream(shard):
    (first, totals, state), (second, same_totals, same_state) = run(["3", "3"], shard)
    whole = hr.TFRecordDataset(shard).shuffle(20, seed=3).batch(8).parse({"id": hr.FixedLenFeature([], hr.int64)})
    batches = [batch["id"].numpy().tolist() for batch in whole]
    assert [mine + theirs for mine, theirs in zip(first, second)] == batches and len(first) == len(second) == 6
    assert (len(first[-1]), len(second[-1])) == (2, 1)
    assert totals == same_totals == [sum(batch) for batch in batches]
    assert state == same_state


def test_other_streams_are_refused_before_the_first_step(shard):
    for said in run(["3", "none"], shard):
        assert "do not read the same stream" in said and "seed" in said


def test_fit_over_two_workers_has_the_losses_of_one_process(shard):
    (alone,) = run(["alone"], shard, FIT)
    assert len(alone[0]) == 3
    for losses, evaluated, weights in run(["both", "both"], shard, FIT):
        assert losses == pytest.approx(alone[0], abs=1e-6)
        assert evaluated == pytest.approx(alone[1], abs=1e-6) and weights == pytest.approx(alone[2], abs=1e-6)
