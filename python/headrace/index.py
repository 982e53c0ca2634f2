"""Indexes of files: index_files() makes them, read_index() reads one."""

import concurrent.futures
import os

from . import _core, arguments, settings
from .errors import ArgumentError, Error
from .verify import find_files


def index_files(files, beside=False, compression="auto", threads=None):
    """Reads files to their ends, several at once, and writes down where their records are (docs/formats/index.md).

    With an index of every file, len() of a dataset is known before anything is read.

    Args:
        files: as TFRecordDataset takes them.
        beside: put each index next to its file, under a hidden name, instead of into the cache folder.
        compression: "auto" (by content), or the one that all of them must have.
        threads: files read at once (>= 1); None: the CPUs this process may use.

    Returns:
        An iterator of (path, path of its index, or the headrace.Error why there is none), in the order of the files. A damaged
        file has none: repair_file() makes one that can have it.
    """
    paths = [path for path, _, _ in find_files(files)]
    word = arguments.compression(compression)
    if threads is None:
        threads = settings.available_cpus()
    threads = min(arguments.small_integer("threads", threads, minimum=1), len(paths))
    return _indexes(paths, bool(beside), word, threads)


def read_index(path):
    """The lengths of the records that an index file tells of, as a list: ours, or the text of DALI's tfrecord2idx."""
    return _core.read_index(arguments.path("path", path))


def _indexes(paths, beside, compression, threads):
    stop = _core.StopFlag()

    def write(path):
        try:
            return path, _core.write_index(os.fsencode(path), beside, compression, stop)
        except ArgumentError:
            raise  # there is no cache folder: the same for all files
        except Error as failure:
            return path, failure

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(write, paths)
        finally:
            stop.set()  # when the caller gave up, the files that are being read are left where they are
