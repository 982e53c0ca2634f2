"""verify_files and repair_file, and their commands."""

import json
import os
import subprocess
import sys

import headrace as hr
import pytest

from number_shards import ROOT


def record(number):
    return b"%d" % number * 10


def size_of(number):
    return len(record(number)) + 16


@pytest.fixture
def shards(tmp_path):
    """Three shards of ten records: a whole one, one with two damages, a compressed one that is cut."""
    for shard, compression in enumerate((None, None, "gzip")):
        with hr.TFRecordWriter(tmp_path / f"part-{shard}.tfrecord", compression) as writer:
            for number in range(10):
                writer.write(record(number))
    flip(tmp_path / "part-1.tfrecord", 2 * size_of(0) + 14)
    flip(tmp_path / "part-1.tfrecord", 5 * size_of(0) + 3)
    path = tmp_path / "part-2.tfrecord"
    path.write_bytes(path.read_bytes()[:-6])
    return tmp_path


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.fixture
def headrace(shards):
    """Runs `python -m headrace` among the shards; its completed process."""
    pytest.importorskip("click")
    pytest.importorskip("rich")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

    def run(*arguments):
        command = [sys.executable, "-m", "headrace", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=shards, env=environment)

    run.folder = shards
    return run


@pytest.mark.parametrize("threads", [None, 1, 5])
def test_verify_files_finds_every_damage(shards, threads):
    read = []
    whole, damaged, cut = hr.verify_files(shards, threads=threads, progress=read.append)
    assert whole.whole and (whole.records, whole.bytes, whole.compression) == (10, 100, "none")
    assert not damaged.whole and damaged.records == 8
    assert [(r.record, r.begin, r.end, r.records) for r in damaged.regions] == [
        (2, 2 * size_of(0), 3 * size_of(0), 1),
        (5, 5 * size_of(0), 6 * size_of(0), None),
    ]
    assert (cut.compression, cut.records, len(cut.regions)) == ("gzip", 10, 1)
    assert "it is cut" in cut.regions[0].reason
    assert sum(read) == sum(path.stat().st_size for path in shards.iterdir())


def test_verify_files_says_at_once_which_files_are_missing(shards):
    with pytest.raises(FileNotFoundError, match="nothing"):
        hr.verify_files([shards / "part-0.tfrecord", shards / "nothing"])
    with pytest.raises(ValueError, match="threads=0"):
        hr.verify_files(shards, threads=0)


def test_a_record_over_the_limit_ends_one_file(shards):
    whole, damaged, _ = hr.verify_files(shards, max_record_bytes=9)
    assert isinstance(whole.error, hr.BudgetError) and not whole.whole and whole.records == 0
    assert isinstance(damaged.error, hr.BudgetError)


@pytest.mark.parametrize("compression", [None, "none", "gzip", "zlib"])
def test_repair_file_keeps_the_whole_records(shards, compression):
    target = shards / "repaired"
    check = hr.repair_file(shards / "part-1.tfrecord", target, compression)
    assert (check.records, len(check.regions)) == (8, 2)
    (again,) = hr.verify_files(target)
    assert again.whole and again.compression == (compression or "none")
    assert list(hr.open_records(target)) == [record(number) for number in range(10) if number not in (2, 5)]


def test_repair_file_keeps_the_compression(shards):
    hr.repair_file(shards / "part-2.tfrecord", shards / "repaired")
    (check,) = hr.verify_files(shards / "repaired")
    assert check.whole and (check.compression, check.records) == ("gzip", 10)


def test_repair_file_replaces_nothing_unasked(shards):
    source, target = shards / "part-1.tfrecord", shards / "target"
    target.write_bytes(b"kept")
    before = source.read_bytes()
    with pytest.raises(ValueError, match="overwrite=True"):
        hr.repair_file(source, target)
    (shards / "link").symlink_to(source)
    for same in (source, shards / "link"):
        with pytest.raises(ValueError, match="is the source"):
            hr.repair_file(source, same, overwrite=True)
    assert target.read_bytes() == b"kept" and source.read_bytes() == before
    assert hr.repair_file(source, target, overwrite=True).records == 8
    assert len(list(hr.open_records(target))) == 8


def test_repair_file_writes_nothing_when_nothing_is_whole(shards):
    (shards / "text").write_text("no records at all, only some text\n" * 20)
    before = set(os.listdir(shards))
    with pytest.raises(hr.DataLossError, match="no record .* is whole.*text"):
        hr.repair_file(shards / "text", shards / "target")
    with pytest.raises(FileNotFoundError):
        hr.repair_file(shards / "nothing", shards / "target")
    assert set(os.listdir(shards)) == before


def test_the_command_verify(headrace):
    good = headrace("verify", "part-0.tfrecord")
    assert (good.returncode, good.stdout, good.stderr) == (0, "1 files, 10 whole records of 100 bytes\n", "")
    done = headrace("verify", ".")
    assert done.returncode == 1, done.stderr
    *regions, summary = done.stdout.splitlines()
    assert len(regions) == 3 and all("part-1" in line for line in regions[:2]) and "part-2" in regions[2]
    assert regions[0].endswith(f"(up to {3 * size_of(0)}, 1 record lost)")
    assert summary == "3 files, 28 whole records of 280 bytes; 3 damaged regions in 2 files"
    missing = headrace("verify", "nothing")
    assert missing.returncode == 2 and "nothing" in missing.stderr


def test_the_command_verify_as_json(headrace):
    done = headrace("verify", "--json", "part-1.tfrecord", "part-0.tfrecord")
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.pop("kind") for line in lines] == ["region", "region", "file", "file", "total"]
    first, second, damaged, whole, total = lines
    assert (first["from"], first["to"], first["records"], second["records"]) == (2 * size_of(0), 3 * size_of(0), 1, None)
    assert damaged == {
        "path": "part-1.tfrecord",
        "compression": "none",
        "records": 8,
        "bytes": 80,
        "regions": 2,
        "error": None,
    }
    assert whole["path"] == "part-0.tfrecord" and whole["regions"] == 0
    assert total == {"files": 2, "damaged_files": 1, "unread_files": 0, "records": 18, "bytes": 180, "regions": 2}


def test_a_file_that_cannot_be_read_is_status_2(headrace):
    done = headrace("verify", "--json", "--max-record-bytes", "5", "part-0.tfrecord")
    assert done.returncode == 2
    file, total = map(json.loads, done.stdout.splitlines())
    assert "max_record_bytes = 5" in file["error"] and total["unread_files"] == 1


def test_the_command_repair(headrace):
    done = headrace("repair", "part-1.tfrecord", "out")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-1] == "out: 8 records"
    assert headrace("verify", "out").returncode == 0
    again = headrace("repair", "part-1.tfrecord", "out")
    assert again.returncode == 2 and "overwrite" in again.stderr
    whole = headrace("repair", "--overwrite", "--json", "--compression", "gzip", "part-0.tfrecord", "out")
    assert whole.returncode == 0 and json.loads(whole.stdout)["records"] == 10
