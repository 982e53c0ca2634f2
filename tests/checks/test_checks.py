"""The checks themselves: each must fail on what it is there to find."""

import shutil
from pathlib import Path

import check_arm64
import check_documents
import check_files
import check_layers
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path):
    """A tree of three folders with the real table; write(name, text) adds a file."""
    for folder in ("src/base", "src/shard", "src/record", "include/headrace", "python/bindings"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/README.md").write_text((ROOT / "src/README.md").read_text())

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    write("src/base/crc.h", "#include <cstdint>\n")
    write("src/shard/file.h", '#include "base/crc.h"\n')
    write.root = tmp_path
    return write


def test_layers_hold_here():
    assert check_layers.check(ROOT) == []


def test_table_names_every_folder():
    assert set(check_layers.read_table(ROOT)) >= {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}


def test_downstream_include_is_found(tree):
    assert check_layers.check(tree.root) == []
    tree("src/base/bad.cc", '#include "shard/file.h"\n')
    assert check_layers.check(tree.root) == ["src/base/bad.cc: base may not include shard/file.h"]


def test_downstream_include_is_found_in_a_test_file(tree):
    tree("src/base/bad_test.cc", '  #  include "shard/file.h"\n')
    assert len(check_layers.check(tree.root)) == 1


def test_cycle_inside_a_folder_is_found(tree):
    tree("src/base/a.h", '#include "base/b.h"\n')
    tree("src/base/b.h", '#include "base/a.h"\n')
    assert check_layers.check(tree.root) == ["cycle: src/base/a.h -> src/base/b.h -> src/base/a.h"]


def test_cycle_of_public_headers_is_found(tree):
    tree("include/headrace/a.h", '#include "headrace/b.h"\n')
    tree("include/headrace/b.h", "#include <headrace/a.h>\n")
    assert len(check_layers.check(tree.root)) == 1


def test_third_party_outside_of_its_folder_is_found(tree):
    tree("src/shard/inflate.cc", "#include <zlib.h>\n")
    assert check_layers.check(tree.root) == []
    tree("src/record/bad.cc", "#include <zlib.h>\n")
    assert check_layers.check(tree.root) == ["src/record/bad.cc: third-party zlib.h is not allowed in record"]


def test_public_header_may_not_include_internals(tree):
    tree("include/headrace/bad.h", '#include "base/crc.h"\n')
    assert check_layers.check(tree.root) == ["include/headrace/bad.h: include/headrace may not include base/crc.h"]


def test_bindings_see_public_headers_alone(tree):
    tree("python/bindings/bad.cc", '#include "base/crc.h"\n')
    assert len(check_layers.check(tree.root)) == 1


def test_include_by_neighbour_name_is_found(tree):
    tree("src/base/bad.cc", '#include "crc.h"\n')
    assert check_layers.check(tree.root) == ["src/base/bad.cc: no such file crc.h (write the path below src/)"]


def test_folder_without_a_row_is_found(tree):
    tree("src/extra/x.h", "\n")
    assert check_layers.check(tree.root) == ["src/extra/x.h: folder extra has no row in src/README.md"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/base/long.cc", "int x;\n" * 601),
        ("src/base/end.cc", "int x; \n"),
        ("src/base/open.cc", "// TO" + "DO: later\n"),
        ("tests/tab.py", "\tx = 1\n"),
        ("python/headrace/_core.so", ""),
    ],
)
def test_file_findings(tree, name, text):
    path = tree(name, text)
    assert len(check_files.check(tree.root, [path])) == (1)


def test_two_test_files_of_one_name(tree):
    paths = [tree("tests/python/test_x.py", ""), tree("tests/python/remote/test_x.py", "")]
    assert check_files.check(tree.root, paths) == ["tests/python/remote/test_x.py: tests/python/test_x.py has the same name"]


def test_open_end_with_its_issue_is_fine(tree):
    path = tree("src/base/open.cc", "// TO" + "DO(#12): later\n")
    assert check_files.check(tree.root, [path]) == []


def test_document_blocks_are_found_and_fail(tree):
    text = "```bash\n./run tset\ncmake --preset relase\n```\n\n<!-- checked -->\n```bash\nfalse\n```\n\n<!-- not run: why -->\n```python\n1/0\n```\n"
    ran, findings = check_documents.check(tree("README.md", text))
    assert ran == 1
    assert findings[:2] == ["README.md:2: there is no ./run tset", "README.md:2: there is no --preset relase"]


@pytest.mark.skipif(shutil.which(check_arm64.COMPILER) is None, reason=f"no {check_arm64.COMPILER}")
def test_code_for_another_cpu_is_found(tree):
    tree("src/base/good.cc", '#include "base/crc.h"\nint size() { return sizeof(void*); }\n')
    assert check_arm64.check(tree.root) == []
    tree("src/base/bad.cc", "#include <immintrin.h>\n")
    (finding,) = check_arm64.check(tree.root)
    assert "src/base/bad.cc" in finding and "immintrin.h" in finding
