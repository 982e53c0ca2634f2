"""Stub check: python/headrace/_core.pyi must be what nanobind makes of the built module.

Usage: check_stub.py [--write]. With --write the file is made anew.
"""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "python/headrace/_core.pyi"


def generate():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "_core.pyi"
        subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "headrace._core", "-o", str(path)], check=True)
        return path.read_text()


def main():
    made = generate()
    if "--write" in sys.argv:
        STUB.write_text(made)
    kept = STUB.read_text() if STUB.exists() else ""
    difference = list(difflib.unified_diff(kept.splitlines(), made.splitlines(), "_core.pyi", "generated", lineterm=""))
    print("\n".join(difference[:60]) or "stub: as generated")
    if difference:
        print("stub: run ./run python tests/checks/check_stub.py --write")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
