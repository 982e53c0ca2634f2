"""The direct route: a tf.distribute.DistributedDataset made in Python, without tf.data.

Each element is a nest of PerReplica tensors that share the engine's memory. Keras takes the object as it is. Inside a
tf.function next() emits the native op per replica instead. This module uses a few private names of TensorFlow;
`self_test()` tries them all, and `headrace.tensorflow` takes the other route when it fails.
"""

import contextlib
import sys
import time

import numpy as np
import tensorflow as tf
from tensorflow.python.distribute import input_lib, values

from . import _tf_average, _tf_waits
from ._tf_graph import GraphFeed
from ._tf_stream import Stream
from .errors import ArgumentError, ClosedError
from .pipeline import position_from_dict, position_to_dict
from .progress import Progress

_IN_FUNCTION = (
    "iterating over a headrace distributed dataset inside a tf.function: make the iterator outside and call next() on it "
    "inside, or give the function headrace.tensorflow.dataset(pipeline), distributed by strategy.experimental_distribute_dataset"
)

# The profiler's analysis of the input takes what begins like this for waits for a batch. Without a profiler nothing is made.
_TRACED_AS = "IteratorGetNext headrace"


class Peeks:
    """The stream of which one batch was taken and whose iterator is gone: the next iterator goes on with it.

    Keras opens an iterator before training, looks at one batch and drops it; this way that costs neither data nor an epoch.
    """

    def __init__(self):
        self._kept = None

    def take(self):
        """The kept stream, or None."""
        kept, self._kept = self._kept, None
        return kept

    def give_back(self, stream):
        """Takes over the stream of an iterator that is dropped."""
        if not stream.is_peek:
            stream.close()
            return
        if self._kept is not None:
            self._kept.close()
        self._kept = stream


class DirectDataset(input_lib.DistributedDataset):
    """What `distribute` gives. Each iter() is a run over the data of its own; a batch is read when it is asked for.

    It and the datasets made from it by map() and prefetch() have one state: where the iterator stands that delivered last.
    """

    def __init__(self, recipe, progress=None):  # TensorFlow's own __init__ builds a tf.data pipeline
        self._recipe = recipe
        self._peeks = Peeks()
        self._progress = progress or Progress(recipe.dataset)

    def __iter__(self):
        if tf.inside_function():
            raise TypeError(_IN_FUNCTION)
        # Keras' trainers tell the end of the data by OutOfRangeError; a for loop by StopIteration.
        caller = sys._getframe(1).f_globals.get("__name__", "").split(".")[0]
        averages = self._recipe.replicas > 1 and _tf_average.is_asked_for()
        return DirectIterator(self._recipe, self._peeks, self._progress, caller == "keras", averages)

    def state_dict(self):
        """Where the iteration stands behind the last batch handed out: a dict of str and int, {} before the first.

        Behind the last batch of an iterator that has ended, it is where the next one starts.
        """
        return self._progress.state_dict()

    def load_state_dict(self, state):
        """The next iterator continues where `state` was taken."""
        self._progress.load_state_dict(state)

    def map(self, function, *_, **__):
        """The dataset of function(element), as tf.data's map: called per replica, ahead of the step."""
        return DirectDataset(self._recipe.with_functions(function), self._progress)

    def prefetch(self, buffer_size, **_):
        """The dataset with that many mapped batches waiting ready; AUTOTUNE leaves it as it is."""
        size = int(buffer_size)
        return self if size < 1 else DirectDataset(self._recipe.with_ahead(size), self._progress)

    @property
    def element_spec(self):
        """A nest of PerReplicaSpec (of plain specs when there is one replica)."""
        replicas = self._recipe.replicas
        if replicas == 1:
            return self._recipe.spec
        return tf.nest.map_structure(lambda spec: values.PerReplicaSpec(*[spec] * replicas), self._recipe.spec)

    @property
    def cardinality(self):
        """Batches, as np.int64; tf.data.UNKNOWN_CARDINALITY or INFINITE_CARDINALITY where there is no number."""
        batches = self._recipe.dataset._core.cardinality()
        return np.int64(tf.data.UNKNOWN_CARDINALITY if batches is None else batches)

    def reduce(self, initial_state, reduce_func):  # what autograph makes of `for x in ds`
        raise TypeError(_IN_FUNCTION)

    @property
    def _type_spec(self):  # asked for when the object is an argument of a tf.function
        raise TypeError(_IN_FUNCTION)


