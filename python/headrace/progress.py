"""Where the iterations over one dataset stand, for whoever saves it from outside the iterator: loaders, callbacks, checkpoints.

A loop makes an iterator for each epoch and lets go of it at its end. What is saved then is where the next one starts.
"""

import weakref

from .pipeline import position_from_dict
from .zipped import ZippedDataset, states_of


def progress_of(dataset):
    """The Progress of a Dataset or of a ZippedDataset."""
    return ZippedProgress(dataset) if isinstance(dataset, ZippedDataset) else Progress(dataset)


class Progress:
    """Follows the iterators of a dataset; one at a time counts, the one that delivered last."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._iterator = None  # a weak reference: who drops an iterator says so by leave()
        self._state = {}  # where nothing is followed
        self._loaded = False  # and whether the next iterator takes it

    def state_dict(self):
        """Where the iteration stands behind the last batch that was taken; {} before the first."""
        iterator = self._iterator and self._iterator()
        return dict(self._state) if iterator is None else self._behind(iterator.state_dict())

    def load_state_dict(self, state):
        """The next iterator continues where `state` was taken. ValueError for what state_dict() did not make."""
        if state:
            self._check(state)
        self._state = dict(state)
        self._loaded = bool(state)
        self._iterator = None

    def take_loaded(self):
        """The state that an iterator about to start has to continue from, or None; asked once."""
        loaded, self._loaded = self._loaded, False
        return self._state if loaded else None

    def follow(self, iterator):
        """`iterator` is about to deliver. Gives back what the other calls know it by."""
        self._iterator = weakref.ref(iterator)
        return self._iterator

    def forget(self, followed):
        """What the iterator took was not used: all is as before it."""
        if followed is self._iterator:
            self._iterator = None

    def leave(self, followed, state):
        """The iterator is dropped, behind `state`; None: its stream has no position."""
        if state is None:
            self.forget(followed)
        elif followed is self._iterator:
            self._iterator = None
            self._state = self._behind(state)

    def end(self, followed, state):
        """The iterator came to its end, behind `state`: what comes next is the first batch of the next one."""
        self.leave(followed, None if state is None else self._next_start(state))

    def _behind(self, state):
        # Who knows how many batches there are does not ask for one more.
        return self._next_start(state) if self._is_end(state) else state

    def _check(self, state):
        position_from_dict(state)

    def _is_end(self, state):
        return state["batches"] == self._dataset._runnable.cardinality()

    def _next_start(self, state):
        return {**state, "epoch": self._dataset._runnable.next_epoch(), "batches": 0, "data": ""}


class ZippedProgress(Progress):
    """The same of datasets side by side: the end of the shortest is the end of all."""

    def __init__(self, dataset):
        super().__init__(dataset)
        self._parts = [Progress(part) for part in dataset.datasets]

    def _check(self, state):
        for part, own in zip(self._parts, states_of(state, len(self._parts))):
            part._check(own)

    def _is_end(self, state):
        return any(part._is_end(own) for part, own in zip(self._parts, states_of(state, len(self._parts))))

    def _next_start(self, state):
        states = states_of(state, len(self._parts))
        return {**state, "zipped": [part._next_start(own) for part, own in zip(self._parts, states)]}
