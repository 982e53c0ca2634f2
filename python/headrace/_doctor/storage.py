"""The storage: how fast one stream and several streams of it are, from the page cache and from behind it."""

import concurrent.futures
import dataclasses
import os
import time

from .shards import opened, resident_bytes

_BLOCK = 1 << 20
_STREAMS = 4
# A file that the system still holds after it was told to forget it tells nothing about the storage behind.
_FORGOTTEN = 0.1
# So much of a file is forgotten, read, and asked for again where it was there.
_COLD_BYTES = 32 << 20


@dataclasses.dataclass(frozen=True)
class Storage:
    """Bytes a second: from the page cache and cold by one stream, cold by four; None where that was not measured.

    `open=` files have no page cache that is known of: what they give is `cold`. `block_seconds` is one read of 1 MiB of it.
    """

    warm: float | None = None
    cold: float | None = None
    cold_streams: float | None = None
    block_seconds: float | None = None


def probe(shards, seconds=1.0):
    """Reads some of the shards, for about `seconds` in all. Files that were in the page cache are there again afterwards."""
    if shards.open is not None:
        return _through_open(shards, seconds)
    paths = [path for path in shards.local if os.path.getsize(path)]
    if not paths:
        return Storage()
    part = seconds / 4
    warm_path, *others = paths
    _read(shards, warm_path, part)
    warm = _read(shards, warm_path, part)
    cold = _cold([others[0] if others else warm_path], shards, part)
    streams = _cold(others[1 : 1 + _STREAMS], shards, part) if len(others) > _STREAMS else None
    return Storage(warm, cold, streams, _BLOCK / cold if cold else None)


def _through_open(shards, seconds):
    names = shards.names[:_STREAMS]
    one = _read(shards, names[0], seconds / 2)
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        several = sum(pool.map(lambda name: _read(shards, name, seconds / 2), names))
    return Storage(None, one, several if len(names) > 1 else None, _BLOCK / one if one else None)


def _cold(paths, shards, seconds):
    """Bytes a second of the begins of files, which the page cache was told to forget; None when it did not."""
    known = []
    try:
        for path in paths:
            if resident_bytes(path, _COLD_BYTES)[0]:
                known.append(path)
            _advise(path, os.POSIX_FADV_DONTNEED)
            after, size = resident_bytes(path, _COLD_BYTES)
            if after > _FORGOTTEN * size:
                return None
        with concurrent.futures.ThreadPoolExecutor(len(paths)) as pool:
            return sum(pool.map(lambda path: _read(shards, path, seconds, _COLD_BYTES), paths))
    finally:
        for path in known:
            _advise(path, os.POSIX_FADV_WILLNEED)


def _advise(path, advice):
    with open(path, "rb") as file:
        if advice == os.POSIX_FADV_DONTNEED:
            os.fsync(file.fileno())  # what is not written yet is not forgotten
        os.posix_fadvise(file.fileno(), 0, _COLD_BYTES, advice)


def _read(shards, name, seconds, limit=None):
    """Bytes a second of one stream from the begin of a file, for as long, to its end or to `limit`; at least one block."""
    file = opened(shards, name)
    try:
        begin = time.perf_counter()
        end, read = begin + seconds, 0
        while True:
            block = file.read_at(read, _BLOCK)
            read += len(block)
            now = time.perf_counter()
            if len(block) < _BLOCK or now >= end or (limit is not None and read >= limit):
                return read / (now - begin)
    finally:
        file.close()
