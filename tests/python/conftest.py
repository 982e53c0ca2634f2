"""Fixtures of the Python tests: shards in a temporary folder, and scripts run by an interpreter of their own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from number_shards import ROOT, write_numbers

@pytest.fixture
def numbers(tmp_path):
    """Paths of four shards with the records 0 … 99."""
    return write_numbers(tmp_path)


@pytest.fixture
def unprivileged(tmp_path):
    """A folder for tests of what may not be read. Root may read everything: another user does the rest of the test."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    nobody = 65534
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, nobody, nobody)
        os.seteuid(nobody)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


@pytest.fixture
def script():
    """Runs Python source in a fresh interpreter; its completed process."""

    def run(source, *arguments, timeout=60, check=True):
        done = subprocess.run(
            [sys.executable, "-c", source, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=ROOT,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run
