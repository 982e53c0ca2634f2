"""Layer check: every #include of src/, include/ and python/ must be an edge of the table in src/README.md.

Usage: check_layers.py [ROOT]. Also fails on a cycle between files, and on a third-party header outside of the folders
that the table names for it.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
ROW = re.compile(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", re.MULTILINE)
# A header's first path part (or its name) -> the word of the table's last column.
THIRD_PARTY = {
    "zlib.h": "zlib",
    "zstd.h": "zstd",
    "snappy.h": "snappy",
    "isa-l": "ISA-L",
    "isa-l.h": "ISA-L",
    "jpeglib.h": "libjpeg-turbo",
    "jerror.h": "libjpeg-turbo",
    "png.h": "libpng",
    "nlohmann": "nlohmann-json",
    "curl": "libcurl",
    "openssl": "OpenSSL",
    "pugixml.hpp": "pugixml",
    "nanobind": "nanobind",
    "Python.h": "nanobind",
    "tensorflow": None,
    "cuda.h": None,
}
TEST_ONLY = ("gtest", "gmock", "support", "fake_cuda")


def read_table(root):
    """{folder: (folders it may include, third-party words)} from src/README.md."""
    table = {}
    for name, edges, third_party in ROW.findall((root / "src/README.md").read_text()):
        words = {word.strip() for word in third_party.split(",")}
        table[name] = (set(re.findall(r"[a-z]+", edges)) & set(_folders(root)), words)
    return table


def _folders(root):
    return [path.name for path in (root / "src").iterdir() if path.is_dir()]


def sources(root):
    """(path, folder) of every file that is checked."""
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in (".h", ".cc"):
            yield path, path.relative_to(root / "src").parts[0]
    for folder in ("include/headrace", "python/bindings"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield path, folder


def check(root):
    """All findings, as one line each."""
    table = read_table(root)
    findings = []
    graph = {}
    for path, folder in sources(root):
        name = str(path.relative_to(root))
        is_test = "_test" in path.stem
        if folder not in table:
            findings.append(f"{name}: folder {folder} has no row in src/README.md")
            continue
        may_include, third_party = table[folder]
        for bracket, target in INCLUDE.findall(path.read_text()):
            head = target.split("/")[0]
            if bracket == '"' and (root / "src" / target).is_file():
                graph.setdefault(name, []).append(f"src/{target}")
                if head != folder and head not in may_include:
                    findings.append(f"{name}: {folder} may not include {target}")
            elif head == "headrace":
                graph.setdefault(name, []).append(f"include/{target}")
            elif head in THIRD_PARTY:
                if not is_test and THIRD_PARTY[head] not in third_party:
                    findings.append(f"{name}: third-party {target} is not allowed in {folder}")
            elif bracket == '"' and (path.parent / target).is_file() and folder == "python/bindings":
                graph.setdefault(name, []).append(str((path.parent / target).relative_to(root)))
            elif head in TEST_ONLY:
                if not is_test:
                    findings.append(f"{name}: {target} belongs to tests")
            elif bracket == '"':
                findings.append(f"{name}: no such file {target} (write the path below src/)")
    return findings + find_cycles(graph)


def find_cycles(graph):
    findings = []
    done = set()

    def visit(name, trail):
        if name in trail:
            findings.append("cycle: " + " -> ".join(trail[trail.index(name) :] + [name]))
            return
        if name in done:
            return
        for target in graph.get(name, ()):
            visit(target, trail + [name])
        done.add(name)

    for name in sorted(graph):
        visit(name, [])
    return findings


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    findings = check(root)
    print("\n".join(findings) or "layers: every include is in the table")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
