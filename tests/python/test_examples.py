"""The Python examples run as they are written."""

import importlib.util
import subprocess
import sys

import pytest

from conftest import ROOT

NEEDS = {"read_batches.py": None, "resume_training.py": None, "torch_loop.py": "torch", "jax_arrays.py": "jax"}


@pytest.mark.parametrize("name", NEEDS)
def test_example(name, tmp_path):
    if NEEDS[name] is not None and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name, tmp_path / "data"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
