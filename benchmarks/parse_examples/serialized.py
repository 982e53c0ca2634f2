"""Batches of serialized Examples in memory, cut from uncompressed shards by their length fields (checked elsewhere)."""

import struct
from pathlib import Path

BATCH = 256


def batches(shards, count):
    """Up to `count` lists of 256 serialized Examples; the last one may be shorter."""
    found = records(shards, count)
    return [found[i : i + BATCH] for i in range(0, len(found), BATCH)]


def records(shards, count):
    """The serialized Examples of `count` batches."""
    found = []
    for shard in shards:
        data = Path(shard).read_bytes()
        position = 0
        while position < len(data) and len(found) < count * BATCH:
            (size,) = struct.unpack_from("<Q", data, position)
            found.append(data[position + 12 : position + 12 + size])
            position += 16 + size
    return found
