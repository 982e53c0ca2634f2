"""Bad input, one test for each way in which files, records and arguments go wrong.

Each asserts the type of the error, the file, record, offset and key it names, that everything before it is delivered,
and that every later call raises it again; in pipelines of several shapes, which must agree.
"""

import gzip
import os
import re
import zlib

import headrace as hr
import numpy as np
import pytest

from number_shards import NUMBERS, number_record, write_numbers, write_shard
from wire_bytes import example, field, frame, framed, varint

ID = {"id": hr.FixedLenFeature([], hr.int64)}
HEADER = 12
SIZE = len(framed(number_record(0)))  # of each of the records 0 … 99

# Everything that a stream with a failure in it may run through: (name, options of the source, steps behind it).
SHAPES = {
    "row by row": ({"num_threads": 1}, lambda d: d.batch(1)),
    "in one batch": ({"num_threads": 1}, lambda d: d.batch(1000)),
    "many threads": ({"num_threads": 4}, lambda d: d.batch(3)),
    "two devices": ({"num_threads": 2}, lambda d: d.batch(4), ["/CPU:0", "/CPU:1"]),
    "repeated": ({"num_threads": 2}, lambda d: d.repeat().batch(5)),
}


def fails(files, kind, before, spec=None, pattern="", options=(), **parts):
    """Reading `files` delivers the ids `before`, then fails with `kind` and these attributes, again and again."""
    texts = set()
    for reading, steps, *devices in SHAPES.values():
        dataset = steps(hr.TFRecordDataset(files, **reading, **dict(options))).parse({**ID, **(spec or {})})
        pipeline = iter(dataset.prefetch_to_device(devices[0]) if devices else dataset)
        found = []
        with pytest.raises(kind) as caught:
            for batch in pipeline:
                found += [i for share in batch.replicas for i in share["id"].numpy().tolist()]
        assert found == list(before)
        error = caught.value
        assert isinstance(error, hr.Error) and type(error) is not hr.Error
        assert re.search(pattern, str(error)), str(error)
        assert len(str(error).encode()) < 2048 and "\n" not in str(error)
        assert {name: getattr(error, name) for name in parts} == parts
        for part in ("path", "key"):
            assert parts.get(part) is None or parts[part] in str(error)
        for _ in range(3):
            with pytest.raises(kind) as again:
                next(pipeline)
            assert str(again.value) == str(error) and again.value.record == error.record
        if kind is hr.SchemaError:
            assert error.row is not None
            texts.add(error.message)
        else:
            texts.add(str(error))
        pipeline.close()
    assert len(texts) == 1, texts


@pytest.fixture
def shard(tmp_path):
    """Writes the bytes of a shard behind a good one of the records 0 … 4; (both paths, the path of the bad one)."""

    def write(data, name="bad.tfrecord"):
        good = write_numbers(tmp_path, shards=1, per_shard=5)[0]
        (tmp_path / name).write_bytes(data)
        return [good, str(tmp_path / name)], str(tmp_path / name)

    return write


GOOD = range(5)
TEN = b"".join(framed(number_record(i)) for i in range(5, 15))  # records 5 … 14, whole


# Files that are not there, or are none.


def test_missing_files_are_all_named_at_once(numbers, tmp_path):
    names = [f"missing-{i}" for i in range(3)]
    files = [numbers[0], *(tmp_path / name for name in names), numbers[1]]
    fails(files, FileNotFoundError, [], pattern="missing-0.*missing-1.*missing-2")
    with pytest.raises(FileNotFoundError, match="missing-2") as caught:
        hr.TFRecordDataset(files).check()
    assert numbers[0] not in str(caught.value)
    one = str(tmp_path / "missing-0")
    fails([numbers[0], one], FileNotFoundError, [], path=one, filename=one)


def test_a_pattern_that_matches_nothing(numbers, tmp_path):
    fails(tmp_path / "other-*.tfrecord", FileNotFoundError, [], pattern=r"other-\*\.tfrecord")


def test_a_folder_without_shards(tmp_path):
    fails(tmp_path, FileNotFoundError, [], pattern=re.escape(str(tmp_path)))
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / ".part-0.crc").write_bytes(b"crc")
    fails(tmp_path, FileNotFoundError, [], pattern=re.escape(str(tmp_path)))


def test_a_folder_in_a_list(numbers, tmp_path):
    (tmp_path / "inner").mkdir()
    fails([numbers[0], tmp_path / "inner"], IsADirectoryError, [], path=str(tmp_path / "inner"))


