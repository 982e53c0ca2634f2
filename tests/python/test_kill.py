"""A reader that is killed while it reads and saves: a short run of tests/fault/kill_and_resume.py (1,000 kills by default)."""

import subprocess
import sys

from number_shards import ROOT


def test_killed_readers_lose_nothing_and_repeat_nothing():
    command = [sys.executable, ROOT / "tests/fault/kill_and_resume.py", "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 kills, 0 streams that differ" in done.stdout
