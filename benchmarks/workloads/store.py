"""Data sets on disk: made once by headrace's own writer, kept under .cache/ of the checkout, checked before use.

A data set is a folder of 16 shards and a manifest with the size and SHA-256 of each; the manifest is written last, so a
half-made folder is made again. One maker at a time (a lock file).
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path

from benchmarks.harness.machine import ROOT
from benchmarks.workloads.catalog import WORKLOADS

CACHE = Path(os.environ.get("HEADRACE_BENCHMARK_CACHE", ROOT / ".cache" / "benchmarks"))
SHARDS = 16
SCALES = {"full": 320 << 20, "quick": 64 << 20, "tiny": 1 << 20}
_VERSION = 1
_BLOCK = 64  # records made at a time


def records_of(workload, scale):
    """Records of a data set; a multiple of the number of shards, at least 8 a shard."""
    return max(8, SCALES[scale] // workload.record_bytes // SHARDS) * SHARDS


def _hash(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write_shard(path, workload, first, count, compression):
    import headrace as hr

    with hr.TFRecordWriter(str(path), compression=compression) as writer:
        for start in range(first, first + count, _BLOCK):
            for record in workload.values(start, min(_BLOCK, first + count - start)):
                writer.write(hr.make_example(record))


def read_manifest(folder):
    try:
        return json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        return None


def is_whole(folder, verify):
    """Is the data set there with the recorded sizes (and hashes, if `verify`)?"""
    manifest = read_manifest(folder)
    if manifest is None or manifest.get("version") != _VERSION:
        return False
    for name, (size, digest) in manifest["shards"].items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size or (verify and _hash(path) != digest):
            return False
    return True


@contextlib.contextmanager
def _lock(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(folder, workload, records, shards, on_progress):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    per_shard = records // SHARDS
    manifest = {"version": _VERSION, "workload": workload.name, "records": per_shard * shards, "shards": {}}
    for shard in range(shards):
        path = folder / f"{workload.name}-{shard:05d}-of-{shards:05d}.tfrecord"
        write_shard(path, workload, shard * per_shard, per_shard, workload.compression)
        manifest["shards"][path.name] = [path.stat().st_size, _hash(path)]
        if on_progress:
            on_progress((shard + 1) / shards)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


def prepare(workload, scale, verify=False, on_progress=None, records=None, shards=SHARDS):
    """The folder of the data set, made if it is missing or damaged. `workload`: a name of the catalog or a Workload.

    `records` overrides the scale's number; `shards` < 16 makes only the first shards. `on_progress(share)` is called
    while it is made.
    """
    if isinstance(workload, str):
        workload = WORKLOADS[workload]
    records = records or records_of(workload, scale)
    name = f"{workload.name}-{records}" + (f"-first{shards}" if shards != SHARDS else "")
    folder = CACHE / name
    with _lock(CACHE / f"{name}.lock"):
        if not is_whole(folder, verify):
            _make(folder, workload, records, shards, on_progress)
    return folder


def shard_paths(folder):
    return [str(path) for path in sorted(folder.glob("*.tfrecord"))]


def digest(folder):
    """One hash over the recorded hashes of all shards: equal on every machine."""
    shards = read_manifest(folder)["shards"]
    return hashlib.sha256("".join(shards[name][1] for name in sorted(shards)).encode()).hexdigest()
