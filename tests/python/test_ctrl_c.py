"""Ctrl-C in every call that lasts: KeyboardInterrupt soon, and the process goes on."""

import gzip
import os

import headrace as hr
import pytest

from number_shards import write_shard

# What runs until a signal comes, by name; a file of slow content, one that takes seconds to inflate, and a folder.
SCRIPT = """
import os, signal, sys, threading, time
import headrace as hr
signal.signal(signal.SIGINT, signal.default_int_handler)
way, plain, long, folder = sys.argv[1:]
os.environ["HEADRACE_CACHE_DIR"] = os.path.join(folder, "cache")

class Slow:
    def __init__(self, path): self.file = open(path, "rb")
    def seek(self, *place): return self.file.seek(*place)
    def tell(self): return self.file.tell()
    def read(self, size):
        if self.file.tell() >= 65536: time.sleep(0.3)
        return self.file.read(min(size, 16384))
    def close(self): self.file.close()

def slow_open(path):
    time.sleep(3)
    return open(path, "rb")

def write():
    with hr.TFRecordWriter(os.path.join(folder, "written"), compression="gzip") as writer:
        while True: writer.write(bytes(1 << 20))

ways = {
    "next": lambda: [None for _ in hr.TFRecordDataset(plain, open=Slow)],
    "batch": lambda: [None for _ in hr.TFRecordDataset(plain, open=Slow).batch(1 << 20)],
    "open": lambda: list(hr.TFRecordDataset(plain, open=slow_open)),
    "records": lambda: [None for _ in hr.open_records(long)],
    "scan": lambda: hr.TFRecordDataset(long).cardinality(scan=True),
    "index": lambda: list(hr.index_files([long])),
    "verify": lambda: list(hr.verify_files([long])),
    "repair": lambda: hr.repair_file(long, os.path.join(folder, "repaired")),
    "writer": write,
}
def kill():
    print(time.monotonic(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)

threads = threading.active_count()
timer = threading.Timer(0.4, kill)
timer.start()
try:
    ways[way]()
    print("ended by itself")
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
print(sum(1 for _ in hr.TFRecordDataset(plain).take(3)), flush=True)
"""

WAYS = ["next", "batch", "open", "records", "scan", "index", "verify", "repair", "writer"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A plain shard, and one of many gzip members that is inflated for some seconds."""
    folder = tmp_path_factory.mktemp("files")
    plain = write_shard(folder / "plain", [bytes(1000)] * 1000)
    with open(plain, "rb") as file:
        member = gzip.compress(file.read() * 16)
    with open(folder / "long", "wb") as file:
        for _ in range(400):
            file.write(member)
    return plain, str(folder / "long")


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_it(files, tmp_path, script, way):
    done = script(SCRIPT, way, *files, tmp_path, timeout=60)
    signalled, ended, goes_on = done.stdout.split("\n")[:3]
    assert goes_on == "3", done.stdout
    assert float(ended) - float(signalled) < 2  # aim: 0.5 s; a machine under load must not decide the test
    if way in ("repair", "writer"):
        assert os.listdir(tmp_path) == [], "what was not finished has no name"
