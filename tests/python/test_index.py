"""index_files, read_index, `headrace index`, and lengths that follow from indexes."""

import json
import os
import subprocess
import sys

import headrace as hr
import pytest

from number_shards import ROOT


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """A folder with a plain and a compressed shard of ten records each; the cache folder is beside it."""
    monkeypatch.setenv("HEADRACE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    for shard, compression in enumerate((None, "gzip")):
        with hr.TFRecordWriter(folder / f"train-{shard}.tfrecord", compression) as writer:
            for number in range(10):
                writer.write(b"x" * number)
    return folder


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("beside", [False, True])
def test_index_files_makes_len_known(shards, beside):
    dataset = hr.TFRecordDataset(shards).batch(6)
    with pytest.raises(TypeError, match="headrace index"):
        len(dataset)
    made = list(hr.index_files(shards, beside=beside, threads=2))
    assert [path for path, _ in made] == [str(shards / f"train-{shard}.tfrecord") for shard in range(2)]
    for _, index in made:
        assert hr.read_index(index) == list(range(10))
        assert os.path.dirname(index) == str(shards if beside else shards.parent / "cache" / "index")
    assert len(dataset) == len(hr.TFRecordDataset(f"{shards}/train-*").batch(6)) == 4
    assert len(list(hr.TFRecordDataset(shards))) == 20, "an index is no data"


def test_an_index_of_another_state_is_none(shards):
    list(hr.index_files(shards))
    with hr.TFRecordWriter(shards / "train-0.tfrecord") as writer:
        writer.write(b"one")
    with pytest.raises(TypeError):
        len(hr.TFRecordDataset(shards))
    list(hr.index_files(shards))
    assert len(hr.TFRecordDataset(shards)) == 11


def test_a_damaged_file_gets_none(shards):
    flip(shards / "train-0.tfrecord", 50)
    (_, failure), (_, index) = hr.index_files(shards)
    assert isinstance(failure, hr.DataLossError) and isinstance(index, str)


def test_dalis_index_is_read(shards):
    path = shards / "train-0.tfrecord"
    lines, at = [], 0
    for number in range(10):
        lines.append(f"{at} {number + 16}\n")
        at += number + 16
    (shards / "train-0.tfrecord.idx").write_text("".join(lines))
    assert hr.read_index(shards / "train-0.tfrecord.idx") == list(range(10))
    assert len(hr.TFRecordDataset(path)) == 10
    with pytest.raises(hr.DataLossError, match="not an index"):
        hr.read_index(path)


def test_the_command_index(shards):
    pytest.importorskip("click")
    pytest.importorskip("rich")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}

    def run(*arguments):
        command = [sys.executable, "-m", "headrace", "index", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=shards, env=environment)

    done = run("--beside", "train-0.tfrecord", "train-1.tfrecord")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(f"train-{n}.tfrecord: .train-{n}.tfrecord.hrindex\n" for n in range(2))
    flip(shards / "train-1.tfrecord", 30)
    done = run("--json", ".")
    first, second = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1 and first["error"] is None and second["index"] is None
    assert "train-1.tfrecord" in second["error"]


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_the_writer_makes_an_index(tmp_path, compression):
    path = tmp_path / "train.tfrecord"
    with hr.TFRecordWriter(path, compression, index=True) as writer:
        for number in range(10):
            writer.write(b"x" * number)
    assert hr.read_index(tmp_path / ".train.tfrecord.hrindex") == list(range(10))
    assert len(hr.TFRecordDataset(path)) == 10
