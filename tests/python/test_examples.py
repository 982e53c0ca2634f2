"""The Python examples run as they are written."""

import importlib.util
import subprocess
import sys

import pytest

from number_shards import ROOT

# What each example needs, and whether it takes a folder for its data.
EXAMPLES = {
    "read_batches.py": (None, True),
    "resume_training.py": (None, True),
    "keras_mirrored.py": ("tensorflow", False),
    "torch_loop.py": ("torch", True),
    "jax_arrays.py": ("jax", True),
}


def test_every_example_is_here():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    package, takes_folder = EXAMPLES[name]
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    arguments = [tmp_path / "data"] if takes_folder else []
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
