"""The demo's input: 16 shards of Examples with a serialized float32 TensorProto [32, 32, 3] and a label, about 300
MB, and a GZIP copy of the first shards. Made once, checked against its stored hashes before every run."""

import dataclasses

import numpy as np

from benchmarks.harness.answers import Answers
from benchmarks.workloads import catalog, store

RECORDS = 24_576
GZIP_SHARDS = 1
WORKLOAD = catalog.WORKLOADS["tensorproto"]
_GZIP_WORKLOAD = dataclasses.replace(WORKLOAD, name="tensorproto_gz", compression="GZIP")


@dataclasses.dataclass(frozen=True)
class Input:
    shards: list[str]
    gzip_shards: list[str]
    records: int
    gzip_records: int
    megabytes: float
    digest: str


def prepare(records=RECORDS, on_progress=None):
    """Makes what is missing or damaged; `on_progress(share)` while it does."""
    records = max(store.SHARDS, records // store.SHARDS * store.SHARDS)
    folder = store.prepare(WORKLOAD, "full", verify=True, records=records, on_progress=on_progress)
    gzip_folder = store.prepare(_GZIP_WORKLOAD, "full", verify=True, records=records, shards=GZIP_SHARDS)
    manifest = store.read_manifest(folder)
    return Input(
        shards=store.shard_paths(folder),
        gzip_shards=store.shard_paths(gzip_folder),
        records=manifest["records"],
        gzip_records=store.read_manifest(gzip_folder)["records"],
        megabytes=sum(size for size, _ in manifest["shards"].values()) / 1e6,
        digest=store.digest(folder),
    )


def written_answers(records):
    """The digest of the records as they were meant, straight from the generator."""
    answers = Answers()
    for first in range(0, records, 512):
        count = min(512, records - first)
        labels = np.array(catalog.labels(first, count), np.int64)
        answers.add({"image": catalog.images(first, count), "label": labels})
    return answers.digest()
