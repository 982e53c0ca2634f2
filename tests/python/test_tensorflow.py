"""Delivery to TensorFlow: runs each file of tensorflow_cases/ in a process of its own.

TensorFlow's logical devices can be set once a process, before anything else uses it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

_CASES = sorted((Path(__file__).parent / "tensorflow_cases").glob("case_*.py"))


@pytest.mark.parametrize("case", _CASES, ids=lambda path: path.stem)
def test_case(case):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=100"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "KERAS_BACKEND": "tensorflow"}
    run = subprocess.run(
        [*command, str(case)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180
    )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout, run.stdout


def test_there_are_cases():
    assert len(_CASES) >= 6
