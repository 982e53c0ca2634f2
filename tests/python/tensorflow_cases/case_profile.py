"""What a profile of TensorFlow shows of the batches that the training loop takes from headrace."""

import pytest
import tensorflow as tf
from proto_fields import values

from headrace import tensorflow as hrtf

NAME = "IteratorGetNext headrace"


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
