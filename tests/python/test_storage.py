"""Storage as it is found: names of any bytes, links to nowhere, what is no file, few descriptors, many shards, bare hosts."""

import os
import shutil
import socket
import subprocess
import sys

import headrace as hr
import pytest

from number_shards import NUMBERS, ROOT, ids, number_record, write_numbers, write_shard


def read(files, **options):
    return ids(hr.TFRecordDataset(files, **options).batch(7).parse(NUMBERS))


NAMES = [b"\xff\xfe\x80.tfrecord", b"a\nb", b" blanks ", b"star*", b"[1]", b"what?", b"\\", b"%2e", b"-"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_bytes(tmp_path, name):
    path = os.path.join(os.fsencode(tmp_path), name)
    with open(write_shard(tmp_path / "plain.tfrecord", [b"1"]), "rb") as source, open(path, "wb") as target:
        shutil.copyfileobj(source, target)
    (tmp_path / "plain.tfrecord").unlink()
    written = path + b".written"
    with hr.TFRecordWriter(os.fsdecode(written)) as writer:
        writer.write(b"2")
    for given in (path, os.fsdecode(path)):
        assert list(hr.TFRecordDataset([given, written])) == [b"1", b"2"]
        assert list(hr.TFRecordDataset(given)) == [b"1"]
        assert list(hr.open_records(given)) == [b"1"]
    assert sorted(hr.TFRecordDataset(tmp_path)) == [b"1", b"2"]
    with open(path, "ab") as file:
        file.write(b"\0" * 3)
    records = iter(hr.TFRecordDataset([path]))
    assert next(records) == b"1"
    with pytest.raises(hr.DataLossError) as caught:
        next(records)
    assert os.fsencode(caught.value.path) == path
    str(caught.value).encode()


def test_links_that_lead_nowhere(numbers, tmp_path):
    (tmp_path / "loop-1").symlink_to(tmp_path / "loop-2")
    (tmp_path / "loop-2").symlink_to(tmp_path / "loop-1")
    (tmp_path / "self").symlink_to("self/deeper")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name, error in (("loop-1", OSError), ("self", OSError), ("dangling", FileNotFoundError)):
        for files in ([numbers[0], tmp_path / name], tmp_path / name, str(tmp_path / name[:-1]) + "*"):
            with pytest.raises(error) as caught:
                list(hr.TFRecordDataset(files))
            assert caught.value.path.startswith(str(tmp_path / name[:-1]))
    (tmp_path / "folder").symlink_to(tmp_path)
    assert read([tmp_path / "folder" / "folder" / os.path.basename(numbers[0])]) == list(range(25))


def test_what_is_no_file_is_no_shard(numbers, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", "/dev/null", "/dev/zero", tmp_path):
            with pytest.raises(OSError) as caught:
                list(hr.TFRecordDataset([numbers[0], path]))
            assert caught.value.path == str(path)
            with pytest.raises(OSError):
                list(hr.open_records(path))
        # In a folder they are no candidates, unless their name says that they hold records.
        assert read(tmp_path) == list(range(100))
        os.mkfifo(tmp_path / "part-99.tfrecord")
        with pytest.raises(OSError, match="not a regular file"):
            read(tmp_path)


def test_permission_that_is_taken_away(unprivileged):
    paths = write_numbers(unprivileged, shards=40, per_shard=3000)
    pipeline = iter(hr.TFRecordDataset(paths, num_threads=1).batch(1).parse(NUMBERS))
    assert next(pipeline)["id"].numpy() == 0
    os.chmod(paths[0], 0)  # open already: it is read to its end
    os.chmod(paths[-1], 0)
    seen = 1
    with pytest.raises(PermissionError) as caught:
        for batch in pipeline:
            assert batch["id"].numpy() == seen
            seen += 1
    assert seen == 39 * 3000 and caught.value.path == paths[-1]


def test_a_folder_that_may_not_be_listed(unprivileged):
    write_numbers(unprivileged, shards=2)
    os.chmod(unprivileged, 0o300)
    try:
        for files in (unprivileged, str(unprivileged / "*.tfrecord")):
            with pytest.raises(PermissionError) as caught:
                read(files)
            assert caught.value.path.rstrip("/") == str(unprivileged)
    finally:
        os.chmod(unprivileged, 0o700)


FEW_DESCRIPTORS = """
import os, resource, sys
import headrace as hr
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
folder, epochs = sys.argv[1], 2
paths = [f"{folder}/{i:04d}.tfrecord" for i in range(520)]
dataset = hr.TFRecordDataset(paths).interleave(cycle_length=512, block_length=3).repeat(epochs)
most = records = 0
order = []
for record in dataset:
    order.append(record[:16])
    if len(order) % 500 == 0:
        most = max(most, len(os.listdir("/proc/self/fd")))
assert len(order) == epochs * 520 * 50, len(order)
assert [record[:8] for record in order[:7]] == [b"%08d" % i for i in (0, 0, 0, 1, 1, 1, 2)]
assert [int(record[8:16]) for record in order[:7]] == [0, 1, 2, 0, 1, 2, 0]
assert len(set(order)) == 520 * 50
print(most)
"""


def test_a_cycle_of_more_shards_than_descriptors(tmp_path, script):
    """All of them are in turn all the time; half of the limit is left to the rest of the process."""
    for shard in range(520):  # more than is read ahead
        write_shard(tmp_path / f"{shard:04d}.tfrecord", (b"%08d%08d" % (shard, i) + bytes(8000) for i in range(50)))
    done = script(FEW_DESCRIPTORS, tmp_path, timeout=120)
    assert 100 <= int(done.stdout) <= 128 + 20  # descriptors at a time


REPLACED = """
import os, resource, sys
import headrace as hr
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
folder = sys.argv[1]
paths = [f"{folder}/{i:04d}.tfrecord" for i in range(40)]
records = iter(hr.TFRecordDataset(paths, num_threads=1).interleave(cycle_length=40, block_length=1))
for _ in range(40 * 20):
    next(records)
for path in paths:
    os.rename(path + ".other", path)
try:
    for _ in records:
        pass
except hr.DataLossError as error:
    assert "another file has this name" in str(error), error
    assert error.path in paths and error.record > 20, error
else:
    raise AssertionError("nobody noticed")
"""


def test_a_file_that_is_replaced_while_its_descriptor_is_given_up(tmp_path, script):
    for shard in range(40):
        for name in (f"{shard:04d}.tfrecord", f"{shard:04d}.tfrecord.other"):
            write_shard(tmp_path / name, (b"%08d" % i + bytes(20_000) for i in range(60)))
    script(REPLACED, tmp_path, timeout=120)


MANY_SHARDS = """
import os, resource, sys, time
import headrace as hr
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
def resident():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
before = resident()
start = time.perf_counter()
records = iter(hr.TFRecordDataset(sys.argv[1] + "/*/*.tfrecord").interleave(cycle_length=16))
next(records)
opened = time.perf_counter() - start
count = 1 + sum(1 for _ in records)
assert count == 100_000, count
assert opened < 30, opened
assert resident() - before < 200, resident() - before
assert len(os.listdir("/proc/self/fd")) < 100
"""


def test_a_hundred_thousand_shards(tmp_path, script):
    record = write_shard(tmp_path / "one", [number_record(1)])
    data = open(record, "rb").read()
    for folder in range(100):
        place = tmp_path / f"{folder:02d}"
        place.mkdir()
        for shard in range(1000):
            (place / f"{shard:03d}.tfrecord").write_bytes(data)
    script(MANY_SHARDS, tmp_path, timeout=300)


BARE = """
import ctypes, os, sys
os.environ.pop("HOME", None), os.environ.pop("XDG_CACHE_HOME", None)
import headrace as hr
from headrace import int64
dataset = hr.TFRecordDataset(sys.argv[1] + "/*.tfrecord").repeat(2).shuffle(30, seed=1).batch(10)
dataset = dataset.parse({"id": hr.FixedLenFeature([], int64)}).prefetch_to_device(["/CPU:0", "/CPU:0"])
got = sorted(int(i) for batch in dataset for i in batch["id"].numpy())
assert got == sorted(2 * list(range(100))), got
"""


def test_a_bare_host(numbers, tmp_path):
    """A read-only root, no HOME, no room in /tmp, no /dev/shm."""
    prepare = (
        "mount -t tmpfs -o ro none /dev/shm && mount -o remount,bind,ro /"
        ' && ! touch /tmp/writable 2>/dev/null && exec env -u HOME TMPDIR=/nowhere "$@"'
    )
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        pytest.skip("this system lets nobody make a mount namespace")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", prepare, "sh", sys.executable, "-c", BARE, tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr


REFUSE = """
import ctypes, errno, platform, struct, sys
# A sandbox that refuses io_uring (as most container run times do), preadv2() and posix_fadvise().
numbers = {"x86_64": (425, 426, 427, 327, 221), "aarch64": (425, 426, 427, 286, 223)}[platform.machine()]
load = struct.pack("HBBI", 0x20, 0, 0, 0)
tests = [struct.pack("HBBI", 0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)]
ends = [struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000), struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | errno.EPERM)]
code = ctypes.create_string_buffer(b"".join([load, *tests, *ends]))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(numbers) + 3, ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
if libc.prctl(22, 2, program) != 0:  # PR_SET_SECCOMP
    sys.exit(77)
assert libc.syscall(numbers[0], 0, 0) == -1 and ctypes.get_errno() == errno.EPERM
"""


def test_a_sandbox_that_refuses_calls(numbers, tmp_path, script):
    done = script(REFUSE + BARE, tmp_path, check=False)
    if done.returncode == 77:
        pytest.skip("this system has no seccomp filters")
    assert done.returncode == 0, done.stderr
