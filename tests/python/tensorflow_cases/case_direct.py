"""The direct route without Keras: what an iterator gives, in Python and in graphs."""

import gc

import numpy as np
import pytest
import tensorflow as tf
from conftest import RECORDS, REPLICAS, parts

import headrace as hr
from headrace import tensorflow as hrtf
from headrace._tf_place import Place, share_out


def ids(batches, place="id"):
    return [int(number) for batch in batches for part in parts(batch[place]) for number in part]


def test_batches_are_per_replica_and_hold_every_record_once(images, strategy):
    dataset = hrtf.distribute(images(), strategy)
    batches = list(dataset)
    assert len(batches) == RECORDS // 16 == int(dataset.cardinality)
    assert all(len(parts(batch["image"])) == REPLICAS for batch in batches)
    assert parts(batches[0]["image"])[3].shape == (4, 4, 4, 3)
    assert sorted(ids(batches)) == list(range(RECORDS))
    for batch in batches:
        for images_, numbers in zip(parts(batch["image"]), parts(batch["id"])):
            for image, number in zip(images_, numbers):
                np.testing.assert_array_equal(image, np.random.default_rng(number).random((4, 4, 3), dtype=np.float32))


def test_the_tensors_share_the_engines_memory(images, strategy):
    pipeline = images().prefetch_to_device([f"/CPU:{replica}" for replica in range(REPLICAS)])
    iterator = iter(hrtf.distribute(pipeline, strategy))
    batch = next(iterator)
    addresses = [tensor._numpy().ctypes.data for tensor in batch["image"].values]
    assert all(address % 256 == 0 for address in addresses)
    with iter(pipeline) as native:
        same = next(native)
        assert type(same.replicas[0]["image"].numpy()) is np.ndarray


def test_structure(images, strategy):
    dataset = hrtf.distribute(images(), strategy, structure=({"x": "image"}, "label", hr.weight("label", {1: 3.0})))
    x, y, weights = next(iter(dataset))
    assert set(x) == {"x"}
    for labels, found in zip(parts(y), parts(weights)):
        np.testing.assert_array_equal(found, np.where(labels == 1, 3.0, 1.0).astype(np.float32))
    assert isinstance(dataset.element_spec[1], tf.distribute.DistributedValues) is False
    assert dataset.element_spec[2]._value_specs[0] == tf.TensorSpec([4], tf.float32)


def test_epochs_follow_the_iterators(images, strategy):
    dataset = hrtf.distribute(images(), strategy)
    first, second = ids(list(dataset)), ids(list(dataset))
    assert first != second and sorted(first) == sorted(second) == list(range(RECORDS))


def test_a_peek_costs_neither_data_nor_an_epoch(images, strategy):
    plain = ids(list(hrtf.distribute(images(), strategy)))
    dataset = hrtf.distribute(images(), strategy)
    peeked = next(iter(dataset))
    gc.collect()
    iter(dataset)  # an iterator that takes nothing changes nothing
    batches = list(dataset)
    assert ids([peeked]) == ids(batches[:1])
    assert ids(batches) == plain


def test_uneven_last_batch(images, strategy):
    dataset = hrtf.distribute(images(take=22, drop_remainder=False, known=False), strategy)
    assert dataset.element_spec["id"]._value_specs[0] == tf.TensorSpec([None], tf.int64)
    batches = list(dataset)
    assert [[len(part) for part in parts(batch["id"])] for batch in batches] == [[4, 4, 4, 4], [2, 2, 1, 1]]
    dataset = hrtf.distribute(images(take=18, drop_remainder=False, known=False), strategy)
    total = tf.function(lambda x: strategy.run(tf.reduce_sum, args=(x,)), reduce_retracing=True)
    sums = [sum(parts(total(batch["id"]))) for batch in dataset]
    assert len(sums) == 2 and [len(part) for part in parts(list(dataset)[1]["id"])] == [1, 1, 0, 0]


