"""Document check: what README.md, HACKING.md and docs/**/*.md tell people to type works as written.

- All ```python blocks of one document run in order in one process, in a scratch folder that holds data/train-*.tfrecord
  (an `image` feature with a serialized float32 TensorProto [32, 32, 3], an int64 `label`) and data/validation-*.tfrecord.
- ```bash blocks directly below a line `<!-- checked -->` run from the repository's root; in all others each
  `./run COMMAND` and `cmake --preset NAME` must exist.
- A block directly below `<!-- printed -->` is part of what the document's python blocks print.
- A block directly below `<!-- not run: REASON -->` is left alone.
- A document with a line `<!-- with servers -->` runs beside a web server (its address in DATA_URL) and an S3 (in AWS_ENDPOINT_URL,
  keys beside it; bucket `training`); both have what data/ has.
- The python blocks of a document with a line `<!-- needs MODULE -->` run where there is that module.

Usage: check_documents.py [FILE...].
"""

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- *(?P<mark>[^>]*?) *-->\n+)?```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^<!-- needs (\w+) -->$", re.MULTILINE)
TIMEOUT_SECONDS = 120

MAKE_DATA = """
import pathlib
import headrace as hr
import numpy as np
pathlib.Path("data").mkdir()
rng = np.random.default_rng(1)
for split, shards in (("train", 4), ("validation", 2)):
    for shard in range(shards):
        with hr.TFRecordWriter(f"data/{split}-{shard:05d}-of-{shards:05d}.tfrecord") as writer:
            for record in range(512):
                pixels = rng.random((32, 32, 3), dtype=np.float32)
                # TensorProto: dtype (1) DT_FLOAT, shape (2) with three dims (2) of size (1), tensor_content (4).
                shape = b"".join(b"\\x12\\x02\\x08" + bytes([size]) for size in pixels.shape)
                proto = b"\\x08\\x01\\x12" + bytes([len(shape)]) + shape + b"\\x22\\x80\\x60" + pixels.tobytes()
                writer.write(hr.make_example({"image": proto, "label": record % 10}))
"""


def blocks(path):
    """(language, body, mark, line) of every fenced block."""
    text = path.read_text()
    for match in BLOCK.finditer(text):
        yield match["language"], match["body"], match["mark"] or "", text.count("\n", 0, match.start("body")) + 1


PUT_OBJECTS = """
import boto3, os, pathlib
s3 = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")
s3.create_bucket(Bucket="training")
for path in sorted(pathlib.Path("data").iterdir()):
    s3.upload_file(str(path), "training", f"data/{path.name}")
"""


@contextlib.contextmanager
def servers(scratch):
    """The environment of a document with servers."""
    sys.path.insert(0, str(ROOT / "tests/python/remote"))
    import remote_servers

    ours = ("AWS_", "HEADRACE_", "http_proxy", "https_proxy", "all_proxy")
    environment = {name: value for name, value in os.environ.items() if not name.lower().startswith(tuple(map(str.lower, ours)))}
    own = Path(scratch) / "nginx"
    own.mkdir()
    with remote_servers.nginx(Path(scratch) / "data", own) as web, remote_servers.moto() as s3:
        environment.update(
            DATA_URL=web, AWS_ENDPOINT_URL=s3, AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", HOME=scratch
        )
        subprocess.run([sys.executable, "-c", PUT_OBJECTS], cwd=scratch, env=environment, check=True)
        yield environment


def run_python(path, pieces, printed=()):
    """Runs the blocks of one document as one script whose line numbers are the document's, and looks for what it prints."""
    script = []
    for line, body in pieces:
        script += [""] * (line - 1 - len(script)) + body.splitlines()
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-c", MAKE_DATA], cwd=scratch, check=True)
        program = Path(scratch) / f"document_{path.stem}.py"  # tensorflow.py would hide the package
        program.write_text("\n".join(script) + "\n")
        has_servers = "<!-- with servers -->" in path.read_text().splitlines()
        with servers(scratch) if has_servers else contextlib.nullcontext() as environment:
            return _run([sys.executable, str(program)], scratch, environment, printed)


def _run(command, folder, environment=None, printed=()):
    with tempfile.TemporaryDirectory() as cache:
        return _run_with_cache(command, folder, {**(environment or os.environ), "HEADRACE_CACHE_DIR": cache}, printed)


def _run_with_cache(command, folder, environment, printed):
    options = {"cwd": folder, "env": environment, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    try:
        result = subprocess.run(command, timeout=TIMEOUT_SECONDS, **options)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT_SECONDS} s"
    if result.returncode != 0:
        return (result.stdout + result.stderr)[-3000:]
    missing = [text for text in printed if text not in result.stdout]
    return f"does not print\n{missing[0]}but\n{result.stdout[-3000:]}" if missing else ""


def known_names():
    commands = set(re.findall(r"^  (\w+)(?: \| [^)]*)?\)", (ROOT / "run").read_text(), re.MULTILINE))
    presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
    return commands, presets


def unknown_commands(body):
    commands, presets = known_names()
    wrong = [f"./run {name}" for name in re.findall(r"\./run (\w+)", body) if name not in commands]
    return wrong + [f"--preset {name}" for name in re.findall(r"--preset[ =](\w+)", body) if name not in presets]


def check(path):
    """(number of blocks that ran, findings)."""
    findings, ran, pieces, printed = [], 0, [], []
    for language, body, mark, line in blocks(path):
        where = f"{path.name}:{line}"
        if mark.startswith("not run:"):
            continue
        if mark == "printed":
            printed.append(body)
        elif language == "python":
            pieces.append((line, body))
        elif language in ("bash", "sh", "console"):
            findings += [f"{where}: there is no {name}" for name in unknown_commands(body)]
            if mark == "checked":
                ran += 1
                output = _run(["bash", "-euo", "pipefail", "-c", body], ROOT)
                if output:
                    findings.append(f"{where}: {output}")
    needed = NEEDS.search(path.read_text())
    if needed and importlib.util.find_spec(needed[1]) is None:
        print(f"{path.name}: left out, there is no {needed[1]}")
    elif pieces:
        ran += len(pieces)
        output = run_python(path, pieces, printed)
        if output:
            findings.append(f"{path.name}: {output}")
    return ran, findings


def main():
    named = [Path(name).resolve() for name in sys.argv[1:]]
    paths = named or [ROOT / "README.md", ROOT / "HACKING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    ran, failed = 0, 0
    for path in paths:
        if not path.exists():
            print(f"{path.name}: missing")
            failed += 1
            continue
        count, findings = check(path)
        ran += count
        failed += len(findings)
        for finding in findings:
            print(finding)
    print(f"documents: {ran} blocks ran, {failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
