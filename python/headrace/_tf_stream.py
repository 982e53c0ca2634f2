"""Eager delivery: one cursor of the engine, and the elements made from its batches.

A `Stream` is used by one iterator at a time. With map functions a thread of its own makes elements ahead of the step. It
holds no reference to the stream; closing the stream (also by dropping it, or at the interpreter's exit) wakes and joins it.
"""

import atexit
import functools
import os
import queue
import threading
import time
import weakref

import tensorflow as tf
from tensorflow.python.distribute import values

from . import _core, _tf_ops, status_line
from .errors import ClosedError

_open = weakref.WeakSet()
_from_dlpack = tf.experimental.dlpack.from_dlpack


@atexit.register
def _close_all():
    for stream in list(_open):
        stream.close()


class Maker:
    """Makes the elements of one pipeline from its batches. One thread at a time."""

    def __init__(self, recipe, pipeline):
        self._recipe = recipe
        self._pipeline = pipeline
        self._seed = recipe.seed
        self._on_host = [":CPU:" in device.upper() for device in recipe.devices]
        self._source = None
        if recipe.elements.needs_op and _tf_ops.load() is not None:
            self._source = _core.tensorflow_batch_source(recipe.elements.plan)
            with tf.device("/CPU:0"):
                self._address = tf.constant(self._source.address, tf.int64)
                self._replicas = [tf.constant(replica, tf.int64) for replica in range(recipe.replicas)]

    def next(self):
        """(number of the batch, rows of each replica, element). StopIteration at the end; the engine's errors."""
        batch = self._pipeline.next()
        arrays = self._arrays(batch)
        if self._recipe.mapper is None:
            return batch.number, batch.replica_rows, self._compose(arrays)
        begin_ns = time.monotonic_ns()
        mapped = self._map(arrays, batch)
        _core.add_to_trace("map", begin_ns, time.monotonic_ns())
        return batch.number, batch.replica_rows, mapped

    def _arrays(self, batch):
        """Flat tensors in host memory, one list a replica, sharing the memory of the batch."""
        elements = self._recipe.elements
        if self._source is not None:
            self._source.set_batch(batch)
            with tf.device("/CPU:0"):
                return [_tf_ops.next_arrays(self._address, replica, elements.flat_specs)[1] for replica in self._replicas]
        if elements.needs_op:
            return [
                [tf.constant(array, spec.dtype) for array, spec in zip(elements.host_arrays(part), elements.flat_specs)]
                for part in batch.replicas
            ]
        capsules = elements.plan.capsules
        return [[_from_dlpack(capsule) for capsule in capsules(part)] for part in batch.replicas]

    def _compose(self, arrays):
        columns = [self._place(self._recipe.elements.columns_of(part), r) for r, part in enumerate(arrays)]
        return self._recipe.elements.build([_per_replica(parts) for parts in zip(*columns)])

    def _map(self, arrays, batch):
        mapper = self._recipe.mapper
        host = self._recipe.map_device == "host" or self._recipe.dependent
        if self._recipe.dependent:
            with tf.device("/CPU:0"):
                flats = mapper([array for part in arrays for array in part], self._seed_of(batch, 0))
        else:
            flats = []
            for replica, part in enumerate(arrays):
                with tf.device("/CPU:0" if host else self._recipe.devices[replica]):
                    flats += mapper(part, self._seed_of(batch, replica))
        if mapper.has_composites:
            flats = [tf.nest.flatten(mapper.pack(flat)) for flat in flats]
        if host:
            flats = [self._place(flat, replica) for replica, flat in enumerate(flats)]
        return tf.nest.pack_sequence_as(mapper.spec, [_per_replica(parts) for parts in zip(*flats)])

    def _seed_of(self, batch, replica):
        if not self._recipe.mapper.takes_seed:
            return _no_seed()
        return tf.constant(_core.tensorflow_seed(self._seed, batch.epoch, batch.number, replica), tf.int32)

    def _place(self, tensors, replica):
        """`tensors` in the memory of the replica's device; host devices share theirs."""
        if self._on_host[replica]:
            return tensors
        with tf.device(self._recipe.devices[replica]):
            return [tf.nest.map_structure(tf.identity, tensor, expand_composites=True) for tensor in tensors]


def _per_replica(parts):
    # TensorFlow wraps nothing when there is one replica, and user code relies on it.
    return values.PerReplica(parts) if len(parts) > 1 else parts[0]


@functools.lru_cache(maxsize=None)
def _no_seed():
    """What a trace gets whose functions take no seed."""
    with tf.device("/CPU:0"):
        return tf.zeros([2], tf.int32)


class Stream:
    """Elements in order. `next()` gives what Maker.next() does or raises, and then raises the same again."""

    def __init__(self, recipe, position=None):
        self._process = os.getpid()
        self._worker = None
        self.pipeline = None
        self.pipeline = recipe.open(position)
        self.before = position.batches if position is not None else 0  # batches before this stream
        maker = Maker(recipe, self.pipeline)
        if recipe.mapper is not None:
            self._worker = Worker(maker, recipe.ahead)
        self._next = self._worker.next if self._worker is not None else maker.next
        self.first = None  # kept until a second one is asked for: a peek is given again
        self.delivered = 0
        self._ended = False
        self._failure = None
        _open.add(self)

    def next(self):
        if os.getpid() != self._process:
            raise ClosedError("the iterator was made before fork() and cannot be used in the child; make one there")
        if self._ended:
            raise StopIteration
        if self._failure is not None:
            raise self._failure
        try:
            numbered = self._next()
        except StopIteration:
            self._ended = True
            raise
        except Exception as failure:
            self._failure = failure
            raise
        self.delivered += 1
        self.first = numbered if self.delivered == 1 else None
        return numbered

    @property
    def is_peek(self):
        """Whether one batch was taken and there may be more: as who looks at the shape of the data does."""
        more = not self._ended and self._failure is None and self.pipeline.cardinality() != 1
        return self.first is not None and more

    def close(self):
        """Stops the engine and the thread; idempotent. A child of fork() has neither and touches none of their locks."""
        if os.getpid() != self._process:
            return
        self.first = None
        if self._worker is not None:
            self._worker.stop()
        if self.pipeline is not None:
            self.pipeline.close()
            status_line.end(self.pipeline)
        if self._worker is not None:
            self._worker.join()

    def __del__(self):
        self.close()


class Worker:
    """A thread that makes up to `ahead` elements before they are asked for."""

    def __init__(self, maker, ahead):
        self._results = queue.SimpleQueue()
        self._room = threading.Semaphore(max(1, ahead))
        self._stop = threading.Event()
        arguments = (maker, self._results, self._room, self._stop)
        self._thread = threading.Thread(target=_work, args=arguments, name="headrace map", daemon=True)
        self._thread.start()

    def next(self):
        asked_ns = time.monotonic_ns()
        numbered, failure = self._results.get()
        if failure is not None:
            raise failure
        self._room.release()
        _core.add_to_trace("wait", asked_ns, time.monotonic_ns())
        return numbered

    def stop(self):
        self._stop.set()
        self._room.release()

    def join(self):
        if self._thread is not threading.current_thread():
            self._thread.join()


def _work(maker, results, room, stop):
    _core.trace_works_ahead()
    while True:
        room.acquire()
        if stop.is_set():
            return
        try:
            results.put((maker.next(), None))
        except BaseException as failure:
            results.put((None, failure))
            return
