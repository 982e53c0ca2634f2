"""Files that only Python can read: from a function of the user's (open=...), or through fsspec.

What the engine uses of them: find(items, is_list) -> [(path, bytes)], open(path) -> an object with read_at(offset, size) and
close(). Its threads call these, several at once, but only one for each opened file.
"""

import os
import re

from .errors import ArgumentError

_OWN_SCHEMES = ("https", "http", "s3", "gs")
_URL = re.compile(r"([a-z][a-z0-9+.-]*)(?:://|::.*://)")


def provider(open_function, paths):
    """What finds and opens `paths` (bytes) instead of the engine; None when the engine does."""
    if open_function is not None:
        if not callable(open_function):
            raise ArgumentError(f"open={open_function!r}: must be a function of a path")
        return CallableFiles(open_function)
    schemes = {match[1] for path in paths if (match := _URL.match(os.fsdecode(path)))}
    if schemes.issubset(_OWN_SCHEMES):
        return None
    return FsspecFiles()


def describe(error):
    """(name of a StatusCode, text) of an exception that a function of the user's raised."""
    code = "io"
    if isinstance(error, FileNotFoundError):
        code = "not_found"
    elif isinstance(error, PermissionError):
        code = "permission_denied"
    return code, f"{type(error).__name__}: {error}"


class OpenedFile:
    """A file object with the two calls that the engine makes."""

    def __init__(self, file):
        self._file = file

    def size(self):
        return self._file.seek(0, os.SEEK_END)

    def read_at(self, offset, size):
        if self._file.tell() != offset:
            self._file.seek(offset)
        data = self._file.read(size)
        return data if isinstance(data, bytes) else bytes(data)

    def close(self):
        self._file.close()


class CallableFiles:
    """The files that open_function(path) opens."""

    def __init__(self, open_function):
        self._open = open_function

    def find(self, items, is_list):
        found, missing = [], []
        for path in items:
            try:
                file = self.open(path)
            except FileNotFoundError:
                missing.append(path)
                continue
            try:
                found.append((path, file.size()))
            finally:
                file.close()
        if missing:
            raise FileNotFoundError(f"{len(missing)} of {len(items)} files cannot be opened: {', '.join(missing[:8])}")
        return found

    def open(self, path):
        return OpenedFile(self._open(path))


class FsspecFiles:
    """The files behind URLs that fsspec knows."""

    def __init__(self):
        try:
            import fsspec
        except ImportError:
            raise ArgumentError(
                "files: URLs other than https://, http://, s3:// and gs:// are read through fsspec, which is not installed"
            ) from None
        self._to_fs = fsspec.core.url_to_fs

    def find(self, items, is_list):
        found = []
        for item in items:
            system, path = self._to_fs(item)
            if is_list or system.isfile(path):
                entries = [system.info(path)]
            elif any(character in path for character in "*?["):
                entries = list(system.glob(path, detail=True).values())
            else:
                entries = system.ls(path, detail=True)
            kept = [entry for entry in entries if entry["type"] == "file" and (is_list or not _is_side(entry["name"]))]
            if not kept:
                raise FileNotFoundError(f"no file matches {item}")
            names = [(self._url(system, item, entry["name"]), entry["size"]) for entry in kept]
            found += names if is_list else sorted(names)
        return found

    def open(self, path):
        system, inner = self._to_fs(path)
        return OpenedFile(system.open(inner, "rb"))

    @staticmethod
    def _url(system, item, name):
        # Of a chain of systems ("simplecache::memory://…") each part is kept.
        chain, _, _ = item.rpartition("::")
        return (chain + "::" if chain else "") + system.unstrip_protocol(name)


def _is_side(path):
    return path.rsplit("/", 1)[-1].startswith((".", "_"))
