"""What a profile of TensorFlow shows of the batches that the training loop takes from headrace."""

import pytest
import tensorflow as tf

from headrace import tensorflow as hrtf

NAME = "IteratorGetNext headrace"
MESSAGE = 2  # the wire type of what has a length


def fields(data):
    """(number, value) of the fields of a serialized message."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(data):
        key = varint()
        number, kind = key >> 3, key & 7
        if kind == MESSAGE:
            size = varint()
            yield number, data[at : at + size]
            at += size
        elif kind == 0:
            yield number, varint()
        else:  # fixed64 or fixed32
            at += 8 if kind == 1 else 4


def values(data, number):
    return [value for found, value in fields(data) if found == number]


def durations(profile, name):
    """Picoseconds of the events of that name in an XSpace."""
    found = []
    for plane in values(profile, 1):
        entries = [values(entry, 2)[0] for entry in values(plane, 4) if values(entry, 2)]
        ids = {values(entry, 1)[0] for entry in entries if values(entry, 2) == [name.encode()]}
        for line in values(plane, 3):
            found += [sum(values(event, 3)) for event in values(line, 4) if ids & set(values(event, 1))]
    return found


def test_each_batch_is_an_event_that_the_analysis_takes_for_a_wait(images, strategy, tmp_path):
    batches = iter(hrtf.distribute(images(repeat=True, known=False), strategy, structure="image"))
    next(batches)
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for _ in range(5):
            next(batches)
    next(batches)
    [profile] = tmp_path.rglob("*.xplane.pb")
    waits = durations(profile.read_bytes(), NAME)
    assert len(waits) == 5 and all(picoseconds > 0 for picoseconds in waits)


def test_the_end_and_a_failure_come_through_the_profile(images, strategy, tmp_path):
    batches = iter(hrtf.distribute(images(take=16, known=False), strategy, structure="image"))
    with tf.profiler.experimental.Profile(str(tmp_path)):
        next(batches)
        with pytest.raises(StopIteration):
            next(batches)
    [profile] = tmp_path.rglob("*.xplane.pb")
    assert len(durations(profile.read_bytes(), NAME)) == 2
