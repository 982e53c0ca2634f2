"""FileDataset: each file is a record."""

import os

import headrace as hr
import numpy as np
import pytest

from image_bytes import png_file

AS_BYTES = {"path": hr.FixedLenFeature([], hr.string), "bytes": hr.FixedLenFeature([], hr.string)}


@pytest.fixture
def files(tmp_path):
    """(folder, {path: bytes}) of files of 0 bytes to 3 MB, in byte order; some look like other things."""
    contents = {
        "0-empty": b"",
        "1-text.txt": b"text\n",
        "2-gzip.gz": b"\x1f\x8b\x08\x00 no stream",
        "3-large.bin": np.random.default_rng(1).bytes(3_000_000),
        "4-\xff.bin": b"\0" * 1000,
    }
    paths = {}
    for name, data in contents.items():
        path = os.path.join(os.fsencode(tmp_path), name.encode("latin-1"))
        with open(path, "wb") as file:
            file.write(data)
        paths[path] = data
    return tmp_path, paths


def test_each_file_is_a_record(files):
    folder, paths = files
    for given in (folder, str(folder / "*"), list(paths)):
        dataset = hr.FileDataset(given)
        assert list(dataset) == list(paths.values())
        assert len(dataset) == 5
        (batch,) = dataset.batch(10)
        assert batch.numpy().tolist() == list(paths.values())
    assert len(hr.FileDataset(folder)) == 5, "before anything is read"
    assert len(hr.FileDataset(folder).repeat(3).batch(4)) == 4


def test_parse_sees_path_and_bytes(files):
    folder, paths = files
    for size in (1, 2, 10):
        batches = list(hr.FileDataset(folder).batch(size).parse(AS_BYTES))
        assert [row for batch in batches for row in batch["bytes"].numpy().tolist()] == list(paths.values())
        assert [row for batch in batches for row in batch["path"].numpy().tolist()] == list(paths)
    others = hr.FileDataset(folder).filter(hr.feature("path") != os.fspath(folder / "1-text.txt"))
    assert len(next(iter(others.batch(10).parse(AS_BYTES)))["bytes"]) == 4


def test_images_straight_from_files(tmp_path):
    pixels = np.random.default_rng(2).integers(0, 256, (12, 9, 7, 3), dtype=np.uint8)
    for number, image in enumerate(pixels):
        (tmp_path / f"{number:02d}.png").write_bytes(png_file(image))
    features = {"image": hr.ImageFeature(9, 7, key="bytes"), "path": hr.FixedLenFeature([], hr.string)}
    (batch,) = hr.FileDataset(tmp_path).batch(12).parse(features)
    assert (batch["image"].numpy() == pixels).all()
    (tmp_path / "05.png").write_bytes(b"no image")
    with pytest.raises(hr.SchemaError) as caught:
        list(hr.FileDataset(tmp_path).batch(12).parse(features))
    assert caught.value.path == str(tmp_path / "05.png") and caught.value.record == 0
    kept = list(hr.FileDataset(tmp_path, on_mismatch="skip").batch(12).parse(features))
    assert kept[0]["image"].shape[0] == 11


def test_order_shuffle_and_resume(tmp_path):
    for number in range(60):
        (tmp_path / f"{number:02d}").write_bytes(b"%d" % number * 50)
    order = [b"%d" % number * 50 for number in range(60)]
    interleaved = hr.FileDataset(tmp_path).interleave(cycle_length=4)
    assert list(interleaved) == order, "a file has one record, so a cycle takes them in turn"
    shuffled = hr.FileDataset(tmp_path).repeat(2).shuffle(17, seed=3).batch(7).parse(AS_BYTES)
    whole = [batch["bytes"].numpy().tolist() for batch in shuffled]
    assert sorted(sum(whole, [])) == sorted(2 * order) and sum(whole, [])[:60] != order
    for taken in (1, 8, 12, 16):
        shuffled.set_epoch(0)
        batches = iter(shuffled)
        for _ in range(taken):
            next(batches)
        state = batches.state_dict()
        resumed = iter(shuffled)
        resumed.load_state_dict(state)
        assert [batch["bytes"].numpy().tolist() for batch in resumed] == whole[taken:]


def test_a_limit_and_its_error(files):
    folder, paths = files
    records = iter(hr.FileDataset(folder, max_record_bytes=1000))
    assert [next(records) for _ in range(3)] == list(paths.values())[:3]
    with pytest.raises(hr.BudgetError, match="a file of 3000000 bytes is over max_record_bytes = 1000") as caught:
        next(records)
    assert caught.value.path == str(folder / "3-large.bin")


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(hr.FileDataset([tmp_path / "missing"]))
    with pytest.raises(FileNotFoundError, match="no file in the folder"):
        list(hr.FileDataset(tmp_path))
    with pytest.raises(ValueError, match="files"):
        hr.FileDataset([]).check()
    with pytest.raises(ValueError, match="max_record_bytes=0"):
        hr.FileDataset(tmp_path, max_record_bytes=0)
    for number in range(200):
        (tmp_path / f"{number:03d}").write_bytes(b"%d" % number)
    records = iter(hr.FileDataset(tmp_path, num_threads=1))
    assert next(records) == b"0"
    os.unlink(tmp_path / "150")
    os.truncate(tmp_path / "120", 0)
    with pytest.raises(hr.DataLossError, match="has become shorter") as caught:
        list(records)
    assert caught.value.path == str(tmp_path / "120")


def test_a_state_of_records_does_not_fit(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(b"")
    with hr.TFRecordWriter(tmp_path / "b.tfrecord") as writer:
        writer.write(b"record")
    records = iter(hr.TFRecordDataset(tmp_path))
    next(records)
    files = iter(hr.FileDataset(tmp_path))
    with pytest.raises(ValueError, match="pipeline"):
        files.load_state_dict(records.state_dict())
        next(files)


def test_representation():
    assert repr(hr.FileDataset("photos").batch(3)).startswith("<headrace.Dataset files(")
