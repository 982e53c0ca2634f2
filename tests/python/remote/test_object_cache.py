"""The cache of remote files on the local disk."""

import os
import subprocess
import sys

import headrace as hr
import numpy as np
import pytest
from number_shards import write_shard


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def large(bad, tmp_path):
    """(URL, records) of a file of 20 MiB."""
    records = [np.random.default_rng(i).bytes(1 << 20) for i in range(20)]
    bad.files["/large"] = open(write_shard(tmp_path / "large", records), "rb").read()
    return f"{bad.url}/large", records


def read(url, cache, limit=1 << 30, **options):
    return [record for record in hr.TFRecordDataset(url, cache_bytes=limit, cache_dir=cache, **options)]


def size_of(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder))


def test_the_second_reading_asks_only_for_size_and_version(bad, large, cache):
    url, records = large
    assert read(url, cache) == records
    asked = len(bad.requests)
    assert asked > 10
    assert read(url, cache) == records
    assert [request.range() for request in bad.requests[asked:]] == [(0, 0)]
    assert [record for record in hr.TFRecordDataset(url)] == records
    assert len(bad.requests) > asked + 5  # without the option nothing comes from it


def test_a_new_version_is_fetched(bad, large, cache):
    url, records = large
    assert read(url, cache) == records
    bad.etags["/large"] = '"two"'
    bad.files["/large"] = bad.files["/large"][: 16 + (1 << 20)]
    assert read(url, cache) == records[:1]


def test_the_limit_holds(bad, large, cache):
    url, records = large
    for _ in range(3):
        assert read(url, cache, limit=8 << 20) == records
    assert 2 << 20 <= size_of(cache) <= 8 << 20


def test_damaged_entries_are_fetched_again(bad, large, cache):
    url, records = large
    assert read(url, cache) == records
    for number, entry in enumerate(sorted(cache.glob("*.part"))):
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 1
        entry.write_bytes(data if number % 2 else data[:-1])
    assert read(url, cache) == records
    asked = len(bad.requests)
    assert read(url, cache) == records
    assert len(bad.requests) == asked + 1


def test_processes_share_it(bad, large, cache):
    url, records = large
    code = f"""
import headrace as hr
print(sum(len(r) for r in hr.TFRecordDataset({url!r}, cache_bytes=1 << 30, cache_dir={str(cache)!r})))
"""
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=60)[0] for process in processes] == [f"{20 << 20}\n"] * 4
    asked = len(bad.requests)
    assert read(url, cache) == records
    assert len(bad.requests) == asked + 1
    assert not list(cache.glob("*.tmp"))


def test_positions_fit_with_and_without_it(bad, large, cache):
    url, records = large

    def dataset(**options):
        return hr.TFRecordDataset(url, **options).batch(1)

    with iter(dataset(cache_bytes=1 << 30, cache_dir=cache)) as batches:
        for _ in range(7):
            next(batches)
        state = batches.state_dict()
    for options in ({}, {"cache_bytes": 1 << 30, "cache_dir": cache}):
        with iter(dataset(**options)) as batches:
            batches.load_state_dict(state)
            assert [column.tolist()[0] for column in batches] == records[7:]


def test_the_default_place(bad, large, tmp_path, environment):
    url, records = large
    environment.setenv("HEADRACE_CACHE_DIR", str(tmp_path / "ours"))
    assert [record for record in hr.TFRecordDataset(url, cache_bytes=1 << 30)] == records
    assert size_of(tmp_path / "ours/objects") > 20 << 20


def test_a_folder_that_cannot_be_written(large, unprivileged):
    url, records = large
    os.chmod(unprivileged, 0o500)
    with pytest.raises(PermissionError, match="cache folder"):
        hr.TFRecordDataset(url, cache_bytes=1 << 30, cache_dir=unprivileged / "x").check()
    os.chmod(unprivileged, 0o700)


def test_a_full_disk_ends_the_cache_and_not_the_run(large, tmp_path):
    url, records = large
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small file system needs the right to mount one")
    try:
        with iter(hr.TFRecordDataset(url, cache_bytes=1 << 30, cache_dir=small / "x").batch(1)) as batches:
            assert [column.tolist()[0] for column in batches] == records
            [warning] = batches.report().warnings
        assert "the cache of remote files is not used any more" in warning and "No space left" in warning
        assert read(url, small / "x") == records
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_arguments():
    with pytest.raises(ValueError, match="cache_dir"):
        hr.TFRecordDataset("x", cache_dir="/x")
    with pytest.raises(ValueError, match="cache_bytes=0"):
        hr.TFRecordDataset("x", cache_bytes=0)
