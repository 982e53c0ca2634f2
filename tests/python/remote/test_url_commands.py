"""The command line on URLs."""

import os
import subprocess
import sys

import pytest


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "headrace", *arguments], capture_output=True, text=True, timeout=60, env={**os.environ}
    )
    return done.returncode, done.stdout + done.stderr


def test_verify_and_repair(web, shards, tmp_path):
    url = f"{web}/part-00.tfrecord"
    status, text = run("verify", url)
    assert status == 0, text
    data = bytearray((shards / "part-00.tfrecord").read_bytes())
    data[len(data) // 2] ^= 1
    (shards / "damaged.tfrecord").write_bytes(data)
    status, text = run("verify", f"{web}/damaged.tfrecord", url)
    assert status == 1 and f"{web}/damaged.tfrecord" in text
    target = tmp_path / "repaired.tfrecord"
    for arguments in ([], ["--overwrite"]):
        status, text = run("repair", f"{web}/damaged.tfrecord", str(target), *arguments)
        assert status == 1, text
    status, text = run("verify", str(target))
    assert status == 0, text


@pytest.mark.parametrize("command", ["verify", "index"])
def test_what_is_missing_or_cannot_be(web, command):
    status, text = run(command, f"{web}/none.tfrecord")
    assert status == 2 and "404" in text


def test_an_index_is_of_local_files(web):
    status, text = run("index", f"{web}/part-00.tfrecord")
    assert status != 0 and "an index is made of a local file" in text
