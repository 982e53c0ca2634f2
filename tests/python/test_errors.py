"""Exceptions: the table of outcomes, their attributes, and what a stream with damage gives before it ends."""

import json
import os
import pickle

import headrace as hr
import numpy as np
import pytest
from headrace import errors

from number_shards import NUMBERS, ids, number_record, write_numbers, write_shard


@pytest.mark.parametrize(
    "code, kinds",
    [
        ("invalid_argument", (ValueError,)),
        ("not_found", (FileNotFoundError, OSError)),
        ("permission_denied", (PermissionError, OSError)),
        ("io", (OSError,)),
        ("data_loss", (hr.DataLossError,)),
        ("schema_mismatch", (hr.SchemaError, ValueError)),
        ("cancelled", (hr.ClosedError, RuntimeError)),
        ("resource_exhausted", (hr.BudgetError, MemoryError)),
        ("device", (hr.DeviceError,)),
    ],
)
def test_every_outcome_has_its_exception(code, kinds):
    error = errors.from_status(code, "text [where]", "text", "/nowhere", 3, 40, "k", 7, "int64", "float")
    assert isinstance(error, (hr.Error,)) and all(isinstance(error, kind) for kind in kinds)
    parts = (error.message, error.path, error.record, error.offset, error.key, error.row, error.expected, error.found)
    assert str(error) == "text [where]" and parts == ("text", "/nowhere", 3, 40, "k", 7, "int64", "float")
    if isinstance(error, OSError):
        assert error.filename == "/nowhere" and (error.errno is not None) and error.strerror == "text"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.record == 3


def test_a_directory_is_a_directory_error(tmp_path):
    error = errors.from_status("io", "t", "t", str(tmp_path), None, None, None, None, None, None)
    assert isinstance(error, IsADirectoryError)


def test_all_missing_files_are_named_at_once(numbers, tmp_path):
    dataset = hr.TFRecordDataset([numbers[0], tmp_path / "no-1", numbers[1], tmp_path / "no-2"]).batch(1)
    for read in (dataset.check, lambda: next(iter(dataset))):
        with pytest.raises(FileNotFoundError) as caught:
            read()
        assert "no-1" in str(caught.value) and "no-2" in str(caught.value) and "part-00" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "empty").mkdir()
    for files, kind in [
        (tmp_path / "*.tfrecord", FileNotFoundError),
        (tmp_path / "nothing", FileNotFoundError),
        (tmp_path / "empty", OSError),
        ([tmp_path / "empty"], IsADirectoryError),
    ]:
        with pytest.raises(kind) as caught:
            next(iter(hr.TFRecordDataset(files)))
        assert isinstance(caught.value, hr.Error) and str(tmp_path) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(numbers):
    os.chmod(numbers[1], 0)
    with pytest.raises(PermissionError) as caught:
        next(iter(hr.TFRecordDataset(numbers)))
    assert numbers[1] in str(caught.value)


def test_an_empty_shard_is_a_warning(numbers, tmp_path):
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    with iter(hr.TFRecordDataset([*numbers, tmp_path / "empty.tfrecord"])) as records:
        assert len(list(records)) == 100
        assert any("empty.tfrecord" in text for text in records.report().warnings)


def test_no_record_at_all_and_repeat_is_an_error(tmp_path):
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    assert list(hr.TFRecordDataset(tmp_path / "empty.tfrecord")) == []
    with pytest.raises(hr.Error):
        next(iter(hr.TFRecordDataset(tmp_path / "empty.tfrecord").repeat()))


HEADER = 12
RECORD = len(number_record(0)) + HEADER + 4


def flip(data, position):
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


# Damage to the second of three records: (name, what becomes of the file, record that is named).
DAMAGE = [
    ("length bit", lambda d: flip(d, RECORD), 1),
    ("length crc", lambda d: flip(d, RECORD + 8), 1),
    ("data bit", lambda d: flip(d, RECORD + HEADER + 5), 1),
    ("data crc", lambda d: flip(d, 2 * RECORD - 1), 1),
    ("cut header", lambda d: d[: RECORD + 5], 1),
    ("cut payload", lambda d: d[: RECORD + HEADER + 5], 1),
    ("cut footer", lambda d: d[: 2 * RECORD - 2], 1),
    ("stray bytes", lambda d: d + b"\0" * 20, 3),
]


