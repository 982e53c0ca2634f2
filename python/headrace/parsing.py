"""Serialized Examples and tensors that the caller holds: parsed without a pipeline, to the columns a pipeline would give.

What may be passed as serialized bytes, here and below: bytes (one string), a list or other iterable of bytes, a NumPy
object array of bytes, a BytesColumn, an Arrow array of type binary or large_binary (anything with `__arrow_c_array__`, such as a
pyarrow.BinaryArray; its memory is read in place), or anything else that NumPy turns into an object array of bytes.

The work is done without the GIL, on `num_threads` threads; the calling one is the first of them.
"""

import numpy as np

from . import _core, arguments
from .dtypes import as_dtype
from .errors import ArgumentError
from .features import to_schema


def parse_example(serialized, features, num_threads=1):
    """Parses serialized Examples to {name: column}, as Dataset.parse does; tf.io.parse_example.

    Args:
        serialized: the Examples, see this module; n of them in one dimension. A single bytes object is parsed as
            parse_single_example does.
        features: {name: spec}, specs of headrace or of tf.io.
        num_threads: threads to parse on, >= 1.

    Returns:
        {name: column} in the order of `features`; the first dimension of every column is n.

    Raises:
        SchemaError: at the first record that does not fit, with its row and key.
        ValueError: for specs and arguments that cannot be.
    """
    strings = to_strings("serialized", serialized)
    if isinstance(strings, bytes):
        return parse_single_example(strings, features)
    schema, _ = to_schema(features)
    rank = rank_of(strings)
    if rank != 1:
        raise ArgumentError(f"serialized: Expected serialized to be a scalar or vector, found {rank} dimensions")
    parsed = _core.parse_example(strings, schema, arguments.small_integer("num_threads", num_threads, minimum=1))
    return dict(parsed.items())


def parse_single_example(serialized, features):
    """Parses one serialized Example; tf.io.parse_single_example.

    Args:
        serialized: bytes.
        features: {name: spec}, specs of headrace or of tf.io.

    Returns:
        {name: column} without a dimension for the batch: FixedLenFeature [*shape], FixedLenSequenceFeature
        [steps, *shape], VarLenFeature and a RaggedFeature without partitions a dense [values], with partitions a Ragged
        of the first of them.

    Raises:
        SchemaError: when the Example does not fit, with its key.
        ValueError: for specs and arguments that cannot be.
    """
    strings = to_strings("serialized", serialized)
    if not isinstance(strings, bytes):
        raise ArgumentError("serialized: Input serialized must be a scalar: one bytes; parse_example takes several")
    schema, _ = to_schema(features)
    return dict(_core.parse_single_example(strings, schema).items())


def parse_tensor(serialized, out_type, num_threads=1):
    """Reads serialized TensorProtos, as tf.io.serialize_tensor and make_tensor write them; tf.io.parse_tensor.

    Args:
        serialized: one proto or many, see this module.
        out_type: the element type that each proto must have.
        num_threads: threads to read on, >= 1.

    Returns:
        A dense column [*shape of serialized, *shape of the tensors]; a BytesColumn for strings. For one bytes object,
        that is the tensor alone.

    Raises:
        SchemaError: bytes that are no TensorProto, another type, or another shape than that of the first; with its row.
        BudgetError: protos of a few bytes that claim more than 1 GiB of equal elements.
    """
    dtype = as_dtype(out_type, "out_type")
    strings = to_strings("serialized", serialized)
    return _core.parse_tensor(strings, dtype, arguments.small_integer("num_threads", num_threads, minimum=1))


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, num_threads=1):
    """Reads strings that are the elements of arrays; tf.io.decode_raw.

    Args:
        input_bytes: one string or many, see this module.
        out_type: the element type, any but string.
        little_endian: byte order of the strings.
        fixed_length: bytes per string, a multiple of the element's size: longer strings are cut, shorter ones filled with
            zeros. None: all strings have the same length.
        num_threads: threads to work on, >= 1.

    Returns:
        A dense column [*shape of input_bytes, elements].

    Raises:
        SchemaError: a length that is no whole number of elements, or differs from that of the first string; with its row.
        ValueError: an out_type or fixed_length that cannot be.
    """
    dtype = as_dtype(out_type, "out_type")
    strings = to_strings("input_bytes", input_bytes)
    return _core.decode_raw(
        strings,
        dtype,
        bool(little_endian),
        arguments.optional_integer("fixed_length", fixed_length),
        arguments.small_integer("num_threads", num_threads, minimum=1),
    )


def to_strings(parameter, value):
    """`value` as the engine takes it: bytes, a tuple, a BytesColumn, an Arrow array or a NumPy object array."""
    if isinstance(value, (bytes, _core.BytesColumn)):
        return value
    if hasattr(value, "__arrow_c_array__"):
        return value
    if not hasattr(value, "__array__"):
        if hasattr(value, "__iter__") and not isinstance(value, str):
            return tuple(value)
        found = type(value).__name__
        raise ArgumentError(f"{parameter}: expected bytes, a list of bytes or an array of bytes, found {found}")
    array = np.asarray(value)
    if array.dtype.kind == "S":
        raise ArgumentError(
            f"{parameter}: a NumPy array of {array.dtype} lost the zero bytes at the ends of its strings; use dtype=object"
        )
    if array.dtype != object:
        raise ArgumentError(f"{parameter}: expected an object array of bytes, found {array.dtype}")
    return to_strings(parameter, array.item()) if array.ndim == 0 else array


def rank_of(strings):
    """Dimensions of what to_strings() gives."""
    return 0 if isinstance(strings, bytes) else len(getattr(strings, "shape", (1,)))
