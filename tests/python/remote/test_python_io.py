"""Files that Python opens: open=function, and URLs that fsspec knows."""

import io
import threading

import fsspec
import headrace as hr
import pytest
from number_shards import NUMBERS, ids, write_numbers


class Files:
    """Files in memory, by name; counts what is open."""

    def __init__(self, contents):
        self.contents = contents
        self.open_files = 0
        self.threads = set()

    def open(self, path):
        files = self

        class File(io.BytesIO):
            def close(self):
                if not self.closed:
                    files.open_files -= 1
                super().close()

        if path not in self.contents:
            raise FileNotFoundError(path)
        self.open_files += 1
        self.threads.add(threading.current_thread().name)
        return File(self.contents[path])


@pytest.fixture
def files(shards):
    return Files({f"mine:{path.name}": path.read_bytes() for path in sorted(shards.iterdir())})


def dataset(paths, **options):
    return hr.TFRecordDataset(paths, **options).interleave(2, 5).batch(10).parse(NUMBERS)


def test_the_same_records_as_from_the_files(files, shards):
    with iter(dataset(list(files.contents), open=files.open)) as batches:
        got = ids(batches)
        assert batches.report().io == "Python IO"
    assert files.open_files == 0
    with iter(dataset(str(shards / "*"))) as batches:
        assert ids(batches) == got
        assert batches.report().io == "engine"


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed(shards, compression):
    write_numbers(shards, compression=compression)
    files = Files({path.name: path.read_bytes() for path in sorted(shards.iterdir())})
    with iter(dataset(list(files.contents), open=files.open)) as batches:
        assert sorted(ids(batches)) == list(range(100))


def test_short_reads_and_other_buffers(files):
    class Stubborn(io.RawIOBase):
        def __init__(self, data):
            self._file = io.BytesIO(data)

        def seek(self, *place):
            return self._file.seek(*place)

        def tell(self):
            return self._file.tell()

        def read(self, size):
            return bytearray(self._file.read(min(size, 7)))

    paths = list(files.contents)[:1]
    with iter(dataset(paths, open=lambda path: Stubborn(files.contents[path]))) as batches:
        assert ids(batches) == list(range(25))


def test_a_position_fits_local_files(files, shards):
    def shuffled(paths, **options):
        return hr.TFRecordDataset(paths, **options).interleave(4).shuffle(20, seed=1).batch(8).parse(NUMBERS)

    copies = Files({f"mine/{name.removeprefix('mine:')}": data for name, data in files.contents.items()})
    with iter(shuffled(list(copies.contents), open=copies.open)) as batches:
        for _ in range(3):
            next(batches)
        state = batches.state_dict()
        expected = ids(batches)
    with iter(shuffled(str(shards / "*"))) as batches:
        batches.load_state_dict(state)
        assert ids(batches) == expected


def test_what_open_raises(files):
    with pytest.raises(FileNotFoundError, match="2 of 3 files cannot be opened: a, b"):
        dataset(["mine:part-00.tfrecord", "a", "b"], open=files.open).check()

    def refuse(path):
        raise PermissionError("not for you")

    with pytest.raises(PermissionError, match="not for you"):
        dataset("x", open=refuse).check()
    with pytest.raises(OSError, match="ZeroDivisionError"):
        dataset("x", open=lambda path: 1 / 0).check()
    with pytest.raises(ValueError, match="open='x'"):
        dataset("x", open="x")


def test_what_read_raises_has_its_place_in_the_stream(files):
    class Breaking(io.BytesIO):
        def read(self, size=-1):
            if self.tell() >= 700:
                raise ConnectionError("the cable")
            return super().read(min(size, 700 - self.tell()))

    paths = list(files.contents)[:1]
    got = []
    with pytest.raises(OSError, match="ConnectionError: the cable") as caught:
        for record in hr.TFRecordDataset(paths, open=lambda path: Breaking(files.contents[path])):
            got.append(record)
    assert len(got) == 700 // (len(files.contents[paths[0]]) // 25) and caught.value.path == paths[0]


def test_too_much_is_an_error(files):
    class Generous(io.BytesIO):
        def read(self, size=-1):
            return super().read() * 1000

    with pytest.raises(OSError, match="more bytes than"):
        list(hr.TFRecordDataset(["mine:part-00.tfrecord"], open=lambda path: Generous(files.contents[path])))


