"""File check: no source file over 600 lines, no tab, no trailing space, no open end without an issue, no built file, no two
test files of one name, which pytest takes for one.

Usage: check_files.py [ROOT]. Only files that git tracks, or would track, are read.
"""

import re
import subprocess
import sys
from pathlib import Path

MAX_LINES = 600
CODE = {".h", ".cc", ".py", ".sh", ".cmake"}
BINARY = {".so", ".o", ".a", ".whl", ".pyc"}
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!\s*\(#\d+\))")


def tracked(root):
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
    ).stdout.decode()
    return [root / name for name in sorted(set(listing.split("\0"))) if name and (root / name).is_file()]


def check(root, paths=None):
    """All findings, as one line each."""
    findings = []
    tests = {}
    for path in tracked(root) if paths is None else paths:
        name = path.relative_to(root)
        if re.fullmatch(r"test_.*\.py", path.name):
            first = tests.setdefault(path.name, name)
            if first != name:
                findings.append(f"{name}: {first} has the same name")
        if path.suffix in BINARY:
            findings.append(f"{name}: a built file")
        if path.suffix not in CODE and path.name != "CMakeLists.txt" and path.name != "run":
            continue
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES:
            findings.append(f"{name}: {len(lines)} lines; split it (at most {MAX_LINES})")
        for number, line in enumerate(lines, 1):
            if UNFINISHED.search(line):
                findings.append(f"{name}:{number}: unfinished work without an issue")
            if line != line.rstrip():
                findings.append(f"{name}:{number}: space at the end of the line")
            if "\t" in line and path.suffix != ".cc":
                findings.append(f"{name}:{number}: tab")
    return findings


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    findings = check(root)
    print("\n".join(findings) or "files: lengths, spaces and open ends are in order")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
