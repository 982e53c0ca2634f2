"""Saving and restoring: the rest of the stream is the same, wherever it was cut."""

import json

import headrace as hr
import pytest

from number_shards import NUMBERS, write_numbers


def batches_of(iterator):
    return [batch["id"].numpy().tolist() for batch in iterator]


def shuffled(files, **options):
    source = hr.TFRecordDataset(files, **options).interleave(cycle_length=3, block_length=2)
    return source.repeat(3).shuffle(17, seed=3).batch(16).parse(NUMBERS)


PIPELINES = {
    "plain": lambda files, **options: hr.TFRecordDataset(files, **options).batch(16).parse(NUMBERS),
    "shuffled": shuffled,
    "replicas": lambda files, **options: shuffled(files, **options).prefetch_to_device(["/CPU:0", "/CPU:1"]),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_the_rest_is_the_same_wherever_it_is_cut(numbers, name):
    make = PIPELINES[name]
    whole = batches_of(make(numbers))
    for cut in {0, 1, 3, len(whole) // 2, len(whole) - 1, len(whole)}:
        with iter(make(numbers)) as pipeline:
            for _ in range(cut):
                next(pipeline)
            state = json.loads(json.dumps(pipeline.state_dict()))
        assert state["batches"] == cut
        with iter(make(numbers, num_threads=1)) as pipeline:
            pipeline.load_state_dict(state)
            assert batches_of(pipeline) == whole[cut:]


def test_saving_does_not_disturb(numbers):
    whole = batches_of(shuffled(numbers))
    seen = []
    with iter(shuffled(numbers)) as pipeline:
        for batch in pipeline:
            seen.append(batch["id"].numpy().tolist())
            assert pipeline.get_state()["batches"] == len(seen)
    assert seen == whole


def test_single_records_are_counted(numbers):
    records = list(hr.TFRecordDataset(numbers))
    for cut in (0, 1, 63, 64, 65, 100):
        pipeline = iter(hr.TFRecordDataset(numbers))
        for _ in range(cut):
            next(pipeline)
        state = json.loads(json.dumps(pipeline.state_dict()))
        again = iter(hr.TFRecordDataset(numbers))
        again.set_state(state)
        assert again.state_dict() == state
        assert list(again) == records[cut:]


def test_the_epoch_is_in_the_state(numbers):
    def make():
        return hr.TFRecordDataset(numbers).shuffle(20, seed=1).batch(30).parse(NUMBERS)

    dataset = make()
    list(dataset)
    second = iter(dataset)
    first_batch = next(second)["id"].numpy().tolist()
    state = second.state_dict()
    assert state["epoch"] == 1
    rest = batches_of(second)
    restored = iter(make())
    restored.load_state_dict(state)
    assert batches_of(restored) == rest and first_batch not in rest


def test_a_data_set_may_move(numbers, tmp_path):
    with iter(shuffled(numbers)) as pipeline:
        next(pipeline)
        state = pipeline.state_dict()
        rest = batches_of(pipeline)
    (tmp_path / "elsewhere").mkdir()
    moved = iter(shuffled(write_numbers(tmp_path / "elsewhere")))
    moved.load_state_dict(state)
    assert batches_of(moved) == rest


def test_a_state_of_something_else_is_refused(numbers):
    with iter(shuffled(numbers)) as pipeline:
        next(pipeline)
        state = pipeline.state_dict()
        with pytest.raises(ValueError, match="before the first next"):
            pipeline.load_state_dict(state)
    for dataset, change in [
        (shuffled(numbers[:3]), {}),
        (hr.TFRecordDataset(numbers).batch(16).parse(NUMBERS), {}),
        (shuffled(numbers), {"format": 99}),
        (shuffled(numbers), {"stream_version": 99}),
        (shuffled(numbers), {"data": "!" + state["data"]}),
        (shuffled(numbers), {"data": state["data"][: len(state["data"]) // 2]}),
    ]:
        other = iter(dataset)
        other.load_state_dict({**state, **change})
        with pytest.raises(ValueError) as caught:
            next(other)
        assert isinstance(caught.value, hr.Error)


@pytest.mark.parametrize("state", [None, {}, {"format": "1"}, [1]], ids=repr)
def test_what_is_no_state(numbers, state):
    with pytest.raises(ValueError, match="state"):
        iter(shuffled(numbers)).load_state_dict(state)


def test_the_state_is_small(tmp_path):
    files = write_numbers(tmp_path, shards=2, per_shard=2000)
    with iter(hr.TFRecordDataset(files).shuffle(1000, seed=1).batch(100).parse(NUMBERS)) as pipeline:
        next(pipeline)
        size = len(json.dumps(pipeline.state_dict()))
    assert size <= 8 * 1000 * 4 / 3 + 4096


def test_a_state_can_be_taken_after_the_end_and_after_close(numbers):
    pipeline = iter(PIPELINES["plain"](numbers))
    assert len(batches_of(pipeline)) == 7
    ended = pipeline.state_dict()
    restored = iter(PIPELINES["plain"](numbers))
    restored.load_state_dict(ended)
    assert batches_of(restored) == []
    pipeline.close()
    assert pipeline.state_dict() == ended