def test_a_file_that_may_not_be_read(unprivileged):
    paths = write_numbers(unprivileged, shards=2, per_shard=5)
    os.chmod(paths[1], 0)
    fails(paths, PermissionError, [], path=paths[1], filename=paths[1])


def test_a_pipe_is_no_shard(numbers, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    fails([numbers[0], tmp_path / "pipe"], OSError, [], path=str(tmp_path / "pipe"))


def test_a_file_that_goes_away_while_it_is_read(tmp_path):
    paths = write_numbers(tmp_path, shards=200, per_shard=1)
    pipeline = iter(hr.TFRecordDataset(paths, num_threads=1).batch(1).parse(NUMBERS))
    assert next(pipeline)["id"].numpy() == 0
    os.unlink(paths[-1])
    with pytest.raises(FileNotFoundError) as caught:
        list(pipeline)
    assert caught.value.path == paths[-1]


def test_a_shard_of_0_bytes_is_a_warning(shard):
    paths, empty = shard(b"")
    with iter(hr.TFRecordDataset([*paths, paths[0]]).batch(100).parse(NUMBERS)) as pipeline:
        assert next(pipeline)["id"].numpy().tolist() == [*GOOD, *GOOD]
        assert next(pipeline, None) is None
        assert [text for text in pipeline.report().warnings if empty in text]


def test_no_record_at_all_does_not_repeat_for_ever(tmp_path):
    for name, data in (("a", b""), ("b.gz", gzip.compress(b""))):
        (tmp_path / name).write_bytes(data)
        assert list(hr.TFRecordDataset(tmp_path / name).batch(1).parse(NUMBERS)) == []
        for steps in (lambda d: d.repeat(), lambda d: d.repeat().shuffle(5), lambda d: d.shuffle(5).repeat()):
            with pytest.raises(hr.Error, match="record"):
                next(iter(steps(hr.TFRecordDataset(tmp_path / name)).batch(1).parse(NUMBERS)))


# Files that hold something else.

FOREIGN = {
    "text": (b"id,x\n1,2.5\n2,3.5\n" * 20, "text"),
    "short text": (b"hello\n", ""),
    "zip": (b"PK\x03\x04\x14\x00" + bytes(200), "zip"),
    "git-lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 123\n", "git-lfs"),
    "zeros": (bytes(1000), ""),
    "noise": (bytes(range(7, 256)) * 5, ""),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_not_a_tfrecord_file(shard, name):
    data, hint = FOREIGN[name]
    paths, path = shard(data)
    fails(paths, hr.DataLossError, GOOD, pattern=hint, path=path, record=0, offset=0)


# Damage. The shard holds the records 5 … 14; number 4 of it, of id 9, is hit.

AT = 4 * SIZE
DAMAGE = {
    "cut in the header": lambda d: d[: AT + 7],
    "cut behind the header": lambda d: d[: AT + HEADER],
    "cut in the payload": lambda d: d[: AT + HEADER + 9],
    "cut before the footer": lambda d: d[: AT + SIZE - 4],
    "cut in the footer": lambda d: d[: AT + SIZE - 1],
    "bit of the length": lambda d: flip(d, AT),
    "high bit of the length": lambda d: flip(d, AT + 7, 0x80),
    "bit of the length's checksum": lambda d: flip(d, AT + 9),
    "bit of the data": lambda d: flip(d, AT + HEADER + 11),
    "bit of the data's checksum": lambda d: flip(d, AT + SIZE - 2),
    "length 2^63": lambda d: d[:AT] + frame(2**63) + d[AT + HEADER :],
    "length 2^64 - 1": lambda d: d[:AT] + frame(2**64 - 1) + d[AT + HEADER :],
    "length 2^62 - 1": lambda d: d[:AT] + frame(2**62 - 1) + d[AT + HEADER :],
    "length 2^31": lambda d: d[:AT] + frame(2**31) + d[AT + HEADER :],
    "length just over the rest": lambda d: d[:AT] + frame(len(d) - AT - HEADER - 3) + d[AT + HEADER :],
}


def flip(data, place, bit=4):
    return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


@pytest.mark.parametrize("name", DAMAGE)
def test_damage(shard, name):
    paths, path = shard(DAMAGE[name](TEN))
    fails(paths, hr.DataLossError, range(9), pattern="record at", path=path, record=4, offset=AT)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_inside_gzip(shard, name):
    """A compressed shard of damaged records: the same place, counted in the uncompressed stream."""
    paths, path = shard(gzip.compress(DAMAGE[name](TEN)), "bad.gz")
    kind = hr.BudgetError if name == "length 2^62 - 1" else hr.DataLossError
    fails(paths, kind, range(9), path=path, record=4, offset=AT)


@pytest.mark.parametrize("name", ["bit of the data", "cut in the footer"])
def test_damage_stands_at_its_place_among_interleaved_shards(shard, name):
    paths, path = shard(DAMAGE[name](TEN))
    records = hr.TFRecordDataset(paths).interleave(cycle_length=2).batch(3).parse(ID)
    found = []
    with pytest.raises(hr.DataLossError) as caught:
        for batch in records:
            found += batch["id"].numpy().tolist()
    assert found == [0, 5, 1, 6, 2, 7, 3, 8, 4] and (caught.value.path, caught.value.record) == (path, 4)


def test_what_a_dropped_remainder_withholds_is_counted(shard):
    paths, path = shard(DAMAGE["bit of the data"](TEN))
    pipeline = iter(hr.TFRecordDataset(paths).batch(4, drop_remainder=True).parse(ID))
    assert [next(pipeline)["id"].numpy().tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with pytest.raises(hr.DataLossError, match=r"\b1 (good|record)") as caught:
        next(pipeline)
    assert (caught.value.path, caught.value.record, caught.value.offset) == (path, 4, AT)


def test_the_shuffle_buffer_drains_before_the_failure(shard):
    paths, path = shard(DAMAGE["bit of the data"](TEN))
    found = []
    with pytest.raises(hr.DataLossError) as caught:
        for batch in hr.TFRecordDataset(paths).repeat().shuffle(6, seed=1).batch(2).parse(ID):
            found += batch["id"].numpy().tolist()
    assert sorted(found) == list(range(9)) and caught.value.path == path


# Compression.


def test_gzip_that_is_cut(shard):
    whole = gzip.compress(b"".join(framed(os.urandom(3000)) for _ in range(50)))
    for end in (5, 12, len(whole) // 2, len(whole) - 20):
        paths, path = shard(whole[:end], "bad.gz")
        records = iter(hr.TFRecordDataset(paths))
        assert [next(records) for _ in GOOD] == [number_record(i) for i in GOOD]
        with pytest.raises(hr.DataLossError, match="(?i)gzip|cut|end|truncated") as caught:
            found = list(records)
            raise AssertionError(f"{len(found)} records of a file cut at {end}, and no error")
        assert caught.value.path == path and caught.value.record is not None and caught.value.offset is not None


@pytest.mark.parametrize("missing", [1, 4, 8])
def test_gzip_cut_in_its_trailer(shard, missing):
    paths, path = shard(gzip.compress(TEN)[:-missing], "bad.gz")
    fails(paths, hr.DataLossError, range(15), path=path, record=10, offset=len(TEN))


def test_gzip_followed_by_garbage(shard):
    for garbage in (b"garbage", b"\x1f\x8bnot a member at all", b"\0\0\0garbage"):
        paths, path = shard(gzip.compress(TEN) + garbage, "bad.gz")
        fails(paths, hr.DataLossError, range(15), path=path, record=10, offset=len(TEN))


def test_gzip_with_a_changed_checksum(shard):
    for place in (-3, -7):
        paths, path = shard(flip(gzip.compress(TEN), place), "bad.gz")
        fails(paths, hr.DataLossError, range(15), path=path, record=10, offset=len(TEN))


def test_empty_gzip_members_hold_nothing(shard):
    empty = gzip.compress(b"")
    half = 3 * SIZE + 20  # members may end anywhere
    for data in (
        empty + gzip.compress(TEN),
        gzip.compress(TEN) + empty,
        gzip.compress(TEN[:half]) + empty + empty + gzip.compress(TEN[half:]) + bytes(512),
    ):
        paths, _ = shard(data, "bad.gz")
        (batch,) = hr.TFRecordDataset(paths).batch(100).parse(ID)
        assert batch["id"].numpy().tolist() == list(range(15))


def test_a_gzip_shard_of_nothing_is_a_warning(shard):
    paths, empty = shard(gzip.compress(b""), "empty.gz")
    with iter(hr.TFRecordDataset(paths).batch(100).parse(ID)) as pipeline:
        assert [batch.global_rows for batch in pipeline] == [5]
        assert [text for text in pipeline.report().warnings if empty in text]


COMPRESSED = {"none": TEN, "gzip": gzip.compress(TEN), "zlib": zlib.compress(TEN)}


@pytest.mark.parametrize("found", COMPRESSED)
@pytest.mark.parametrize("named", COMPRESSED)
def test_compression_named_wrongly(tmp_path, named, found):
    path = tmp_path / "shard"
    path.write_bytes(COMPRESSED[found])
    if named == found:
        assert len(list(hr.TFRecordDataset(path, compression=named))) == 10
        return
    word = {"none": "uncompressed", "gzip": "gzip", "zlib": "zlib"}[found]
    fails([path], hr.DataLossError, [], None, f"(?i){word}", {"compression": named}, path=str(path), record=0, offset=0)


# Records that do not fit. Number 4 of the second shard, of id 9, is the one that does not.

FLOATS = field(2, b"".join(b"\x0d" + np.float32(i).tobytes() for i in range(1000)))
INTS = field(3, b"".join(b"\x08" + varint(i) for i in range(1000)))
TENSOR = hr.make_tensor(np.arange(6, dtype=np.float32).reshape(2, 3))

MISMATCHES = {
    "missing": (hr.FixedLenFeature([], hr.float32), hr.make_example({"id": 9}), "required but could not be found"),
    "wrong kind": (hr.FixedLenFeature([], hr.float32), hr.make_example({"id": 9, "k": 1}), "int64.*float"),
    "wrong kind, bytes": (hr.FixedLenFeature([], hr.string), hr.make_example({"id": 9, "k": 1}), "int64"),
    "wrong kind, varlen": (hr.VarLenFeature(hr.int64), hr.make_example({"id": 9, "k": [1.5]}), "float"),
    "too many": (hr.FixedLenFeature([2], hr.float32), hr.make_example({"id": 9, "k": [1.0, 2.0, 3.0]}), "3"),
    "too few": (hr.FixedLenFeature([2], hr.float32), hr.make_example({"id": 9, "k": [1.0]}), "1"),
    "none": (hr.FixedLenFeature([2], hr.float32), hr.make_example({"id": 9, "k": np.zeros(0, np.float32)}), "0"),
    "1,000 unpacked floats": (hr.FixedLenFeature([2], hr.float32), example(id=9, k=FLOATS), "1000"),
    "1,000 unpacked integers": (hr.FixedLenFeature([2], hr.int64), example(id=9, k=INTS), "1000"),
    "1,000 unpacked for one": (hr.FixedLenFeature([], hr.int64, 7), example(id=9, k=INTS), "1000"),
    "not a multiple": (
        hr.FixedLenSequenceFeature([3], hr.int64, allow_missing=True),
        example(id=9, k=INTS),
        "(?i)multiple",
    ),
    "list cut in a varint": (
        hr.VarLenFeature(hr.int64),
        example(id=9, k=field(3, field(1, b"\x01\xff"))),
        "(?i)parse|malformed",
    ),
    "floats of 7 bytes": (
        hr.VarLenFeature(hr.float32),
        example(id=9, k=field(2, field(1, b"1234567"))),
        "(?i)parse|malformed",
    ),
    "no TensorProto": (
        hr.TensorFeature([2, 3], hr.float32),
        hr.make_example({"id": 9, "k": b"\xff\xff\xff\xff"}),
        "TensorProto",
    ),
    "TensorProto cut": (
        hr.TensorFeature([2, 3], hr.float32),
        hr.make_example({"id": 9, "k": TENSOR[:-3]}),
        "TensorProto",
    ),
    "TensorProto of 0 bytes": (hr.TensorFeature([2, 3], hr.float32), hr.make_example({"id": 9, "k": b""}), ""),
    "TensorProto of another dtype": (
        hr.TensorFeature([2, 3], hr.float64),
        hr.make_example({"id": 9, "k": TENSOR}),
        "float",
    ),
    "TensorProto of another shape": (
        hr.TensorFeature([3, 2], hr.float32),
        hr.make_example({"id": 9, "k": TENSOR}),
        "2.*3",
    ),
    "TensorProto of another rank": (hr.TensorFeature([6], hr.float32), hr.make_example({"id": 9, "k": TENSOR}), "2.*3"),
    "two TensorProtos": (hr.TensorFeature([2, 3], hr.float32), hr.make_example({"id": 9, "k": [TENSOR, TENSOR]}), "2"),
    "raw bytes of another size": (hr.RawFeature([2], hr.int32), hr.make_example({"id": 9, "k": b"1234567"}), "7"),
}

FITS = {
    hr.string: lambda spec: b"text",
    hr.int64: lambda spec: np.arange(int(np.prod(spec.shape)) if hasattr(spec, "shape") else 3),
    hr.float32: lambda spec: np.zeros(int(np.prod(spec.shape)) if hasattr(spec, "shape") else 3, np.float32),
}


def fitting(spec):
    """A value that fits the spec."""
    if isinstance(spec, hr.TensorFeature):
        return hr.make_tensor(np.zeros(spec.shape, str(spec.dtype)))
    if isinstance(spec, hr.RawFeature):
        return np.zeros(spec.shape, str(spec.dtype)).tobytes()
    return FITS[spec.dtype](spec)


@pytest.mark.parametrize("name", MISMATCHES)
def test_a_record_that_does_not_fit(tmp_path, name):
    spec, bad, pattern = MISMATCHES[name]
    good = [hr.make_example({"id": i, "k": fitting(spec)}) for i in range(15)]
    records = [*good[:9], bad, *good[10:]]
    paths = [write_shard(tmp_path / "a", records[:5]), write_shard(tmp_path / "b", records[5:])]
    offset = sum(len(framed(record)) for record in records[5:9])
    fails(paths, hr.SchemaError, range(9), {"k": spec}, pattern, path=paths[1], record=4, offset=offset, key="k")
    with pytest.raises(hr.SchemaError) as caught:
        hr.parse_example(records, {"k": spec})
    assert isinstance(caught.value, ValueError) and (caught.value.key, caught.value.row) == ("k", 9)


MALFORMED = {
    "text": b'{"id": 9}' * 100,
    "cut": number_record(9)[:-1],
    "field 0": b"\x02\x00",
    "length over the end": b"\x0a\xff\xff\xff\xff\x0f",
    "varint of 11 bytes": b"\x0a" + b"\xff" * 10 + b"\x01",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_example(tmp_path, name):
    path = write_shard(tmp_path / "a", [*(number_record(i) for i in range(9)), MALFORMED[name], number_record(10)])
    fails([path], hr.SchemaError, range(9), path=path, record=9, offset=9 * SIZE)


def test_the_lowest_row_then_the_first_key_of_the_spec_is_told(tmp_path):
    records = [number_record(0), hr.make_example({"x": [1.0]}), hr.make_example({"z": 1}), number_record(3)]
    path = write_shard(tmp_path / "a", records)
    for spec, key in ((NUMBERS, "id"), (dict(reversed(NUMBERS.items())), "x")):
        for threads in (1, 4):
            pipeline = iter(hr.TFRecordDataset(path, num_threads=threads).batch(4).parse(spec))
            assert next(pipeline)["id"].numpy().tolist() == [0]
            with pytest.raises(hr.SchemaError) as caught:
                next(pipeline)
            assert (caught.value.record, caught.value.row, caught.value.key) == (1, 1, key)


def test_a_key_that_no_record_has(numbers):
    fails(
        numbers,
        hr.SchemaError,
        [],
        {"imgae": hr.FixedLenFeature([], hr.string)},
        "required but could not be found",
        path=numbers[0],
        record=0,
        offset=0,
        key="imgae",
        row=0,
    )
    (batch,) = hr.TFRecordDataset(numbers).batch(100).parse({"imgae": hr.FixedLenFeature([], hr.int64, 3)})
    assert batch["imgae"].numpy().tolist() == [3] * 100


# Arguments: a ValueError at the call, naming parameter and value.


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_of_0(size):
    with pytest.raises(ValueError, match=f"batch.*={size}") as caught:
        hr.TFRecordDataset("no file").batch(size)
    assert isinstance(caught.value, hr.Error)


@pytest.mark.parametrize("size", [0, -1])
def test_a_shuffle_of_0(size):
    with pytest.raises(ValueError, match=f"buffer_size={size}") as caught:
        hr.TFRecordDataset("no file").shuffle(size)
    assert isinstance(caught.value, hr.Error)


@pytest.mark.parametrize("spec", [None, 5, "int64", object(), np.int64])
def test_an_unknown_kind_of_feature(spec):
    with pytest.raises(ValueError, match="'k'") as caught:
        hr.TFRecordDataset("no file").batch(2).parse({"id": ID["id"], "k": spec})
    assert isinstance(caught.value, hr.Error) and caught.value.key == "k"


def test_a_global_batch_that_does_not_divide():
    dataset = hr.TFRecordDataset("no file").batch(10).parse(ID)
    with pytest.raises(ValueError, match=r"\b10\b.*\b4\b") as caught:
        dataset.prefetch_to_device([f"/CPU:{i}" for i in range(4)])
    assert isinstance(caught.value, hr.Error)
    assert re.search(r"\b8\b", str(caught.value)) and re.search(r"\b12\b", str(caught.value))
