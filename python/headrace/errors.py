"""The exceptions of headrace: one class per outcome of the engine, all of them derived from `Error`.

Each is also the built-in exception a caller would expect: a missing file is a FileNotFoundError, a bad argument a
ValueError. `str(error)` is the whole text in one line; the attributes hold its parts, None where a part is unknown.
"""

import errno
import os


class Error(Exception):
    """Root of all exceptions that headrace raises.

    Attributes:
        message: what happened, without where.
        path: the shard.
        record: ordinal of the record in its shard, from 0.
        offset: byte offset of the record's header in the uncompressed stream.
        key: key of the feature.
        row: row in the global batch, from 0.
        expected, found: what the schema asks for, what the record holds.
    """

    def __init__(
        self, text="", *, message=None, path=None, record=None, offset=None, key=None, row=None, expected=None, found=None
    ):
        super().__init__(text)
        self.text = text
        self.message = text if message is None else message
        self.path = path
        self.record = record
        self.offset = offset
        self.key = key
        self.row = row
        self.expected = expected
        self.found = found

    def __str__(self):
        return self.text

    def __reduce__(self):
        return (_rebuild, (type(self), self.text, {name: getattr(self, name) for name in _PARTS}))


_PARTS = ("message", "path", "record", "offset", "key", "row", "expected", "found")


def _rebuild(kind, text, parts):
    return kind(text, **parts)


class ArgumentError(Error, ValueError):
    """A bad argument, or a combination of options that cannot work. The text names parameter and value."""


class DataLossError(Error):
    """Damaged or truncated data, or the wrong compression."""


class SchemaError(Error, ValueError):
    """A record that does not fit the schema."""


class ClosedError(Error, RuntimeError):
    """Closed while waiting, or used after close() or fork()."""


class BudgetError(Error, MemoryError):
    """One record or batch that does not fit the memory budget."""


class DeviceError(Error):
    """A device that failed."""


class FileError(Error, OSError):
    """A failure of the operating system. `filename` is `path`."""

    _errno = errno.EIO

    def __init__(self, text="", **parts):
        super().__init__(text, **parts)
        self.errno = self._errno
        self.strerror = self.message
        self.filename = self.path


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""

    _errno = errno.ENOENT


class UnreadableFileError(FileError, PermissionError):
    """A file that may not be read."""

    _errno = errno.EACCES


class DirectoryError(FileError, IsADirectoryError):
    """A directory where a file was named."""

    _errno = errno.EISDIR


_BY_CODE = {
    "invalid_argument": ArgumentError,
    "not_found": MissingFileError,
    "permission_denied": UnreadableFileError,
    "io": FileError,
    "data_loss": DataLossError,
    "schema_mismatch": SchemaError,
    "cancelled": ClosedError,
    "resource_exhausted": BudgetError,
    "device": DeviceError,
}


def from_status(code, text, message, path, record, offset, key, row, expected, found):
    """The exception for a failure of the engine; `code` is the name of its StatusCode."""
    kind = _BY_CODE.get(code, Error)
    if kind is FileError and path is not None and os.path.isdir(path):
        kind = DirectoryError
    return kind(
        text, message=message, path=path, record=record, offset=offset, key=key, row=row, expected=expected, found=found
    )
