"""infer_schema: what it tells of records, and that its specs parse them."""

import json

import headrace as hr
import numpy as np
import pytest

from image_bytes import JPEG, gif_header, jpeg_header, png_file, png_header
from wire_bytes import field


def strings(*values):
    return np.array(values, dtype=object)


def photo(row):
    """A picture of 16 x 24 as JPEG, or one of more rows as PNG."""
    return png_file(np.full([16 + row, 24, 3], row, dtype=np.uint8)) if row % 2 else JPEG


def record(row):
    """Record `row` of a set with one feature of every sort."""
    features = {
        "label": row % 10,
        "box": np.arange(4, dtype=np.float32),
        "tags": np.arange(row % 3, dtype=np.int64),
        "image": hr.make_tensor(np.full([4, 4, 3], row, dtype=np.uint8)),
        "crop": hr.make_tensor(np.zeros([row % 2 + 1, 3], dtype=np.float32)),
        "photo": photo(row),
        "raw": bytes([0, 255]) * 8,
        "name": f"record {row}",
        "words": strings(*[b"w"] * (row % 4)),
        "pair": strings(b"a", b"b"),
        "mixed": row if row % 2 else 0.5,
        "blob": bytes([0, 1]) + bytes(row),
    }
    if row % 4 == 0:
        features["rare"] = 1.5
    return hr.make_example(features)


@pytest.fixture
def shards(tmp_path):
    """Two shards with 20 records each."""
    for shard in range(2):
        with hr.TFRecordWriter(tmp_path / f"part-{shard}.tfrecord") as writer:
            for row in range(20):
                writer.write(record(20 * shard + row))
    return [tmp_path / "part-0.tfrecord", tmp_path / "part-1.tfrecord"]


def test_specs(shards):
    schema = hr.infer_schema(shards)
    assert schema.features == {
        "label": hr.FixedLenFeature([], hr.int64),
        "box": hr.FixedLenFeature([4], hr.float32),
        "tags": hr.VarLenFeature(hr.int64),
        "image": hr.TensorFeature([4, 4, 3], hr.uint8),
        "crop": hr.TensorFeature([None, 3], hr.float32),
        "photo": hr.ImageFeature(16, 24, 3),
        "raw": hr.RawFeature([16], hr.uint8),
        "name": hr.FixedLenFeature([], hr.string),
        "words": hr.VarLenFeature(hr.string),
        "pair": hr.FixedLenFeature([2], hr.string),
        "blob": hr.FixedLenFeature([], hr.string),
        "rare": hr.VarLenFeature(hr.float32),
    }
    columns = hr.parse_example([record(row) for row in range(40)], schema.features)
    assert columns["crop"].row_splits.numpy()[:3].tolist() == [0, 1, 3]
    assert columns["photo"].shape == (40, 16, 24, 3)
    assert columns["image"].shape == (40, 4, 4, 3) and columns["raw"].shape == (40, 16)


def test_summaries(shards):
    schema = hr.infer_schema(shards)
    assert (schema.records, schema.malformed, schema.sequences) == (40, 0, 0)
    by_key = {summary.key: summary for summary in schema.summaries}
    assert list(by_key)[-1] == "rare" and by_key["rare"].missing == 0.75
    tags = by_key["tags"].values
    assert (tags.min, tags.max) == (0, 2) and tags.mean == pytest.approx(sum(row % 3 for row in range(40)) / 40)
    assert by_key["label"].sizes is None and by_key["label"].content == ""
    blob = by_key["blob"].sizes
    assert (blob.min, blob.mean, blob.max) == (2, 21.5, 41)
    assert by_key["image"].content == "tensor of uint8 [4, 4, 3]"
    assert by_key["crop"].content == "tensor of float32 [1…2, 3]"
    assert by_key["photo"].content == "JPEG image [16, 24, 3], PNG image [17…55, 24, 3]"
    assert by_key["mixed"].kinds == {"float32": 20, "int64": 20} and by_key["mixed"].spec is None


def test_the_table(shards):
    lines = str(hr.infer_schema(shards)).splitlines()
    assert lines[0] == "40 records, 13 keys"
    cells = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines[3:]}
    assert cells["label"].split() == ["int64", "1"]
    assert cells["rare"].split() == ["float32", "75.0%", "1"]
    assert cells["mixed"].startswith("float32, int64")


def test_the_code_runs_and_makes_the_same_specs(shards):
    schema = hr.infer_schema(shards)
    code = schema.to_code()
    names = {}
    exec(code, names)
    assert names["features"] == schema.features
    assert "# 'mixed': lists of different types: float32 in 20 records, int64 in 20 records" in code
    note = "JPEG image [16, 24, 3], PNG image [17…55, 24, 3]: resized to the least height and width"
    assert f"'photo': hr.ImageFeature(16, 24),  # {note}" in code


def test_the_json_comes_back(shards, tmp_path):
    schema = hr.infer_schema(shards)
    path = tmp_path / "schema.json"
    path.write_text(schema.to_json())
    assert hr.features_from(path) == hr.features_from(json.loads(schema.to_json())) == schema.features
    assert hr.features_from(schema) == schema.features