@pytest.mark.parametrize("name, damage, record", DAMAGE, ids=[row[0] for row in DAMAGE])
def test_damage_is_told_with_its_place(tmp_path, name, damage, record):
    path = write_numbers(tmp_path, shards=1, per_shard=3)[0]
    data = open(path, "rb").read()
    assert len(data) == 3 * RECORD
    with open(path, "wb") as file:
        file.write(damage(data))
    pipeline = iter(hr.TFRecordDataset(path).batch(10).parse(NUMBERS))
    assert next(pipeline)["id"].numpy().tolist() == list(range(record))
    texts = set()
    for _ in range(2):
        with pytest.raises(hr.DataLossError) as caught:
            next(pipeline)
        error = caught.value
        texts.add(str(error))
        assert (error.path, error.record, error.offset) == (path, record, record * RECORD)
    assert len(texts) == 1


@pytest.mark.parametrize("name, damage, record", DAMAGE[:4], ids=[row[0] for row in DAMAGE[:4]])
def test_skipping_damage_counts_it(tmp_path, name, damage, record):
    path = write_numbers(tmp_path, shards=1, per_shard=3)[0]
    data = open(path, "rb").read()
    with open(path, "wb") as file:
        file.write(damage(data))
    with iter(hr.TFRecordDataset(path, on_corrupt="skip").batch(10).parse(NUMBERS)) as pipeline:
        assert ids(pipeline) == [0, 2]
        report = pipeline.report()
    (region,) = report.skipped_regions
    assert (report.skipped, report.skipped_misfits) == (1, 0)
    assert (region.path, region.record, region.begin, region.end) == (path, record, RECORD, 2 * RECORD)
    assert region.cause == "data_loss" and path in str(region)


def test_skipping_records_that_do_not_fit(tmp_path):
    path = str(tmp_path / "mixed")
    rows = [hr.make_example({"id": i} if i % 5 != 2 else {"id": float(i)}) for i in range(40)]
    with hr.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(row)
    spec = {"id": hr.FixedLenFeature([], hr.int64)}
    fitting = [i for i in range(40) if i % 5 != 2]
    dataset = hr.TFRecordDataset(path, on_mismatch="skip").repeat(2).batch(6).parse(spec)
    batches = iter(dataset)
    got = [batch["id"].numpy().tolist() for batch in batches]
    assert sum(got, []) == 2 * fitting and {len(batch) for batch in got[:-1]} == {6}
    report = batches.report()
    assert report.skipped == report.skipped_misfits == 8
    (region, *_) = report.skipped_regions
    begin = sum(len(row) + 16 for row in rows[:2])
    assert json.loads(region.to_json()) == {
        "path": path,
        "record": 2,
        "from": begin,
        "to": begin + len(rows[2]) + 16,
        "records": 1,
        "cause": "schema_mismatch",
        "reason": region.reason,
        "key": "id",
    }
    first = iter(dataset)
    next(first)
    rest = iter(dataset)
    rest.load_state_dict(first.state_dict())
    assert [batch["id"].numpy().tolist() for batch in rest] == got[1:]


def test_max_skipped_is_a_limit(tmp_path):
    path = write_numbers(tmp_path, shards=1, per_shard=9)[0]
    data = open(path, "rb").read()
    for record in range(0, 9, 2):
        data = flip(data, record * RECORD + HEADER + 3)
    with open(path, "wb") as file:
        file.write(data)
    assert ids(hr.TFRecordDataset(path, on_corrupt="skip", max_skipped=5).batch(9).parse(NUMBERS)) == [1, 3, 5, 7]
    with pytest.raises(hr.DataLossError):
        list(hr.TFRecordDataset(path, on_corrupt="skip", max_skipped=4).batch(9).parse(NUMBERS))


def test_checks_can_be_left_out(tmp_path):
    path = write_shard(tmp_path / "a", [b"abc"])
    data = open(path, "rb").read()
    with open(path, "wb") as file:
        file.write(flip(data, len(data) - 1))
    assert list(hr.TFRecordDataset(path, verify="header")) == list(hr.TFRecordDataset(path, verify="off")) == [b"abc"]


