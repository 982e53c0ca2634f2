"""Whole files of records: verify_files() finds what is damaged in them, repair_file() copies what is not."""

import concurrent.futures
import os
import threading
from dataclasses import dataclass
from typing import Any

from . import _core, arguments, provided, settings
from .errors import ArgumentError, DataLossError, Error


@dataclass(frozen=True)
class FileCheck:
    """What is in one file.

    Attributes:
        path: the file.
        compression: "none", "gzip", …; "auto" when it was not even opened.
        records: number of whole records.
        bytes: of their payloads.
        regions: a list of SkippedRegion, one for each damage, in their order.
        error: the headrace.Error that ended the reading before the end of the file; None.
    """

    path: str
    compression: str
    records: int
    bytes: int
    regions: list
    error: Any = None

    @property
    def whole(self):
        """Whether the file was read to its end and nothing in it is damaged."""
        return self.error is None and not self.regions


def find_files(files, open=None):
    """[(path, bytes, name)] of the files that `files` names, as TFRecordDataset takes them; no local file is opened.

    The path is what is shown, the name is what opens it: of a URL the name alone has user, password and query.
    """
    is_list = not isinstance(files, (str, bytes, os.PathLike))
    if is_list and not hasattr(files, "__iter__"):
        raise ArgumentError(f"files={files!r}: must be a path or a list of paths")
    paths = [arguments.path("files", file) for file in (files if is_list else [files])]
    return _core.find_files(paths, is_list, provided.provider(open, paths))


def verify_files(files, compression="auto", max_record_bytes=None, threads=None, progress=None, open=None):
    """Reads files to their ends, several at once, and checks everything: framing, both checksums, the compressed stream.

    Args:
        files: as TFRecordDataset takes them.
        compression: "auto" (by content), or the one that all of them must have.
        max_record_bytes: a larger record is an error; None: 4 GiB - 1.
        threads: files read at once (>= 1); None: the CPUs this process may use.
        progress: called with a number of bytes of the files, whenever these were read; from several threads.
        open: as of TFRecordDataset.

    Returns:
        An iterator of FileCheck, in the order of the files.

    Raises:
        FileNotFoundError, PermissionError, OSError: at once, naming all files that cannot be read.
    """
    found = [(path, name) for path, _, name in find_files(files, open)]
    word = arguments.compression(compression)
    limit = arguments.optional_integer("max_record_bytes", max_record_bytes, minimum=1)
    if threads is None:
        threads = settings.available_cpus()
    threads = min(arguments.small_integer("threads", threads, minimum=1), len(found))
    options = {"compression": word, "max_record_bytes": limit, "provider": _provider(open, found)}
    return _checks(found, options, threads, progress or _ignore)


def repair_file(source, target, compression=None, level=None, overwrite=False, max_record_bytes=None, progress=None, open=None):
    """Copies the whole records of one file to another. `target` has its name once it is complete, not before.

    Args:
        source: the file; its compression is found by content.
        target: where to.
        compression: that of the target, as TFRecordWriter takes it; None: that of the source.
        level: of the compression; None: the usual one.
        overwrite: whether `target` may be there. It is never `source`.
        max_record_bytes, progress, open: as for verify_files.

    Returns:
        The FileCheck of `source`: its regions are what the target lacks.

    Raises:
        ValueError: when there is something at `target`.
        DataLossError: when not one record is whole; nothing is written.
    """
    _refuse_target(source, target, overwrite)
    [(path, _, name)] = find_files([source], open)
    provider = _provider(open, [(path, name)])
    if compression is None:
        compression = _compression_of(name, provider)
    verifier = _core.ShardVerifier(
        os.fsencode(name),
        "auto",
        arguments.optional_integer("max_record_bytes", max_record_bytes, minimum=1),
        arguments.path("target", target),
        arguments.compression(compression),
        arguments.level(level),
        provider,
    )
    check = _check(path, verifier, threading.Event(), progress or _ignore)
    if check.error is not None:
        raise check.error
    if check.records == 0 and check.regions:
        raise DataLossError(f"no record of {check.path} is whole: {check.regions[0]}", path=check.path)
    verifier.close_copy()
    return check


def _refuse_target(source, target, overwrite):
    if not os.path.lexists(target):
        return
    if os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
        raise ArgumentError(f"target={os.fspath(target)!r}: is the source")
    if not overwrite:
        raise ArgumentError(f"target={os.fspath(target)!r}: exists; pass overwrite=True to replace it")


def _provider(open, found):
    return provided.provider(open, [os.fsencode(name) for _, name in found])


def _compression_of(name, provider):
    verifier = _core.ShardVerifier(os.fsencode(name), provider=provider)
    verifier.step()
    return verifier.compression


def _checks(found, options, threads, progress):
    stop = threading.Event()

    def check(file):
        path, name = file
        return _check(path, _core.ShardVerifier(os.fsencode(name), **options), stop, progress)

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(check, found)
        finally:
            stop.set()  # when the caller gave up, the files that are being read are left where they are


def _check(path, verifier, stop, progress):
    regions, error, position = [], None, 0
    try:
        goes_on = True
        while goes_on and not stop.is_set():
            goes_on = verifier.step()
            regions += verifier.take_regions()
            progress(verifier.file_position - position)
            position = verifier.file_position
    except Error as failure:
        error = failure
        regions += verifier.take_regions()
    return FileCheck(path, verifier.compression, verifier.records, verifier.bytes, regions, error)


def _ignore(_):
    pass
