"""How a fix is applied to a copy of the pipeline: functions of (dataset, folder, most_bytes) that give the dataset without and with it.

Both run without an end. Fixes of files are tried with the first shards, at least one, up to `most_bytes` of files, both ways, so that
the two differ by the fix alone.
"""

import dataclasses
import itertools
import os
import shutil

from ..provided import CallableFiles
from ..records import TFRecordWriter, open_records
from ..verify import repair_file
from .rebuild import Change, rebuild, source_of
from .shards import look_at

_MOST_SPLIT_BYTES = 64 << 20


def changed(change):
    """The trial of a fix of the pipeline itself."""

    def trial(dataset, _folder, _most_bytes):
        return rebuild(dataset, Change(endless=True)), rebuild(dataset, dataclasses.replace(change, endless=True))

    return trial


def recompressed(compression):
    """The trial of writing the shards anew."""

    def trial(dataset, folder, most_bytes):
        names = _first_shards(dataset, most_bytes)
        opener = source_of(dataset).get("open")
        targets = [os.path.join(folder, f"{number:05d}.tfrecord") for number in range(len(names))]
        for name, target in zip(names, targets):
            repair_file(name, target, compression=compression, open=opener)
        return _on(dataset, names), _on(dataset, targets, compression="auto", open=None)

    return trial


def split(shards):
    """The trial of writing so many shards instead, not compressed otherwise than they are."""

    def trial(dataset, folder, most_bytes):
        names = _first_shards(dataset, min(most_bytes, _MOST_SPLIT_BYTES))
        arguments = source_of(dataset)
        opener, compression = arguments.get("open"), arguments.get("compression", "auto")
        targets = [os.path.join(folder, f"{number:05d}.tfrecord") for number in range(shards)]
        writers = [TFRecordWriter(target, compression=_compression(names[0], opener)) for target in targets]
        records = itertools.chain.from_iterable(open_records(name, compression, open=opener) for name in names)
        for number, record in enumerate(records):
            writers[number % shards].write(record)
        for writer in writers:
            writer.close()
        change = Change(source={"files": targets, "open": None}, endless=True)
        if any(step.name == "interleave" for step in dataset._steps):
            change = dataclasses.replace(change, steps={"interleave": {"cycle_length": shards}})
        else:
            change = dataclasses.replace(change, first=(("interleave", {"cycle_length": shards, "block_length": 16}),))
        return _on(dataset, names), rebuild(dataset, change)

    return trial


def copied(dataset, folder, most_bytes):
    """The trial of a local disk instead of a function that opens files."""
    opener = source_of(dataset)["open"]
    names = _first_shards(dataset, most_bytes)
    files = CallableFiles(opener)
    targets = [os.path.join(folder, f"{number:05d}.tfrecord") for number in range(len(names))]
    for name, target in zip(names, targets):
        source = files.open(os.fsencode(name))
        try:
            with open(target, "wb") as file:
                shutil.copyfileobj(_Reader(source), file, 1 << 20)
        finally:
            source.close()
    return _on(dataset, names), _on(dataset, targets, open=None)


class _Reader:
    """read() of what has read_at()."""

    def __init__(self, file):
        self._file = file
        self._position = 0

    def read(self, size):
        data = self._file.read_at(self._position, size)
        self._position += len(data)
        return data


def _first_shards(dataset, most_bytes):
    """Names of the first shards, at least one, of up to `most_bytes` together."""
    arguments = source_of(dataset)
    shards = look_at(arguments["files"], arguments.get("open"))
    names, total = [], 0
    for name, size in zip(shards.names, shards.sizes):
        total += size
        if names and total > most_bytes:
            break
        names.append(name)
    return names


def _on(dataset, names, **source):
    return rebuild(dataset, Change(source={"files": names, **source}, endless=True))


def _compression(name, opener):
    """Of a file, by its content, as TFRecordWriter takes it."""
    files = CallableFiles(opener or (lambda path: open(path, "rb")))
    file = files.open(name if opener is None else os.fsencode(name))
    try:
        begin = file.read_at(0, 4)
    finally:
        file.close()
    kinds = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xff\x06\x00\x00": "snappy"}
    return next((kind for magic, kind in kinds.items() if begin.startswith(magic)), None)