def test_padded_batches_have_one_shape_and_tell_their_records(images, strategy):
    devices = [f"/CPU:{replica}" for replica in range(REPLICAS)]
    dataset = hrtf.distribute(images(size=20, drop_remainder=False).prefetch_to_device(devices, remainder="pad"), strategy)
    assert dataset.element_spec["_mask"]._value_specs[0] == tf.TensorSpec([5], tf.bool)
    batches = list(dataset)
    real = [number for batch in batches for numbers, mask in zip(parts(batch["id"]), parts(batch["_mask"])) for number in numbers[mask]]
    assert all(len(part) == 5 for batch in batches for part in parts(batch["id"])) and RECORDS % 20 > 0
    assert sorted(real) == list(range(RECORDS))


def test_replicas_of_unequal_weight(images, strategy):
    devices = [f"/CPU:{replica}" for replica in range(REPLICAS)]
    dataset = hrtf.distribute(images().prefetch_to_device(devices, weights=[5, 1, 1, 1]), strategy)
    assert dataset.element_spec["id"]._value_specs[0] == tf.TensorSpec([None], tf.int64)
    assert [len(part) for part in parts(next(iter(dataset))["id"])] == [10, 2, 2, 2]


def test_of_several_processes_each_gets_its_own_rows(images):
    place = Place(("/device:CPU:0",), 1, 2)  # the second of two, with a replica each
    assert share_out(images(), place).devices == ("/CPU:1",)
    own = images().prefetch_to_device(["/CPU:0", "/CPU:1"], local=range(1, 2))
    assert share_out(own, place) is own
    three = [f"/CPU:{replica}" for replica in range(3)]
    for wrong in ({"devices": three[:1]}, {"devices": three[:2], "local": range(0, 1)}, {"devices": three, "local": range(1, 2)}):
        with pytest.raises(ValueError, match=r"local=range\(1, 2\)"):
            share_out(images(size=12).prefetch_to_device(**wrong), place)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_resident_stream_has_no_position_and_asks_for_none(images, strategy):
    dataset = hrtf.distribute(images().resident(1, count=3), strategy)
    assert [sum(1 for _ in dataset) for _ in range(2)] == [3, 3]
    dropped = iter(dataset)
    next(dropped), next(dropped)
    del dropped
    assert dataset.state_dict() == {}


def test_tensorflows_default_strategy_is_one_device(images):
    dataset = hrtf.distribute(images(), tf.distribute.get_strategy())
    assert dataset.element_spec["id"] == tf.TensorSpec([16], tf.int64)
    assert sorted(int(number) for batch in dataset for number in batch["id"]) == list(range(RECORDS))


def test_custom_loop(images, strategy):
    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch["id"],)), axis=None)

    for _ in range(2):
        assert sum(int(step(batch)) for batch in hrtf.distribute(images(), strategy)) == sum(range(RECORDS))


def test_end_of_data(images, strategy):
    iterator = iter(hrtf.distribute(images(take=16, known=False), strategy))
    next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_in_a_graph_each_run_takes_a_batch(images, strategy):
    iterator = iter(hrtf.distribute(images(), strategy))

    @tf.function
    def step():
        batch = next(iterator)
        return strategy.run(lambda x: tf.identity(x), args=(batch["id"],))

    seen = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            seen += [int(number) for part in parts(step()) for number in part]
    assert sorted(seen) == list(range(RECORDS))
    assert seen == ids(list(hrtf.distribute(images(), strategy)))
    with pytest.raises(ValueError, match="another iterator"):
        next(iterator)


def test_in_a_graph_the_order_of_two_takes_is_kept(images, strategy):
    iterator = iter(hrtf.distribute(images(seed=None), strategy))

    @tf.function
    def two():
        return next(iterator)["id"], next(iterator)["id"]

    first, second = two()
    assert sorted(int(n) for part in parts(first) for n in part) == list(range(16))
    assert sorted(int(n) for part in parts(second) for n in part) == list(range(16, 32))


