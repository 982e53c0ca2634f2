"""The live line of progress=True: on a terminal, in a notebook, and nowhere else."""

import io
import os
import pty
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import headrace as hr
import pytest
from headrace import status_line
from headrace.status_line import Look, is_news, text_of

LINE = r"epoch \d+, \d+ batches, [\d.]+ batches/s, \d+ records/s, [\d.]+ MB/s, waiting [\d.]+ %"
PROGRAM = """
import sys, time
import headrace as hr
from headrace import status_line
status_line._INTERVAL_SECONDS = 0.02
dataset = hr.TFRecordDataset(sys.argv[1], progress=sys.argv[2] == "True").repeat().batch(4)
with iter(dataset) as batches:
    for _ in range(40):
        next(batches)
        time.sleep(0.02)
print("below", file=sys.stderr)
"""


@pytest.fixture
def shard(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        for number in range(16):
            writer.write(b"%d" % number * 100)
    return str(path)


def on_terminal(*arguments):
    """What the program writes to a stderr that is a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stderr=slave)
    os.close(slave)
    written = b""
    try:
        while piece := os.read(master, 4096):
            written += piece
    except OSError:  # how the end of a terminal is told
        pass
    os.close(master)
    assert process.wait() == 0
    return written.decode()


def test_a_line_that_is_written_over_and_then_left(shard):
    written = on_terminal(shard, "True")
    assert len(re.findall(rf"\r\x1b\[K{LINE}", written)) >= 2
    assert written.endswith("\r\nbelow\r\n")


def test_nothing_unless_asked_for(shard):
    assert on_terminal(shard, "False") == "below\r\n"


def test_nothing_where_stderr_is_no_terminal(shard):
    run = subprocess.run([sys.executable, "-c", PROGRAM, shard, "True"], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "below\n")


def test_in_a_notebook_its_output_is_replaced(shard, monkeypatch):
    shown = []

    def display(data, raw, display_id):
        assert raw and display_id
        return SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    notebook = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel=object()), display=SimpleNamespace(display=display)
    )
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setattr(status_line, "_INTERVAL_SECONDS", 0.01)
    with iter(hr.TFRecordDataset(shard, progress=True).repeat().batch(4)) as batches:
        limit = time.monotonic() + 60
        while not shown and time.monotonic() < limit:
            next(batches)
    assert re.match(LINE, shown[0])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipeline_that_is_dropped_ends_its_line(shard, monkeypatch):
    monkeypatch.setattr(status_line, "_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    batches = iter(hr.TFRecordDataset(shard, progress=True).repeat().batch(4))
    limit = time.monotonic() + 60
    while not terminal.getvalue() and time.monotonic() < limit:
        next(batches)
    [line] = status_line._lines.values()
    del batches
    line._thread.join(60)
    assert not line._thread.is_alive() and terminal.getvalue().endswith("\n")


def look(seconds, batches, busy=0.0, waited=0.0, waiting=0.0):
    stages = [
        SimpleNamespace(name="read", busy_seconds=busy, bytes=batches * 1_000_000, records=0),
        SimpleNamespace(name="deliver", busy_seconds=0.0, bytes=0, records=batches * 4),
    ]
    return Look(seconds, 2, batches, stages, [SimpleNamespace(wait_seconds=waited, waiting_seconds=waiting)])


def test_the_text():
    assert text_of(look(1.0, 10), look(3.0, 30, busy=1.5, waited=0.5)) == (
        "epoch 2, 30 batches, 10.0 batches/s, 40 records/s, 10.0 MB/s, waiting 25.0 %, read 0.75 cores"
    )


def test_news_is_a_batch_or_a_wait():
    assert is_news(look(1.0, 10), look(2.0, 11)) and is_news(look(1.0, 10), look(2.0, 10, waiting=0.5))
    assert not is_news(look(1.0, 10), look(2.0, 10))
