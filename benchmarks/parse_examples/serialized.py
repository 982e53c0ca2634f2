"""Batches of serialized Examples in memory, cut from uncompressed shards by their length fields (checked elsewhere)."""

import struct
from pathlib import Path

BATCH = 256


def batches(shards, count):
    """Up to `count` lists of 256 serialized Examples; the last one may be shorter."""
    records = []
    for shard in shards:
        data = Path(shard).read_bytes()
        position = 0
        while position < len(data) and len(records) < count * BATCH:
            (size,) = struct.unpack_from("<Q", data, position)
            records.append(data[position + 12 : position + 12 + size])
            position += 16 + size
    return [records[i : i + BATCH] for i in range(0, len(records), BATCH)]