def test_loops_over_the_dataset_in_a_graph_say_what_to_do(images, strategy):
    dataset = hrtf.distribute(images(), strategy)

    @tf.function
    def as_argument(batches):
        for batch in batches:
            strategy.run(tf.reduce_sum, args=(batch["id"],))

    @tf.function
    def closed_over():
        for batch in dataset:
            strategy.run(tf.reduce_sum, args=(batch["id"],))

    @tf.function
    def over_iterator(iterator=iter(dataset)):
        for batch in iterator:
            strategy.run(tf.reduce_sum, args=(batch["id"],))

    for attempt in (lambda: as_argument(dataset), closed_over, over_iterator):
        with pytest.raises(TypeError, match="headrace.tensorflow.dataset"):
            attempt()


def test_position_is_that_of_the_batches_handed_out(images, strategy):
    for map_function in (None, lambda batch: batch):
        iterator = iter(hrtf.distribute(images(), strategy, map=map_function))
        head = [next(iterator) for _ in range(2)]
        state = iterator.state_dict()
        tail = ids(list(iterator))
        resumed = iter(hrtf.distribute(images(), strategy, map=map_function))
        resumed.load_state_dict(state)
        assert ids(list(resumed)) == tail
        assert sorted(ids(head) + tail) == list(range(RECORDS))


def test_position_while_batches_are_made_ahead(images, strategy):
    dataset = hrtf.distribute(images(repeat=True, known=False), strategy, map=lambda batch: batch).prefetch(20)
    iterator = iter(dataset)
    for count in range(40):
        assert iterator.state_dict()["batches"] == count
        next(iterator)


def test_position_of_a_peek(images, strategy):
    for map_function in (None, lambda batch: batch):
        dataset = hrtf.distribute(images(), strategy, map=map_function)
        peeked = next(iter(dataset))
        iterator = iter(dataset)
        assert iterator.state_dict()["batches"] == 0
        assert ids([next(iterator)]) == ids([peeked])
        assert iterator.state_dict()["batches"] == 1
        assert len(set(ids(list(iterator)) + ids([peeked]))) == RECORDS


def test_errors_come_as_headraces_own(images, strategy, shards, tmp_path):
    damaged = tmp_path / "damaged.tfrecord"
    content = bytearray(open(shards[0], "rb").read())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    pipeline = hr.TFRecordDataset(str(damaged)).batch(4).parse({"id": hr.FixedLenFeature([], hr.int64)})
    with pytest.raises(hr.DataLossError, match="damaged.tfrecord"):
        list(hrtf.distribute(pipeline, strategy))
    iterator = iter(hrtf.distribute(pipeline, strategy))
    step = tf.function(lambda: next(iterator)["id"])
    with pytest.raises(tf.errors.DataLossError, match="damaged.tfrecord"):
        while True:
            step()


def test_the_route_of_the_environment(images, strategy, monkeypatch):
    monkeypatch.delenv("HEADRACE_TF_ROUTE", raising=False)
    pipeline = images()
    direct = type(hrtf.distribute(pipeline, strategy))
    assert direct.__module__ == "headrace._tf_direct"
    monkeypatch.setenv("HEADRACE_TF_ROUTE", "dataset")
    assert not isinstance(hrtf.distribute(pipeline, strategy), direct)
    assert isinstance(hrtf.distribute(pipeline, strategy, route="direct"), direct)  # an argument comes first
    monkeypatch.setenv("HEADRACE_TF_ROUTE", "fast")
    with pytest.raises(ValueError, match="HEADRACE_TF_ROUTE='fast' is not one of auto, direct, dataset"):
        hrtf.distribute(pipeline, strategy)


