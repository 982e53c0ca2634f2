"""Single files and single records: writer, reader, Examples."""

import gzip
import os

import headrace as hr
import numpy as np
import pytest

from number_shards import write_shard

RECORDS = [b"", b"a", bytes(range(256)), b"x" * 100_000]


@pytest.mark.parametrize("compression", [None, "none", "gzip", "zlib", "GZIP", "ZLIB", ""])
def test_what_is_written_is_read(tmp_path, compression):
    path = write_shard(tmp_path / "a.tfrecord", RECORDS, compression=compression)
    assert list(hr.open_records(path)) == RECORDS
    assert list(hr.TFRecordDataset(path)) == RECORDS
    with hr.open_records(path, compression=compression) as records:
        assert next(records) == b""


def test_a_file_has_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        writer.write(b"1")
        assert not path.exists()
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    with pytest.raises(KeyError), hr.TFRecordWriter(tmp_path / "b.tfrecord") as writer:
        writer.write(b"1")
        raise KeyError
    writer = hr.TFRecordWriter(tmp_path / "c.tfrecord")
    writer.write(b"1")
    del writer
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_a_closed_writer_refuses(tmp_path):
    writer = hr.TFRecordWriter(tmp_path / "a.tfrecord")
    writer.write(memoryview(b"view"))
    writer.close()
    writer.close()
    with pytest.raises(hr.Error):
        writer.write(b"late")
    assert list(hr.open_records(tmp_path / "a.tfrecord")) == [b"view"]


def test_writer_arguments(tmp_path):
    with pytest.raises(ValueError, match="compression='auto'"):
        hr.TFRecordWriter(tmp_path / "a", compression="auto")
    with pytest.raises(ValueError, match="level"):
        hr.TFRecordWriter(tmp_path / "a", compression="gzip", level=10)
    with pytest.raises(FileNotFoundError) as caught:
        hr.TFRecordWriter(tmp_path / "no" / "a")
    assert isinstance(caught.value, hr.Error)


def test_gzip_members_are_one_stream(tmp_path):
    first = write_shard(tmp_path / "a", RECORDS)
    whole = open(first, "rb").read()
    path = tmp_path / "b"
    path.write_bytes(gzip.compress(whole[:30]) + gzip.compress(b"") + gzip.compress(whole[30:]))
    assert list(hr.open_records(path)) == RECORDS


def test_a_reader_delivers_what_stands_before_the_damage(tmp_path):
    path = write_shard(tmp_path / "a", RECORDS)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 1)
    records = hr.open_records(path)
    assert [next(records) for _ in range(3)] == RECORDS[:3]
    for _ in range(2):
        with pytest.raises(hr.DataLossError) as caught:
            next(records)
        assert (caught.value.path, caught.value.record) == (path, 3)


def test_paths_of_any_bytes(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"sh\xffard [1] \xc3\xa9")
    write_shard(path, RECORDS)
    assert list(hr.TFRecordDataset(path)) == list(hr.TFRecordDataset([os.fsdecode(path)])) == RECORDS
    with pytest.raises(FileNotFoundError) as caught:
        hr.open_records(path + b"\xfe")
    assert os.fsencode(caught.value.path) == path + b"\xfe"


def test_list_file(tmp_path):
    (tmp_path / "list").write_text("a b\n\nc\r\n")
    assert hr.list_file(tmp_path / "list") == ["a b", "c"]


def test_examples_of_every_kind():
    record = hr.make_example(
        {
            "int": 3,
            "ints": np.arange(4, dtype=np.uint8).reshape(2, 2),
            "bools": [True, False],
            "float": 0.5,
            "doubles": np.array([1.0, 2.0]),
            "mixed": [1, 2.5],
            "bytes": b"\xff",
            "str": "é",
            "many": [b"a", "b"],
            "array": np.array(["x", "yy"]),
            "none": np.array([], dtype=np.int64),
        }
    )
    columns = hr.parse_example(
        [record],
        {
            "int": hr.FixedLenFeature([], hr.int64),
            "ints": hr.FixedLenFeature([4], hr.int64),
            "bools": hr.FixedLenFeature([2], hr.int64),
            "float": hr.FixedLenFeature([], hr.float32),
            "doubles": hr.FixedLenFeature([2], hr.float32),
            "mixed": hr.FixedLenFeature([2], hr.float32),
            "bytes": hr.FixedLenFeature([], hr.string),
            "str": hr.FixedLenFeature([], hr.string),
            "many": hr.FixedLenFeature([2], hr.string),
            "array": hr.FixedLenFeature([2], hr.string),
            "none": hr.VarLenFeature(hr.int64),
        },
    )
    assert [column.tolist() if hasattr(column, "tolist") else column.numpy().tolist() for column in columns.values()] == [
        *([3], [[0, 1, 2, 3]], [[1, 0]], [0.5], [[1, 2]], [[1, 2.5]]),
        *([b"\xff"], ["é".encode()], [[b"a", b"b"]], [[b"x", b"yy"]], [[]]),
    ]


@pytest.mark.parametrize("value", [1j, [b"a", 1], np.array([2**63], dtype=np.uint64), None, [], [[1], [2, 3]]], ids=repr)
def test_values_that_are_no_feature(value):
    with pytest.raises(ValueError, match="'k'"):
        hr.make_example({"k": value})


def test_parse_example_takes_what_holds_bytes():
    records = [hr.make_example({"a": i}) for i in range(3)]
    features = {"a": hr.FixedLenFeature([], hr.int64)}
    for serialized in (records, tuple(records), np.array(records, dtype=object), iter(records)):
        assert hr.parse_example(serialized, features)["a"].numpy().tolist() == [0, 1, 2]
    nested = hr.parse_example(
        [hr.make_example({"e": record}) for record in records], {"e": hr.FixedLenFeature([], hr.string)}
    )
    assert hr.parse_example(nested["e"], features, num_threads=2)["a"].numpy().tolist() == [0, 1, 2]
    assert hr.parse_example(records[2], features)["a"].numpy() == 2
    with pytest.raises(ValueError, match=r"serialized\[1\].*int"):
        hr.parse_example([records[0], 3], features)


def test_parse_example_names_row_and_key():
    records = [hr.make_example({"a": 1}), hr.make_example({"a": 1.5})]
    with pytest.raises(hr.SchemaError, match="Data types don't match") as caught:
        hr.parse_example(records, {"a": hr.FixedLenFeature([], hr.int64)})
    assert (caught.value.row, caught.value.key) == (1, "a") and isinstance(caught.value, ValueError)
