"""Wheel check: an installed headrace is whole, imports in time, starts no thread and imports no framework.

Usage: check_wheel.py SITE, by an interpreter in isolated mode.
"""

import subprocess
import sys
from pathlib import Path

IMPORT_LIMIT_SECONDS = 0.1
FRAMEWORKS = ("tensorflow", "torch", "jax", "keras")

PROBE = """
import sys, time, os
sys.path.insert(0, sys.argv[1])
import numpy
start = time.perf_counter()
import headrace
print(time.perf_counter() - start)
print(len(os.listdir("/proc/self/task")))
print(*sorted({name.split(".")[0] for name in sys.modules}))
print(headrace.__file__)
"""
BASE = "import os, numpy; print(len(os.listdir('/proc/self/task')))"


def run(*arguments):
    return subprocess.run([sys.executable, "-I", *arguments], check=True, capture_output=True, text=True).stdout.split("\n")


def main():
    site = Path(sys.argv[1])
    findings = []
    names = {path.name for path in (site / "headrace").iterdir()}
    for name in ("__init__.py", "py.typed", "_core.pyi", "_tf_op.so"):
        if name not in names:
            findings.append(f"the wheel lacks headrace/{name}")
    if not any(name.startswith("_core.") and name.endswith(".so") for name in names):
        findings.append("the wheel lacks headrace/_core")
    if (site / "include").exists() or (site / "lib").exists():
        findings.append("the wheel holds C++ files")

    # The best of three: the first import reads the disk.
    runs = [run("-c", PROBE, str(site)) for _ in range(3)]
    seconds = min(float(lines[0]) for lines in runs)
    threads, modules, origin = int(runs[0][1]), set(runs[0][2].split()), runs[0][3]
    if not origin.startswith(str(site)):
        findings.append(f"headrace came from {origin}")
    if threads != int(run("-c", BASE)[0]):
        findings.append(f"import headrace started a thread ({threads} in the process)")
    findings += [f"import headrace imported {name}" for name in FRAMEWORKS if name in modules]
    if seconds > IMPORT_LIMIT_SECONDS:
        print(f"note: import headrace took {seconds * 1000:.0f} ms (aim: {IMPORT_LIMIT_SECONDS * 1000:.0f})")
    print("\n".join(findings) or f"wheel: whole; import headrace {seconds * 1000:.0f} ms beyond numpy")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
