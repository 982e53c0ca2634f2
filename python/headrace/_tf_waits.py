"""How long the training loop waited for each of its batches, for whoever listens in the thread of that loop."""

import array
import contextlib
import threading

_here = threading.local()


class Waits:
    """The batches that one thread took from direct iterators: how long it waited for each, and whether they were even.

    Attributes:
        seconds: array of float, one a batch.
        uneven: array of 0 and 1, one a batch: 1 where the replicas did not all get as many rows.
        mapped: whether a function of TensorFlow ops ran behind the engine.
    """

    def __init__(self):
        self.seconds = array.array("d")
        self.uneven = array.array("b")
        self.mapped = False

    def listen(self):
        """From now on the batches of this thread are noted."""
        _listeners().append(self)

    def leave(self):
        """No more; what was noted stays. Idempotent."""
        with contextlib.suppress(ValueError):
            _listeners().remove(self)

    def keep(self, batches):
        """Only the first so many."""
        del self.seconds[batches:]
        del self.uneven[batches:]


def note(seconds, rows, mapped):
    """A batch was handed to this thread `seconds` after it was asked for; `rows` are those of each replica."""
    for waits in _listeners():
        waits.seconds.append(seconds)
        waits.uneven.append(len(set(rows)) > 1)
        waits.mapped = mapped


def _listeners():
    try:
        return _here.listeners
    except AttributeError:
        _here.listeners = []
        return _here.listeners
