"""Single files and single records: write and read TFRecord files, build serialized Examples and tensors."""

import numpy as np

from . import _core, arguments, provided
from .dtypes import as_dtype
from .errors import ArgumentError


class TFRecordWriter:
    """Writes one file of records. A context manager: the file gets its name when the block ends without an exception.

    Until then it has a temporary name beside `path`, so that a file with the final name is always whole.

    Args:
        path: where to.
        compression: None or "none", "gzip", "zlib" (TensorFlow's "GZIP" and "ZLIB" too), "zstd", "snappy" (its framing format).
        level: 0 … 9, for zstd 1 … 19; None: 6, for zstd 3. Snappy has none.
        index: put an index beside the file (`.NAME.hrindex`) when it gets its name: what `headrace index --beside` would
            make, without reading the file again.
    """

    def __init__(self, path, compression=None, level=None, index=False):
        word = arguments.compression(compression)
        if word == "auto":
            raise ArgumentError("compression='auto': writing must know which")
        self._core = _core.RecordWriter(arguments.path("path", path), word, arguments.level(level), bool(index))

    def write(self, record):
        """Appends one record; bytes or anything with the buffer protocol."""
        self._core.write(record if isinstance(record, bytes) else bytes(memoryview(record)))

    def close(self):
        """Flushes and gives the file its name. Idempotent."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self._core.discard()


class _Records:
    def __init__(self, core):
        self._core = core

    def __iter__(self):
        return self._core

    def __next__(self):
        return next(self._core)

    def close(self):
        """Closes the file."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def open_records(path, compression="auto", verify="full", max_record_bytes=None, open=None):
    """An iterator over the records of one file, as bytes; also a context manager. Everything as of TFRecordDataset.

    Raises:
        FileNotFoundError, PermissionError, OSError: at once.
        DataLossError: from next(), at the damaged record; what stands before it is delivered.
    """
    name = arguments.path("path", path)
    return _Records(
        _core.RecordReader(
            name,
            arguments.compression(compression),
            str(verify),
            arguments.optional_integer("max_record_bytes", max_record_bytes, minimum=1),
            provided.provider(open, [name]),
        )
    )


def list_file(path):
    """The paths in a text file, one a line, as a list for TFRecordDataset. Empty lines are left out."""
    with open(path, encoding=None, errors="surrogateescape") as lines:
        return [line.rstrip("\r\n") for line in lines if line.strip()]


def make_example(features):
    """A serialized tf.train.Example of {key: values}.

    The kind of each list follows from its values: whole numbers and bools are int64, floats are float32, bytes and str
    (UTF-8) are bytes. Values are numpy arrays (written flat, in C order), lists, or single values. An empty list has no
    kind: pass an empty array of a dtype (object for bytes).

    Raises:
        ValueError: naming the key whose values have no kind or mix several.
    """
    builder = _core.ExampleBuilder()
    for key, values in features.items():
        if isinstance(values, (bytes, str)):
            builder.add_bytes(key, [_encode(values)])
            continue
        array = values if isinstance(values, np.ndarray) else _to_array(key, values)
        if array.dtype.kind == "f":
            builder.add_float(key, np.ascontiguousarray(array, dtype=np.float32).reshape(-1))
        elif array.dtype.kind in "bi" or (array.dtype.kind == "u" and array.max(initial=0) < 2**63):
            builder.add_int64(key, np.ascontiguousarray(array, dtype=np.int64).reshape(-1))
        elif array.dtype.kind in "OSU" and all(isinstance(item, (bytes, str)) for item in array.reshape(-1).tolist()):
            builder.add_bytes(key, [_encode(item) for item in array.reshape(-1).tolist()])
        else:
            raise ArgumentError(f"feature {key!r}: values of type {array.dtype} are no int64, float or bytes list", key=key)
    return builder.build()


def _to_array(key, values):
    items = values if isinstance(values, (list, tuple)) else [values]
    if not items:
        raise ArgumentError(f"feature {key!r}: an empty list has no kind; pass an empty numpy array of a dtype", key=key)
    if any(isinstance(item, (bytes, str)) for item in items):
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array
    try:
        return np.asarray(values)
    except ValueError:
        raise ArgumentError(f"feature {key!r}: values must be flat or a full array", key=key) from None


def _encode(item):
    return item.encode() if isinstance(item, str) else item


def make_tensor(array):
    """A serialized TensorProto of a numpy array of numbers, as tf.io.serialize_tensor makes it."""
    array = np.asarray(array)
    shape = list(array.shape)
    flat = np.ascontiguousarray(array).reshape(-1)
    return _core.make_tensor_proto(as_dtype(array.dtype, "array.dtype"), shape, flat.view(np.uint8))
