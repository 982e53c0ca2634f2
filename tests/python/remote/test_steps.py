"""Steps of a data set over shards behind URLs: whole files, several data sets, and what asks for indexes."""

import headrace as hr
import pytest
from number_shards import NUMBERS, ids


def urls(web, shards):
    return [f"{web}/{path.name}" for path in sorted(shards.iterdir())]


def rows(dataset):
    with iter(dataset.batch(10).parse(NUMBERS)) as batches:
        return ids(batches)


def test_whole_files(web, shards):
    (shards / "empty").touch()
    names = urls(web, shards)
    files = hr.FileDataset(names)
    assert len(files) == 5
    assert list(files) == [path.read_bytes() for path in sorted(shards.iterdir())]
    features = {"path": hr.FixedLenFeature([], hr.string), "bytes": hr.FixedLenFeature([], hr.string)}
    [batch] = hr.FileDataset(names).batch(5).parse(features)
    assert list(batch["path"].numpy()) == [name.encode() for name in names]
    assert list(batch["bytes"].numpy()) == [path.read_bytes() for path in sorted(shards.iterdir())]


def test_whole_files_go_on_from_a_position(web, shards):
    features = {"bytes": hr.FixedLenFeature([], hr.string)}
    dataset = hr.FileDataset(urls(web, shards)).shuffle(3, seed=1).batch(1).parse(features)
    with iter(dataset) as batches:
        next(batches)
        state = batches.state_dict()
        rest = [batch["bytes"].numpy()[0] for batch in batches]
    assert len(rest) == 3
    with iter(dataset) as batches:
        batches.load_state_dict(state)
        assert [batch["bytes"].numpy()[0] for batch in batches] == rest


def test_whole_files_of_python(shards):
    paths = sorted(str(path) for path in shards.iterdir())
    files = hr.FileDataset([f"mine:{path}" for path in paths], open=lambda name: open(name.removeprefix("mine:"), "rb"))
    assert len(files) == 4
    with iter(files) as records:
        assert sorted(map(len, records)) == sorted(path.stat().st_size for path in shards.iterdir())
        assert records.report().io == "Python IO"


def test_several_data_sets(web, shards):
    near = [str(path) for path in sorted(shards.iterdir())]
    far = urls(web, shards)
    combined = hr.TFRecordDataset(near[:2]).concatenate(hr.TFRecordDataset(far[2:]))
    assert rows(combined) == rows(hr.TFRecordDataset(near))
    sampled = hr.sample_from_datasets([hr.TFRecordDataset(far[:2]), hr.TFRecordDataset(far[2:])], seed=1)
    assert sorted(rows(sampled)) == list(range(100))


def test_missing_files_of_several_data_sets_are_named_at_once(web, tmp_path):
    here = hr.TFRecordDataset(str(tmp_path / "no1"))
    with pytest.raises(FileNotFoundError) as caught:
        here.concatenate(hr.TFRecordDataset(f"{web}/no2")).check()
    assert str(tmp_path / "no1") in str(caught.value) and f"{web}/no2" in str(caught.value)


def test_indexes_are_those_of_local_files(web, shards):
    names = urls(web, shards)
    dataset = hr.TFRecordDataset(names)
    assert dataset.cardinality() == -2
    needing = {
        'shuffle("global")': lambda: list(dataset.shuffle("global", seed=1)),
        'shard(by="range")': lambda: list(dataset.shard(2, 0, by="range")),
        "shard(drop_remainder=True)": lambda: list(dataset.shard(2, 0, by="file", drop_remainder=True)),
        "cardinality(scan=True)": lambda: dataset.cardinality(scan=True),
    }
    for what, read in needing.items():
        with pytest.raises(ValueError, match="only local files have one") as caught:
            read()
        assert what in str(caught.value) and names[0] in str(caught.value)
    near = hr.TFRecordDataset([str(path) for path in sorted(shards.iterdir())])
    assert rows(dataset.shard(2, 1, by="file")) == rows(near.shard(2, 1, by="file"))


def test_files_of_python_have_no_indexes(shards):
    paths = [str(path) for path in sorted(shards.iterdir())]
    dataset = hr.TFRecordDataset(paths, open=lambda name: open(name, "rb"))
    assert dataset.cardinality() == -2
    with pytest.raises(ValueError, match="only local files have one"):
        list(dataset.shuffle("global", seed=1))


@pytest.mark.parametrize("compression", ["gzip", "zstd", "snappy"])
def test_a_damaged_member_is_skipped(web, shards, compression):
    """As of a local file: what is behind the damage is found again."""
    data = b""
    for name in ("a", "b", "c"):
        with hr.TFRecordWriter(shards / name, compression=compression) as writer:
            for i in range(200):
                writer.write(f"{name}{i}".encode() * 50)
        data += (shards / name).read_bytes()
        if name == "a":
            damaged = len(data)
    data = bytearray(data)
    data[damaged + (len(data) - damaged) // 4] ^= 0x10
    (shards / "damaged").write_bytes(data)
    options = {"compression": compression, "on_corrupt": "skip"}
    near = list(hr.TFRecordDataset(str(shards / "damaged"), **options))
    assert list(hr.TFRecordDataset(f"{web}/damaged", **options)) == near
    assert b"a199" * 50 in near and b"c199" * 50 in near and len(near) < 600