def test_ctrl_c_in_open_is_raised(files):
    def interrupted(path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dataset("x", open=interrupted).check()


def test_the_interpreter_may_end_in_the_middle(script):
    done = script(
        """
import io, time
import headrace as hr
data = io.BytesIO()
class Slow(io.BytesIO):
    def read(self, size=-1):
        time.sleep(0.05)
        return super().read(size)
import tempfile, os
path = os.path.join(tempfile.mkdtemp(), "x")
with hr.TFRecordWriter(path) as writer:
    for i in range(20000):
        writer.write(bytes(1000))
data = open(path, "rb").read()
records = iter(hr.TFRecordDataset(["a", "b", "c"], open=lambda path: Slow(data)).interleave(3))
for _ in range(100):
    next(records)
print("done")
"""
    )
    assert done.stdout == "done\n" and done.stderr == ""


def test_single_files(files, tmp_path):
    path = "mine:part-01.tfrecord"
    records = list(hr.open_records(path, open=files.open))
    assert len(records) == 25 and records == list(hr.TFRecordDataset([path], open=files.open))
    files.contents["damaged"] = bytes([*files.contents[path][:-1], files.contents[path][-1] ^ 1])
    checks = list(hr.verify_files([path, "damaged"], open=files.open))
    assert [(check.path, check.records, check.whole) for check in checks] == [(path, 25, True), ("damaged", 24, False)]
    check = hr.repair_file("damaged", tmp_path / "repaired", open=files.open)
    assert (check.path, check.records, len(check.regions)) == ("damaged", 24, 1)
    assert list(hr.open_records(tmp_path / "repaired")) == records[:-1]
    assert files.open_files == 0


def test_datasets_of_several_places_are_combined(files, shards):
    paths = list(files.contents)
    other = Files(files.contents)
    both = hr.TFRecordDataset(paths[:1], open=files.open).concatenate(hr.TFRecordDataset(paths[1:2], open=other.open))
    all_three = both.concatenate(hr.TFRecordDataset(str(shards / "part-02.tfrecord")))
    with iter(all_three.batch(10).parse(NUMBERS)) as batches:
        assert ids(batches) == list(range(75))
        assert batches.report().io == "Python IO"


def test_fsspec(files):
    memory = fsspec.filesystem("memory")
    for name, data in files.contents.items():
        memory.pipe(f"/bucket/{name.removeprefix('mine:')}", data)
    memory.pipe("/bucket/_SUCCESS", b"")
    try:
        for name in ("memory://bucket/part-*", "memory://bucket", "simplecache::memory://bucket/part-0[0-3].tfrecord"):
            with iter(dataset(name)) as batches:
                assert sorted(ids(batches)) == list(range(100)), name
                assert batches.report().io == "Python IO"
        with iter(dataset(["memory://bucket/part-01.tfrecord"])) as batches:
            assert ids(batches) == list(range(25, 50))
        assert len(list(hr.open_records("memory://bucket/part-01.tfrecord"))) == 25
        assert [check.records for check in hr.verify_files("memory://bucket/part-0[12].tfrecord")] == [25, 25]
        with pytest.raises(FileNotFoundError):
            dataset("memory://bucket/none-*").check()
    finally:
        memory.rm("/bucket", recursive=True)


def test_without_fsspec(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(ValueError, match="fsspec, which is not installed"):
        dataset("memory://bucket/x")


COLLECTED = """
import sys, time
import headrace as hr

class Slow:
    def __init__(self, path): self.file = open(path, "rb")
    def seek(self, *place): return self.file.seek(*place)
    def tell(self): return self.file.tell()
    def read(self, size):
        time.sleep(0.2)
        return self.file.read(min(size, 500))
    def close(self): self.file.close()

for _ in range(3):
    next(iter(hr.TFRecordDataset(sys.argv[1:], open=Slow)))  # nobody keeps the iterator, while Python reads further
print("end")
"""


def test_an_iterator_is_collected_while_python_reads(shards, script):
    assert script(COLLECTED, *sorted(shards.iterdir())[:1], timeout=60).stdout == "end\n"
