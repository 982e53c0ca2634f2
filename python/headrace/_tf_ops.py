"""The native TensorFlow ops of headrace/_tf_op.so: loading them, and calling them in a graph.

The library is built without TensorFlow; it registers its ops with whichever TensorFlow 2 is loaded, when that has the C
kernel API. Where it does not load, `load()` gives None and says why once, and callers take slower ways.
"""

import functools
import logging
from pathlib import Path

import tensorflow as tf

_logger = logging.getLogger("headrace.tensorflow")


@functools.lru_cache(maxsize=None)
def load():
    """The module with headrace_open, headrace_next and headrace_close, or None."""
    path = Path(__file__).with_name("_tf_op.so")
    try:
        ops = tf.load_op_library(str(path))
    except (tf.errors.OpError, OSError, RuntimeError) as error:
        _logger.warning("the native op does not load, strings and tf.data take a slower way: %s", error)
        return None
    if not hasattr(ops, "headrace_next"):
        _logger.warning("TensorFlow %s lacks the C kernel API, strings and tf.data take a slower way", tf.__version__)
        return None
    return ops


def next_arrays(source, replica, specs):
    """Emits the op: the next slice of `replica` of `source` (an int64 tensor) as flat arrays of `specs`, and its seed.

    The op runs on the host. In a graph it runs every time; OutOfRangeError is the end of the stream.
    """
    seed, arrays = load().headrace_next(source=source, replica=replica, T=[spec.dtype for spec in specs])
    seed.set_shape([2])
    for array, spec in zip(arrays, specs):
        array.set_shape(spec.shape)
    return seed, arrays