def test_the_route_is_told_by_the_report_and_a_warning_where_it_is_not_the_best(images, strategy, monkeypatch, caplog):
    monkeypatch.delenv("HEADRACE_TF_ROUTE", raising=False)
    iterator = iter(hrtf.distribute(images(), strategy))
    assert iterator.report().route == f"TensorFlow {tf.__version__}, direct: it works here and is the best one"
    assert iterator.report().batches == 0
    next(iterator)
    assert iterator.report().batches == 1
    asked = iter(hrtf.distribute(images(), strategy, route="direct"))
    tf.function(lambda: next(asked)["id"])()
    assert asked.report().route.endswith("direct: route='direct' asks for it")
    assert not caplog.records
    hrtf.distribute(images(), strategy, route="dataset")
    monkeypatch.setenv("HEADRACE_TF_ROUTE", "dataset")
    hrtf.distribute(images(), strategy)
    monkeypatch.delenv("HEADRACE_TF_ROUTE")
    monkeypatch.setattr(hrtf, "_fault_of_direct", lambda: "a private name is gone")
    hrtf.distribute(images(), strategy)
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    reasons = ["route='dataset' asks for it", "HEADRACE_TF_ROUTE=dataset asks for it", "a private name is gone"]
    assert [text.split(": ", 1)[1] for text in warnings] == reasons
    with pytest.raises(RuntimeError, match="a private name is gone"):
        hrtf.distribute(images(), strategy, route="direct")


def test_wrong_arguments(images, strategy, shards):
    two = images().prefetch_to_device(["/CPU:0", "/CPU:1"])
    with pytest.raises(ValueError, match="2 devices.* 4 replicas"):
        hrtf.distribute(two, strategy)
    cuda = images().prefetch_to_device([f"/GPU:{replica}" for replica in range(4)])
    for give in (lambda: hrtf.distribute(cuda, strategy), lambda: hrtf.dataset(cuda)):
        with pytest.raises(ValueError, match="takes batches from host memory, not from /GPU:0"):
            give()
    with pytest.raises(ValueError, match="18"):
        hrtf.distribute(images(size=18), strategy)
    with pytest.raises(ValueError, match="batch"):
        hrtf.distribute(hr.TFRecordDataset(shards), strategy)
    with pytest.raises(ValueError, match="parse"):
        hrtf.distribute(hr.TFRecordDataset(shards).batch(16), strategy)
    with pytest.raises(ValueError, match="route"):
        hrtf.distribute(images(), strategy, route="fast")
    with pytest.raises(ValueError, match="nothing"):
        hrtf.distribute(images(), strategy, structure=("image", "nothing"))


def test_one_replica_gets_plain_tensors(images):
    dataset = hrtf.distribute(images(), tf.distribute.OneDeviceStrategy("/cpu:0"))
    batches = list(dataset)
    assert isinstance(batches[0]["id"], tf.Tensor)
    assert dataset.element_spec["id"] == tf.TensorSpec([16], tf.int64)
    assert sorted(int(n) for batch in batches for n in batch["id"]) == list(range(RECORDS))


def test_dropped_iterators_stop_their_threads(images, strategy):
    import threading

    before = threading.active_count()
    dataset = hrtf.distribute(images(repeat=True, known=False), strategy, map=lambda batch: batch)
    for _ in range(3):
        iterator = iter(dataset)
        next(iterator), next(iterator)
        del iterator
    assert threading.active_count() == before


def test_strings_of_views_are_copied_and_outlive_their_records(tmp_path, strategy):
    texts = [bytes([97 + number]) * (50_000 if number % 2 else 9_000) for number in range(16)]
    path = str(tmp_path / "views.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for text in texts:
            writer.write(hr.make_example({"text": text}))
    views = hr.TFRecordDataset(path).shuffle(4).batch(8).parse({"text": hr.BytesFeature(view=True)})
    batches = list(hrtf.distribute(views, strategy))
    gc.collect()
    found = [text for batch in batches for part in parts(batch["text"]) for text in np.asarray(part).tolist()]
    assert sorted(found) == sorted(texts)