class DirectIterator:
    """Deliberately no tf.distribute.DistributedIterator: Keras then takes batches in Python and passes them on.

    Used by one thread at a time. `next()` raises StopIteration at the end, `get_next()` OutOfRangeError, as
    TensorFlow's own iterators do.
    """

    def __init__(self, recipe, peeks, progress, raises_out_of_range, is_averaged):
        self._recipe = recipe
        self._peeks = peeks
        self._progress = progress
        self._raises_out_of_range = raises_out_of_range
        self._is_averaged = is_averaged  # its first batch, by Keras
        self._position = None
        self._stream = None  # eager delivery, or
        self._graph_feed = None  # delivery in graphs
        self._handed = 0  # batches of the stream that are behind the user, those before a loaded position included
        self._takes_first = True  # of a stream that another iterator peeked at
        self._closed = False
        self._followed = None  # by progress, once it delivers

    def __iter__(self):
        if tf.inside_function():
            raise TypeError(_IN_FUNCTION)
        return self

    def __next__(self):
        if tf.inside_function():
            return self._emit()
        try:
            return self._take()
        except StopIteration:
            if self._raises_out_of_range:
                raise tf.errors.OutOfRangeError(None, None, "End of sequence") from None
            raise

    def get_next(self):
        """The next element; OutOfRangeError at the end."""
        if tf.inside_function():
            return self._emit()
        try:
            return self._take()
        except StopIteration:
            raise tf.errors.OutOfRangeError(None, None, "End of sequence") from None

    def state_dict(self):
        """The position behind the last batch handed out; batches that wait ready do not count."""
        pipeline = self._pipeline()
        back = 0
        position = pipeline.position()
        while self._graph_feed is None and position.batches != self._handed:
            back += position.batches - self._handed  # again when more was made ahead meanwhile
            position = pipeline.position(back)
        return position_to_dict(position)

    def report(self):
        """What the stages did up to now, and by `route` how the batches travel and why; see headrace.Pipeline.report."""
        return self._pipeline().report()

    def load_state_dict(self, state):
        """Continues where `state` was taken; before the first next()."""
        if self._stream is not None or self._graph_feed is not None:
            raise ArgumentError("load_state_dict: must be called before the first next()")
        self._position = position_from_dict(state)
        self._handed = self._position.batches

    def close(self):
        """Stops the work behind the iterator; idempotent."""
        self._leave()
        self._closed = True
        for feed in (self._stream, self._graph_feed):
            if feed is not None:
                feed.close()

    def __del__(self):
        self._leave()
        if self._stream is not None and not self._closed:
            self._peeks.give_back(self._stream)
        if self._graph_feed is not None:
            self._graph_feed.close()

    def _leave(self):
        if self._followed is None or self._closed:
            return
        if self._stream is not None and self._stream.is_peek:
            self._progress.forget(self._followed)
            return
        with contextlib.suppress(ClosedError):  # in a child of fork()
            self._progress.leave(self._followed, self._behind())

    def _take(self):
        with tf.profiler.experimental.Trace(_TRACED_AS):
            return self._take_traced()

    def _take_traced(self):
        began = time.perf_counter()
        stream = self._attach()
        if self._takes_first and stream.first is not None:
            number, rows, element = stream.first
        else:
            try:
                number, rows, element = stream.next()
            except StopIteration:
                self._progress.end(self._followed, self._behind())
                raise
        if self._is_averaged and self._takes_first:
            _tf_average.check(self._recipe, element)
        self._takes_first = False
        self._handed = number + 1
        _tf_waits.note(time.perf_counter() - began, rows, self._recipe.mapper is not None)
        return element

    def _behind(self):
        """state_dict(), or None for a stream without positions."""
        return self.state_dict() if self._pipeline().has_position else None

    def _pipeline(self):
        return self._graph_feed.pipeline if self._graph_feed is not None else self._attach().pipeline

    def _attach(self):
        if self._closed:
            raise ClosedError("the iterator is closed")
        if self._graph_feed is not None:
            raise ArgumentError("this iterator feeds a tf.function; take batches in Python from another iterator")
        if self._stream is None:
            self._stream = self._start()
            self._handed = self._stream.before
        return self._stream

    def _start(self):
        self._take_loaded()
        kept = self._peeks.take()
        self._followed = self._progress.follow(self)
        if kept is not None and self._position is None:
            return kept
        if kept is not None:
            kept.close()
        return Stream(self._recipe, self._position)

    def _take_loaded(self):
        state = self._progress.take_loaded()
        if state is not None and self._position is None:
            self._position = position_from_dict(state)

    def _emit(self):
        if self._stream is not None:
            raise ArgumentError("this iterator gave batches to Python already; make another one for the tf.function")
        if self._graph_feed is None:
            self._take_loaded()
            self._followed = self._progress.follow(self)
            with tf.init_scope():
                self._graph_feed = GraphFeed(self._recipe, self._position)
        return self._graph_feed.emit()


def self_test():
    """Raises when this TensorFlow does not take the objects of this module for what they stand for."""
    if not issubclass(DirectDataset, tf.distribute.DistributedDataset):
        raise TypeError("tf.distribute.DistributedDataset is no base of the direct dataset")
    names = [base.__name__ for base in DirectDataset.__mro__ if "tensorflow.python." in base.__module__]
    if "DistributedDataset" not in names:  # how Keras tells it
        raise TypeError("no base class named DistributedDataset")
    if issubclass(DirectIterator, (tf.data.Iterator, tf.distribute.DistributedIterator)):
        raise TypeError("the direct iterator would be passed into a graph")
    both = values.PerReplica((tf.constant(1), tf.constant(2)))
    if not isinstance(both, tf.distribute.DistributedValues) or len(both.values) != 2:
        raise TypeError("PerReplica holds no values")
    values.PerReplicaSpec(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