@pytest.mark.parametrize(
    "content, hint",
    [
        (b"this is a text file with several words in it\n" * 9, "text"),
        (b"PK\x03\x04" + bytes(100), "zip"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-lfs"),
        (b"(\xb5/\xfd" + bytes(100), "zstd"),
    ],
)
def test_what_is_no_tfrecord_is_guessed(tmp_path, content, hint):
    (tmp_path / "a.tfrecord").write_bytes(content)
    with pytest.raises(hr.DataLossError, match=hint):
        list(hr.TFRecordDataset(tmp_path / "a.tfrecord"))


@pytest.mark.parametrize("length", [2**40, 2**63, 2**64 - 1])
def test_an_impossible_length_allocates_nothing(tmp_path, length):
    """The header's own checksum is right: only the size of the file tells."""
    header = length.to_bytes(8, "little")
    (tmp_path / "a").write_bytes(header + masked_crc32c(header) + bytes(50))
    with pytest.raises(hr.DataLossError) as caught:
        list(hr.TFRecordDataset(tmp_path / "a"))
    assert caught.value.record == 0


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


def test_gzip_damage(tmp_path):
    path = write_numbers(tmp_path, shards=1, per_shard=50, compression="gzip")[0]
    data = open(path, "rb").read()
    for damaged in (data[: len(data) // 2], data[:-4], data + b"garbage behind the end"):
        with open(path, "wb") as file:
            file.write(damaged)
        pipeline = iter(hr.TFRecordDataset(path).batch(1).parse(NUMBERS))
        with pytest.raises(hr.DataLossError) as caught:
            list(pipeline)
        assert caught.value.path == path


def test_a_wrongly_named_compression_says_what_was_found(tmp_path):
    plain = write_shard(tmp_path / "plain", [b"a" * 50])
    zipped = write_shard(tmp_path / "zipped", [b"a" * 50], compression="gzip")
    for path, claimed, found in [(plain, "gzip", "plain"), (zipped, "none", "gzip"), (zipped, "zlib", "gzip")]:
        with pytest.raises(hr.DataLossError, match=found) as caught:
            list(hr.TFRecordDataset(path, compression=claimed))
        assert caught.value.path == path


def test_a_record_over_the_limit_is_a_budget_error(tmp_path):
    path = write_shard(tmp_path / "a", [b"x", b"x" * 1000])
    records = iter(hr.TFRecordDataset(path, max_record_bytes=999))
    assert next(records) == b"x"
    with pytest.raises(hr.BudgetError) as caught:
        next(records)
    assert isinstance(caught.value, MemoryError) and caught.value.record == 1


MISMATCHES = [
    ({}, hr.FixedLenFeature([], hr.int64), "required but could not be found"),
    ({"k": 1.5}, hr.FixedLenFeature([], hr.int64), "Data types don't match"),
    ({"k": [1, 2]}, hr.FixedLenFeature([], hr.int64), "Number of int64 values != expected"),
    ({"k": [1.0] * 1000}, hr.FixedLenFeature([2], hr.float32), "Number of float values != expected"),
    ({"k": b"junk"}, hr.TensorFeature([2], hr.float32), "TensorProto"),
    ({"k": b"abc"}, hr.RawFeature([2], hr.int16), "3"),
    ({"k": [1, 2, 3]}, hr.FixedLenSequenceFeature([2], hr.int64, allow_missing=True), "multiple"),
]


@pytest.mark.parametrize("record, spec, text", MISMATCHES, ids=[row[2] for row in MISMATCHES])
def test_a_mismatch_names_its_place(tmp_path, record, spec, text):
    records = [hr.make_example({"z": i}) for i in range(2)] + [hr.make_example(record)]
    path = write_shard(tmp_path / "a", records)
    dataset = hr.TFRecordDataset(path).skip(2).batch(2).parse({"k": spec})
    with pytest.raises(hr.SchemaError, match=text) as caught:
        list(dataset)
    error = caught.value
    assert (error.path, error.record, error.key, error.row) == (path, 2, "k", 0)
    assert error.offset is not None and "junk" not in str(error) and len(str(error)) < 2048


def test_a_tensor_of_another_type_or_shape_is_a_mismatch():
    record = hr.make_example({"t": hr.make_tensor(np.zeros((2, 3), np.float32))})
    for shape, dtype in (([2, 3], hr.float64), ([3, 2], hr.float32), ([7], hr.float32)):
        spec = hr.TensorFeature(shape, dtype)
        with pytest.raises(hr.SchemaError) as caught:
            hr.parse_example([record], {"t": spec})
        assert caught.value.key == "t"


def test_rows_before_a_mismatch_are_delivered(tmp_path):
    records = [number_record(i) for i in range(5)] + [hr.make_example({"id": 5})] + [number_record(6)]
    path = write_shard(tmp_path / "a", records)
    pipeline = iter(hr.TFRecordDataset(path).batch(4).parse(NUMBERS))
    assert [next(pipeline)["id"].numpy().tolist() for _ in range(2)] == [[0, 1, 2, 3], [4]]
    with pytest.raises(hr.SchemaError) as caught:
        next(pipeline)
    assert caught.value.record == 5 and caught.value.key == "x"


def test_a_malformed_example_is_a_mismatch(tmp_path):
    path = write_shard(tmp_path / "a", [b"\xff\xff\xff this is no Example \xff"])
    with pytest.raises(hr.SchemaError) as caught:
        list(hr.TFRecordDataset(path).batch(1).parse(NUMBERS))
    assert caught.value.record == 0 and "this is no" not in str(caught.value)
