"""The command `headrace`."""

import json
import os
import subprocess
import sys

import headrace as hr
import pytest

from number_shards import ROOT

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def headrace(tmp_path):
    """Runs `python -m headrace` in a folder with two shards; its completed process."""
    for shard in range(2):
        with hr.TFRecordWriter(tmp_path / f"part-{shard}.tfrecord") as writer:
            for row in range(10):
                writer.write(hr.make_example({"label": row, "score": 0.5, "[red]": b"x"}))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "200"}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "headrace", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tmp_path,
            env=environment,
        )

    run.folder = tmp_path
    return run


FEATURES = {
    "label": hr.FixedLenFeature([], hr.int64),
    "score": hr.FixedLenFeature([], hr.float32),
    "[red]": hr.FixedLenFeature([], hr.string),
}


def test_inspect_prints_a_table_and_code(headrace):
    done = headrace("inspect", "part-0.tfrecord", "part-1.tfrecord")
    assert done.returncode == 0, done.stderr
    table, code = done.stdout.split("import headrace as hr")
    assert "20 records, 3 keys" in table
    (red,) = [line.split() for line in table.splitlines() if line.strip().startswith("[red]")]
    assert red == ["[red]", "bytes", "1", "1", "text"]
    names = {}
    exec("import headrace as hr" + code, names)
    assert names["features"] == FEATURES


@pytest.mark.parametrize("files", ["part-*.tfrecord", "."])
def test_inspect_takes_patterns_and_folders(headrace, files):
    done = headrace("inspect", files, "--records", "7", "--code")
    assert done.returncode == 0, done.stderr
    names = {}
    exec(done.stdout, names)
    assert names["features"] == FEATURES


def test_against(headrace):
    made = headrace("inspect", ".", "--json")
    assert hr.features_from(json.loads(made.stdout)) == FEATURES
    schema = headrace.folder / "schema.json"
    schema.write_text(made.stdout)
    same = headrace("inspect", "part-*", "--against", "schema.json")
    assert (same.returncode, same.stdout) == (0, "20 records fit schema.json\n")

    document = json.loads(made.stdout)
    del document["features"]["[red]"]
    document["features"]["score"]["dtype"] = "int64"
    document["features"]["label"]["shape"] = [2]
    document["features"]["absent"] = {"kind": "VarLenFeature", "dtype": "int64"}
    schema.write_text(json.dumps(document))
    differs = headrace("inspect", "part-*", "--against", "schema.json")
    assert differs.returncode == 1, differs.stderr
    label, score, absent, red = differs.stdout.splitlines()
    assert label.startswith("label: record 0: Number of int64 values != expected.")
    assert score.startswith("score: record 0: Data types don't match.")
    assert absent == "absent: no record has the key 'absent'"
    assert red == "[red]: not in the schema"


def test_against_a_tfx_schema(headrace):
    (headrace.folder / "schema.pbtxt").write_text(
        'feature { name: "label" type: INT } feature { name: "score" type: FLOAT } feature { name: "[red]" type: BYTES }'
    )
    assert headrace("inspect", "part-*", "--against", "schema.pbtxt").returncode == 0


def test_records_that_are_no_examples(headrace):
    schema = headrace.folder / "schema.json"
    schema.write_text(headrace("inspect", "part-0.tfrecord", "--json").stdout)
    with hr.TFRecordWriter(headrace.folder / "part-2.tfrecord") as writer:
        writer.write(b"junk")
    differs = headrace("inspect", "part-*", "--against", "schema.json")
    assert differs.returncode == 1
    assert differs.stdout == "record 2 is no tf.train.Example (1 of 21 are not)\n"


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["inspect", "nowhere.tfrecord"], "nowhere.tfrecord"),
        (["inspect", ".", "--against", "nowhere.json"], "nowhere.json"),
        (["inspect", ".", "--records", "0"], "records=0"),
        (["inspect"], "FILES"),
        (["inspect", ".", "--records", "many"], "many"),
    ],
    ids=repr,
)
def test_failures_are_one_line_and_status_2(headrace, arguments, text):
    done = headrace(*arguments)
    assert done.returncode == 2 and text in done.stderr and "Traceback" not in done.stderr


def test_env_prints_the_settings(headrace):
    lines = headrace("env").stdout.splitlines()
    assert [line.split("=")[0] for line in lines] == [setting.name for setting in hr.environment()]
    assert "HEADRACE_STALL_SECONDS=30 (default)" in lines


def test_version(headrace):
    assert headrace("--version").stdout.strip().endswith(hr.__version__)


def test_without_its_packages_the_command_says_so(script):
    done = script(
        """
import sys
sys.modules["rich"] = None
from headrace.__main__ import main
main()
""",
        check=False,
    )
    assert done.returncode == 1 and "pip install 'headrace[cli]'" in done.stderr
