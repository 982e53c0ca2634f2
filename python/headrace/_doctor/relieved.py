"""A differential probe: the same pipeline without what makes the engine stand still, so that its own costs show.

What a batch costs a thread that works now and then, on cold caches, is not what it costs one that works all the time; and what a
pipeline reaches behind a slow function or a slow storage is a question only of the engine that waits for them.
"""

import contextlib
import os
import tempfile
import time

from ..infer import first_records
from ..records import TFRecordWriter
from . import measure
from .rebuild import Change, has_records, options_of, rebuild, source_of

# So many records as come in this time, at most so many bytes, are copied to a folder of this host.
_COPY_SECONDS = 1.5
_COPY_BYTES = 32 << 20
_RECORDS = 1_000_000
_COPIES = 16
# A storage that costs less than this share of the time is no reason.
_STORAGE_SHARE = 0.1


def run(dataset, measured, seconds):
    """A Run of `dataset` without its Python functions and its budget of memory, from copies on this host where its files come
    through a slow open=.

    Gives `measured`, the Run of the dataset as it is, where there is nothing to leave out.
    """
    functions = frozenset(range(len(dataset._functions)))
    waits = measured.costs.read_io * measured.rate > _STORAGE_SHARE
    is_slow = waits and has_records(dataset) and source_of(dataset).get("open") is not None
    if not functions and not is_slow and source_of(dataset).get("memory_bytes") is None:
        return measured
    with tempfile.TemporaryDirectory(prefix="headrace-doctor-") as folder:
        source = {"memory_bytes": None}
        if is_slow:
            source.update(files=_near(dataset, measured.compression.partition("+")[0], folder), open=None)
        change = Change(source=source, without_functions=functions, endless=True)
        return measure.run(rebuild(dataset, change), seconds / 2)


def _near(dataset, compression, folder):
    """Paths of shards with the first records of all shards in turn."""
    paths = [os.path.join(folder, f"{number:05d}.tfrecord") for number in range(_COPIES)]
    end = time.monotonic() + _COPY_SECONDS
    total = 0
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(TFRecordWriter(path, compression=compression)) for path in paths]
        for number, record in enumerate(first_records(source_of(dataset)["files"], _RECORDS, **options_of(dataset))):
            writers[number % _COPIES].write(record)
            total += len(record)
            if number >= _COPIES and (total > _COPY_BYTES or time.monotonic() > end):
                break
    return paths
