"""arm64 check: the engine compiles for it, so no kernel for x86-64 is used outside of its #if.

Usage: check_arm64.py [ROOT]. Needs aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu). Nothing is linked; the headers of
zlib, libjpeg and the like are this machine's, which stand behind the cross-compiler's own.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILER = "aarch64-linux-gnu-g++"
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-Wno-restrict")
HOST_HEADERS = ("/usr/include", "/usr/include/x86_64-linux-gnu")
# Read once for all files: they take most of a file's time.
PRELUDE = ("algorithm", "array", "atomic", "chrono", "cmath", "condition_variable", "deque", "functional", "map", "memory")
PRELUDE += ("mutex", "optional", "span", "stop_token", "string", "string_view", "thread", "unordered_map", "variant", "vector")


def sources(root):
    return [path for path in sorted((root / "src").rglob("*.cc")) if not path.stem.endswith("_test")]


def compile_one(root, prelude, path):
    """The compiler's complaint about one file, or nothing."""
    own = [f"-I{root / 'include'}", f"-I{root / 'src'}"]
    host = [argument for folder in HOST_HEADERS for argument in ("-idirafter", folder)]
    command = [COMPILER, *FLAGS, "-fsyntax-only", "-include", str(prelude), *own, *host, str(path)]
    return subprocess.run(command, capture_output=True, text=True).stderr


def check(root, paths=None):
    """What the compiler finds, file by file."""
    with tempfile.TemporaryDirectory() as folder:
        prelude = Path(folder) / "prelude.h"
        prelude.write_text("".join(f"#include <{header}>\n" for header in PRELUDE))
        subprocess.run([COMPILER, *FLAGS, "-x", "c++-header", prelude, "-o", f"{prelude}.gch"], check=True)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            found = pool.map(lambda path: compile_one(root, prelude, path), sources(root) if paths is None else paths)
            return [text for text in found if text]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    findings = check(root)
    print("\n".join(findings) or "arm64: every file of the engine compiles")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
