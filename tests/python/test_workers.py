"""A stream that several workers share goes on with another number of them."""

import collections
import hashlib
import json

import headrace as hr
import pytest

from number_shards import write_shard

FEATURES = {"id": hr.FixedLenFeature([], hr.int64)}
RECORDS = 101

# Each is dealt out to the workers behind its last step.
ORDERS = {
    "in order": lambda source: source,
    "interleaved": lambda source: source.interleave(2, block_length=3).skip(1),
    "global": lambda source: source.shuffle("global", seed=3),
    "global over epochs": lambda source: source.shuffle("global", seed=3).repeat(3),
    "windows": lambda source: source.repeat(2).shuffle("global", seed=3, window_bytes=1 << 16),
    "buffer": lambda source: source.shuffle(17, seed=3),
    "buffer over epochs": lambda source: source.interleave(3).repeat(3).shuffle(17, seed=3),
    "mixed epochs": lambda source: source.repeat(2).shuffle(17, seed=3, mix_epochs=True),
    "two data sets": lambda source: source.take(40).concatenate(source.skip(40)).shuffle(17, seed=3),
}


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Paths of four shards of 31, 0, 47 and 23 records, whose ids count on."""
    folder = tmp_path_factory.mktemp("shards")
    paths, first = [], 0
    for number, count in enumerate((31, 0, 47, 23)):
        records = [hr.make_example({"id": first + i}) for i in range(count)]
        paths += [write_shard(folder / f"shard-{number}", records)]
        first += count
    return paths


def worker(dataset, workers, index, batch, **options):
    return dataset.shard(workers, index, **options).batch(batch).parse(FEATURES)


def read(pipeline, batches=None):
    """The ids of so many batches, or of all that are left."""
    ids = []
    while batches is None or batches > 0:
        batch = next(pipeline, None)
        if batch is None:
            break
        ids += batch["id"].numpy().tolist()
        batches = None if batches is None else batches - 1
    return ids


def state_behind(dataset, batches):
    with iter(dataset) as pipeline:
        read(pipeline, batches)
        return json.loads(json.dumps(pipeline.state_dict()))


def rest_behind(dataset, state):
    with iter(dataset) as pipeline:
        pipeline.load_state_dict(state)
        assert pipeline.state_dict()["batches"] == state["batches"]
        return read(pipeline)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("before, now", [(1, 3), (2, 4), (4, 2), (3, 1), (2, 5), (3, 3)])
def test_the_rest_is_dealt_out_anew(shards, order, before, now):
    def stream():
        return ORDERS[order](hr.TFRecordDataset(shards))

    everything = read(iter(stream().batch(10).parse(FEATURES)))
    size = 4 if now == before else 7  # of the batches; the same worker goes on with the same ones
    for steps in (1, 3, len(everything) // (4 * before)):
        behind = steps * 4 * before
        for saved_by in range(before):
            state = state_behind(worker(stream(), before, saved_by, 4), steps)
            for index in range(now):
                rest = rest_behind(worker(stream(), now, index, size), state)
                assert rest == everything[behind + index :: now], (steps, saved_by, index)


@pytest.mark.parametrize("order", ["buffer over epochs", "global over epochs"])
def test_the_state_before_the_first_batch_is_one_of_the_new_workers(shards, order):
    stream = ORDERS[order](hr.TFRecordDataset(shards))
    state = state_behind(worker(stream, 2, 1, 4), 5)
    for workers in (1, 3):
        own = [worker(stream, workers, index, 4) for index in range(workers)]
        with iter(own[0]) as pipeline:
            pipeline.load_state_dict(state)
            loaded = pipeline.state_dict()
        assert loaded["spec"] != state["spec"]
        assert rest_behind(own[0], loaded) == rest_behind(own[0], state)
        assert [rest_behind(one, loaded) for one in own] == [rest_behind(one, state) for one in own]


def test_nothing_is_lost_or_read_twice_over_many_restarts(shards):
    """Audit by record: three epochs, read by 2, 3, 1, 4, 2 … workers in turn, each for three steps."""
    stream = hr.TFRecordDataset(shards).interleave(3).repeat(3).shuffle(17, seed=3)
    seen, state, turns = collections.Counter(), None, 0
    while True:
        workers = (2, 3, 1, 4)[turns % 4]
        turns += 1
        states = []
        before = seen.total()
        for index in range(workers):
            with iter(stream.shard(workers, index).batch(5)) as pipeline:
                if state is not None:
                    pipeline.load_state_dict(state)
                for batch in [batch for _, batch in zip(range(3), pipeline)]:
                    seen.update(hashlib.sha256(record).digest() for record in batch.tolist())
                states.append(pipeline.state_dict())
        if seen.total() == before:
            break
        state = states[turns % workers]
    assert turns > 5 and len(seen) == RECORDS and set(seen.values()) == {3}


@pytest.mark.parametrize("before, now", [(2, 3), (3, 2), (4, 1), (1, 4)])
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8])
def test_equal_steps_stay_equal(shards, before, now, steps):
    """With drop_remainder in shard(), what is left of the epoch is shared out equally, and each later epoch, too."""

    def own(workers, index):
        dataset = hr.TFRecordDataset(shards).shard(workers, index, drop_remainder=True)
        return dataset.repeat(3).batch(8, drop_remainder=True).parse(FEATURES)

    share = RECORDS // before
    epoch, taken = divmod(steps * 8, share)
    behind = taken * before
    for saved_by in range(before):
        state = state_behind(own(before, saved_by), steps)
        rests = [rest_behind(own(now, index), state) for index in range(now)]
        left = (RECORDS - behind) // now
        for index, rest in enumerate(rests):
            expected = list(range(behind, RECORDS))[index::now][:left]
            expected += list(range(RECORDS))[index::now][: RECORDS // now] * (2 - epoch)
            assert rest == expected[: len(expected) // 8 * 8]


def test_the_epoch_behind_the_last_batch_of_one(shards):
    """At the border of two epochs one worker may have ended its own, the other not yet: both states mean the same."""

    def own(workers, index):
        return hr.TFRecordDataset(shards).take(100).shard(workers, index, drop_remainder=True).repeat(2).batch(10).parse(FEATURES)

    for saved_by in range(2):
        state = state_behind(own(2, saved_by), 5)
        assert [rest_behind(own(5, index), state) for index in range(5)] == [list(range(index, 100, 5)) for index in range(5)]


def test_single_records_go_on_behind_whole_batches(shards):
    with iter(hr.TFRecordDataset(shards).shard(2, 0)) as pipeline:
        next(pipeline)
        state = pipeline.state_dict()
    with iter(hr.TFRecordDataset(shards).shard(3, 0)) as pipeline:
        pipeline.load_state_dict(state)
        with pytest.raises(ValueError, match="behind whole batches alone"):
            next(pipeline)


REFUSED = {
    r"shard\(by=\"file\"\)": lambda files, n, i: hr.TFRecordDataset(files).shard(n, i, by="file").batch(4),
    r"shard\(by=\"range\"\)": lambda files, n, i: hr.TFRecordDataset(files).shard(n, i, by="range").shuffle("global", seed=1).batch(4),
    r"shuffle\(\) stands behind shard": lambda files, n, i: hr.TFRecordDataset(files).shard(n, i).shuffle(10, seed=1).batch(4),
    r"take\(\) stands behind shard": lambda files, n, i: hr.TFRecordDataset(files).shard(n, i).batch(4).take(9),
    r"without drop_remainder": lambda files, n, i: hr.TFRecordDataset(files).shard(n, i).repeat(2).batch(4),
    r"on_mismatch=\"skip\"": lambda files, n, i: hr.TFRecordDataset(files, on_mismatch="skip").shard(n, i).batch(4),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_orders_that_depend_on_the_workers_are_refused(shards, reason):
    make = REFUSED[reason]
    state = state_behind(make(shards, 2, 1).parse(FEATURES), 2)
    with iter(make(shards, 3, 0).parse(FEATURES)) as pipeline:
        pipeline.load_state_dict(state)
        with pytest.raises(ValueError, match=f"worker 1 of 2, this is worker 0 of 3, and .*{reason}") as raised:
            next(pipeline)
        assert "unshuffled" in str(raised.value) and 'shuffle("global")' in str(raised.value)


def test_what_else_changed_is_told_as_before(shards):
    stream = hr.TFRecordDataset(shards).shuffle(17, seed=3)
    state = state_behind(worker(stream, 2, 1, 4), 2)
    for other in (
        worker(hr.TFRecordDataset(shards).shuffle(18, seed=3), 3, 0, 4),
        worker(stream, 2, 1, 5),  # the same worker, with batches of another size
        stream.batch(4).parse(FEATURES),
    ):
        with iter(other) as pipeline:
            pipeline.load_state_dict(state)
            with pytest.raises(ValueError, match="the pipeline changed from"):
                next(pipeline)
    strange = {**state, "spec": state["spec"].replace("num_shards=2", "num_shards=2000000")}
    with iter(worker(stream, 3, 0, 4)) as pipeline:
        pipeline.load_state_dict(strange)
        with pytest.raises(ValueError, match="the pipeline changed from"):
            next(pipeline)
    moved = hr.TFRecordDataset(shards[:1]).shuffle(17, seed=3)
    with iter(worker(moved, 3, 0, 4)) as pipeline:
        pipeline.load_state_dict(state)
        with pytest.raises(ValueError, match="the list of files changed"):
            next(pipeline)


@pytest.mark.parametrize("step", ["shard", "local", "combined"])
def test_an_order_that_differs_from_time_to_time_is_not_shared_out(step):
    """Each worker would leave out other records than those that the others take."""
    source = hr.TFRecordDataset("nowhere", deterministic=False)
    any_order = source.interleave(4, 4)
    with pytest.raises(hr.Error, match="every process has to see the records in the same order"):
        if step == "shard":
            any_order.shuffle(10).shard(2, 0)
        elif step == "combined":
            source.concatenate(any_order).shard(2, 0)
        else:
            batches = any_order.batch(4).parse({"id": hr.FixedLenFeature([], hr.int64)})
            batches.prefetch_to_device(["/CPU:0", "/CPU:1"], local=range(1))
    assert source.shard(2, 0) and any_order.shard(1, 0) and source.shard(2, 0, by="file").interleave(4, 4)