def test_records_are_taken_from_all_shards_in_turn(shards):
    schema = hr.infer_schema(shards, records=4)
    photo = next(summary for summary in schema.summaries if summary.key == "photo")
    assert schema.records == 4 and photo.content == "JPEG image [16, 24, 3], PNG image [17…37, 24, 3]"


def test_other_sources(shards):
    whole = hr.infer_schema(shards).features
    assert hr.infer_schema(str(shards[0].parent / "part-*")).features == whole
    assert hr.infer_schema(hr.TFRecordDataset(shards)).features == whole
    assert hr.infer_schema(shards, compression="none", verify="header").features == whole
    with pytest.raises(ValueError, match="verify"):
        hr.infer_schema(hr.TFRecordDataset(shards), verify="off")
    with pytest.raises(FileNotFoundError):
        hr.infer_schema("nowhere.tfrecord")
    with pytest.raises(ValueError, match="records=0"):
        hr.infer_schema(shards, records=0)


def infer(tmp_path, records):
    path = tmp_path / "some.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        for one in records:
            writer.write(one)
    return hr.infer_schema(path)


def infer_images(tmp_path, *files):
    """The spec and the note of a shard with these files, one a record."""
    (summary,) = infer(tmp_path, [hr.make_example({"image": file}) for file in files]).summaries
    return summary.spec, summary.note


@pytest.mark.parametrize(
    "file, channels",
    [
        (jpeg_header(480, 640, 3), 3),
        (jpeg_header(480, 640, 1, progressive=True), 1),
        (jpeg_header(480, 640, 4), 3),
        (png_header(480, 640, 0), 1),
        (png_header(480, 640, 4), 1),
        (png_header(480, 640, 3), 3),
        (png_header(480, 640, 6), 4),
    ],
    ids=["jpeg", "gray jpeg", "cmyk jpeg", "gray png", "gray png with alpha", "png with palette", "png with alpha"],
)
def test_images_of_one_size(tmp_path, file, channels):
    assert infer_images(tmp_path, file, file) == (hr.ImageFeature(480, 640, channels), "")


def test_images_of_several_sizes(tmp_path):
    files = jpeg_header(480, 640, 3), png_header(500, 600, 0), jpeg_header(500, 700, 1)
    note = "JPEG image [480…500, 640…700, 1…3], PNG image [500, 600, 1]: resized to the least height and width"
    assert infer_images(tmp_path, *files) == (hr.ImageFeature(480, 600, 3), note)


@pytest.mark.parametrize(
    "others",
    [
        [gif_header(16, 24)],
        [JPEG[:14]],  # cut before its size
        [b"not found"],
        [b""],
        [png_header(16, 65536, 0)],
        [png_header(20_000, 20_000, 0)],
        [jpeg_header(0, 24, 3)],
    ],
    ids=["gif", "cut", "text", "empty", "wide", "large", "no height"],
)
def test_images_that_an_image_feature_does_not_take_stay_strings(tmp_path, others):
    assert infer_images(tmp_path, JPEG, *others)[0] == hr.FixedLenFeature([], hr.string)


def test_the_images_are_decoded(tmp_path):
    generator = np.random.default_rng(7)
    pictures = generator.integers(0, 256, [3, 9, 7, 4], dtype=np.uint8)
    records = [hr.make_example({"image": png_file(picture)}) for picture in pictures]
    schema = infer(tmp_path, records)
    assert schema.to_code().splitlines()[3] == "    'image': hr.ImageFeature(9, 7, channels=4),"
    assert hr.features_from(json.loads(schema.to_json())) == schema.features
    np.testing.assert_array_equal(hr.parse_example(records, schema.features)["image"].numpy(), pictures)


def test_records_that_are_no_examples_are_counted(tmp_path):
    schema = infer(tmp_path, [hr.make_example({"a": 1}), b"junk", hr.make_example({"a": 2})])
    assert schema.malformed == 1 and "1 records are no tf.train.Example" in str(schema)
    assert schema.features == {"a": hr.FixedLenFeature([], hr.int64)} and schema.summaries[0].missing == 0
    with pytest.raises(ValueError, match="none of 2 records"):
        infer(tmp_path, [b"junk", b"\xff"])
    with pytest.raises(ValueError, match="no record"):
        infer(tmp_path, [])


def test_sequence_examples_are_told(tmp_path):
    schema = infer(tmp_path, [hr.make_example({"a": 1}) + field(2, b"")] * 2)
    assert schema.sequences == 2 and "2 are SequenceExamples" in str(schema)


def test_features_without_a_kind(tmp_path):
    kindless = field(1, field(1, field(1, b"k") + field(2, b"")))
    schema = infer(tmp_path, [kindless + hr.make_example({"a": 1})])
    by_key = {summary.key: summary for summary in schema.summaries}
    assert by_key["k"].spec is None and by_key["k"].note == "never has a list" and by_key["k"].missing == 1
    partly = infer(tmp_path, [kindless, hr.make_example({"k": 3})])
    assert partly.features == {"k": hr.VarLenFeature(hr.int64)} and partly.summaries[0].missing == 0.5
