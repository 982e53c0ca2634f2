"""Format check: clang-format (the Debian one, 14) must leave every C++ file as it is.

Usage: check_format.py [ROOT].
"""

import subprocess
import sys
from pathlib import Path

from check_files import tracked


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    files = [str(path) for path in tracked(root) if path.suffix in (".h", ".cc")]
    if not files:
        print("format: no C++ file")
        return 0
    result = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "clang-format-violations" in line})
    if result.returncode and not wrong:
        print(result.stderr)
        return 1
    print("\n".join(f"{Path(name).relative_to(root)}: run clang-format -i" for name in wrong) or "format: in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
