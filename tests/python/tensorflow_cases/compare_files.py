"""Files of records as tf.data.TFRecordDataset reads them: file_cases.py, what follows an error, and lists of files."""

import sys
from pathlib import Path

import pytest
import tensorflow as tf

import headrace as hr

sys.path.insert(0, str(Path(__file__).parents[1]))
from file_cases import ALL, CASES, FRAMES, RECORDS, flip

ERRORS = (tf.errors.DataLossError, tf.errors.InvalidArgumentError)


def pulls(dataset, limit=50):
    """What one pull after the other gives, up to the end: records, and errors as they are raised."""
    found = []
    records = iter(dataset)
    while len(found) < limit:
        try:
            found.append(next(records).numpy())
        except StopIteration:
            break
        except tf.errors.OpError as error:
            found.append(error)
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_files(tmp_path, case):
    path = tmp_path / "shard"
    path.write_bytes(case.data)
    found = pulls(tf.data.TFRecordDataset(str(path), compression_type=case.compression))
    count, text = case.theirs
    assert found[:count] == RECORDS[:count] and len(found) == count + (text is not None)
    if text is not None:
        assert isinstance(found[-1], ERRORS)
        with pytest.raises(ERRORS, match=text):
            raise found[-1]



@pytest.fixture
def two_files(tmp_path):
    """The first is damaged in its third record."""
    (tmp_path / "a").write_bytes(flip(ALL, len(FRAMES[0] + FRAMES[1]) + 14))
    (tmp_path / "b").write_bytes(ALL)
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_behind_an_error_the_next_file_follows(two_files):
    found = pulls(tf.data.TFRecordDataset(two_files))
    (place,) = [place for place, each in enumerate(found) if isinstance(each, tf.errors.DataLossError)]
    assert found[:place] == RECORDS[:place] and found[place + 1 :] == RECORDS
    lost = list(tf.data.TFRecordDataset(two_files).ignore_errors())
    assert [record.numpy() for record in lost] == RECORDS[:place] + RECORDS
    ours = []
    with pytest.raises(hr.DataLossError):
        ours.extend(hr.TFRecordDataset(two_files, compression="none"))
    skipping = list(hr.TFRecordDataset(two_files, compression="none", on_corrupt="skip"))
    assert skipping == RECORDS[:place] + RECORDS[place + 1 :] + RECORDS  # one record is lost, not the file


def test_an_error_inside_a_batch_and_in_every_epoch(two_files):
    (error,) = pulls(tf.data.TFRecordDataset(two_files[:1]).batch(4))
    assert isinstance(error, tf.errors.DataLossError)  # the two good records are lost with the batch
    batches = iter(hr.TFRecordDataset(two_files[:1], compression="none").batch(4))
    assert next(batches).tolist() == RECORDS[:2]
    with pytest.raises(hr.DataLossError):
        next(batches)
    repeated = pulls(tf.data.TFRecordDataset(two_files[:1]).repeat(3))
    errors = [each for each in repeated if isinstance(each, tf.errors.DataLossError)]
    assert len(errors) == 3 and len({error.message for error in errors}) == 1
    one = hr.TFRecordDataset(two_files[:1], compression="none", on_corrupt="skip")
    assert list(one.repeat(2)) == 2 * list(one)


def test_files_that_cannot_be_opened(tmp_path):
    missing, folder = str(tmp_path / "missing"), str(tmp_path)
    found = pulls(tf.data.TFRecordDataset(missing), 3)
    assert [type(each) for each in found] == [tf.errors.NotFoundError] * 3  # for ever
    assert missing in found[0].message and "No such file or directory" in found[0].message
    with pytest.raises(FileNotFoundError, match="No such file|not found|missing"):
        list(hr.TFRecordDataset(missing))
    (tmp_path / "good").write_bytes(ALL)
    found = pulls(tf.data.TFRecordDataset([folder, str(tmp_path / "good")]))
    assert isinstance(found[0], tf.errors.FailedPreconditionError) and "Is a directory" in found[0].message
    assert found[1:] == RECORDS
    with pytest.raises(IsADirectoryError):
        list(hr.TFRecordDataset([folder, str(tmp_path / "good")]))


def test_lists_of_files(tmp_path):
    for name in ("a[1]", "a1", ".hidden", "b", "b.tmp~"):
        (tmp_path / name).write_bytes(ALL)
    path = lambda name: str(tmp_path / name)
    assert pulls(tf.data.TFRecordDataset(path("a[1]"))) == RECORDS == list(hr.TFRecordDataset(path("a[1]")))
    twice = [path("b"), path("b")]
    assert pulls(tf.data.TFRecordDataset(twice)) == 2 * RECORDS == list(hr.TFRecordDataset(twice))
    assert pulls(tf.data.TFRecordDataset(tf.constant([], tf.string))) == []
    with pytest.raises(ValueError):
        list(hr.TFRecordDataset([]))


def test_patterns(tmp_path):
    for name in ("a[1]", "a1", "a2", ".a3"):
        (tmp_path / name).write_bytes(ALL)
    listed = lambda pattern: [Path(name.numpy().decode()).name for name in tf.data.Dataset.list_files(str(tmp_path / pattern), shuffle=False)]
    ours = lambda pattern: len(list(hr.TFRecordDataset(str(tmp_path / pattern)))) // len(RECORDS)
    assert listed("a*") == ["a1", "a2", "a[1]"] and ours("a*") == 3
    assert listed("a?") == ["a1", "a2"] and ours("a?") == 2
    assert listed("a[12]") == ["a1", "a2"] and ours("a[12]") == 2
    assert listed("a[[]1]") == ["a[1]"] and ours("a[[]1]") == 1
    assert listed("*") == [".a3", "a1", "a2", "a[1]"] and ours("*") == 3  # hidden ones are left out
    for pattern in ("c*", "{a1,a2}"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
            listed(pattern)
        with pytest.raises(FileNotFoundError):
            ours(pattern)


def test_names_of_compressions(tmp_path):
    path = str(tmp_path / "a")
    Path(path).write_bytes(ALL)
    for name in ("gzip", "auto", "ZSTD"):
        assert pulls(tf.data.TFRecordDataset(path, compression_type=name)) == RECORDS  # with a line in the log
        with pytest.raises(ValueError):
            tf.io.TFRecordOptions(compression_type=name) and tf.io.TFRecordWriter(path + "x", name)
    with pytest.raises(ValueError, match="compression"):
        hr.TFRecordDataset(path, compression="brotli")


def test_the_order_of_parallel_reads(tmp_path):
    paths = []
    for name in "ab":
        paths.append(str(tmp_path / name))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for number in range(3):
                writer.write(f"{name}{number}")
    wanted = [b"a0", b"b0", b"a1", b"b1", b"a2", b"b2"]
    assert pulls(tf.data.TFRecordDataset(paths, num_parallel_reads=2)) == wanted
    assert list(hr.TFRecordDataset(paths).interleave(cycle_length=2)) == wanted
    assert tf.data.TFRecordDataset(paths).cardinality() == tf.data.UNKNOWN_CARDINALITY
