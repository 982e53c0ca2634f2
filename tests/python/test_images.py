"""ImageFeature without TensorFlow: columns, arguments, failures with their place, random numbers, spec texts."""

import json

import headrace as hr
import numpy as np
import pytest

from image_bytes import JPEG, png_file
from number_shards import write_shard


def pixels(number, height=20, width=30, channels=3):
    return np.random.default_rng(number).integers(0, 256, (height, width, channels), dtype=np.uint8)


def record(number, **size):
    return hr.make_example({"image": png_file(pixels(number, **size)), "id": number})


def parse(file, **arguments):
    arguments = {"height": 20, "width": 30, **arguments}
    return hr.parse_single_example(hr.make_example({"image": file}), {"image": hr.ImageFeature(**arguments)})["image"].numpy()


def test_a_batch_of_pngs_is_their_pixels():
    records = [record(number) for number in range(5)]
    batch = hr.parse_example(records, {"pixels": hr.ImageFeature(20, 30, key="image"), "id": hr.FixedLenFeature([], hr.int64)})
    images = batch["pixels"].numpy()
    assert images.dtype == np.uint8 and images.shape == (5, 20, 30, 3)
    np.testing.assert_array_equal(images, [pixels(number) for number in range(5)])
    assert batch["id"].numpy().tolist() == [0, 1, 2, 3, 4]


def test_a_jpeg():
    image = parse(JPEG, height=16, width=24)
    assert image[0, 0].tolist() == [0, 4, 0] and image[15, 23].tolist() == [231, 224, 232]
    assert parse(JPEG, height=16, width=24, channels=1).shape == (16, 24, 1)


def test_layout_dtype_mean_and_std():
    source = pixels(3)
    file = png_file(source)
    planar = parse(file, layout="NCHW", dtype=hr.float32, mean=[1, 2, 3], std=[2, 4, 8])
    assert planar.dtype == np.float32 and planar.shape == (3, 20, 30)
    expected = (source.astype(np.float32) - [1, 2, 3]) / [2, 4, 8]
    np.testing.assert_allclose(planar, expected.transpose(2, 0, 1), rtol=1e-6)
    np.testing.assert_array_equal(parse(file, dtype=np.float32), source)
    np.testing.assert_allclose(parse(file, dtype=np.float32, mean=127.5, std=127.5), source / 127.5 - 1, atol=1e-6)


def test_crops():
    source = pixels(4)
    file = png_file(source)
    np.testing.assert_array_equal(parse(file, height=5, width=7, crop=hr.Crop(3, 4, 5, 7)), source[3:8, 4:11])
    half = parse(file, height=10, width=16, crop=hr.CentralCrop(0.5), resize=None)
    np.testing.assert_array_equal(half, source[5:15, 7:23])
    square = parse(file, height=20, width=20, crop=hr.CentralCrop(square=True), resize=None)
    np.testing.assert_array_equal(square, source[:, 5:25])
    window = parse(file, height=4, width=6, crop=hr.RandomCrop(4, 6))
    places = np.lib.stride_tricks.sliding_window_view(source, (4, 6, 3))[:, :, 0]
    assert (places == window).all(axis=(2, 3, 4)).any()


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"height": 0}, "height and width"),
        ({"width": 1.5}, "width=1.5"),
        ({"channels": 2}, "channels must be 1, 3 or 4"),
        ({"dtype": hr.int64}, "must be uint8 or float32"),
        ({"layout": "HWC"}, "layout='HWC'"),
        ({"resize": "nearest"}, "resize='nearest'"),
        ({"resize": None, "antialias": True}, "antialias"),
        ({"flip": "vertical"}, "flip='vertical'"),
        ({"dct_method": "FLOAT"}, "dct_method='FLOAT'"),
        ({"mean": 1.0}, "mean is for dtype float32"),
        ({"mean": ["a"], "dtype": hr.float32}, "mean='a'"),
        ({"std": [1, 2], "dtype": hr.float32}, "expected 1 or 3"),
        ({"std": 0.0, "dtype": hr.float32}, "std must be above 0"),
        ({"crop": "center"}, "crop='center'"),
        ({"crop": hr.CentralCrop(0)}, "fraction 0.0"),
        ({"crop": hr.RandomResizedCrop(area=0.5)}, "area=0.5"),
        ({"crop": hr.RandomResizedCrop(ratio=(2, 1))}, "ratio [2.0, 1.0]"),
        ({"crop": hr.RandomCrop(0, 1)}, "at least 1"),
        ({"max_pixels": 0}, "max_pixels"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_arguments_that_cannot_be(arguments, words):
    with pytest.raises(ValueError) as caught:
        parse(JPEG, **arguments)
    assert words in str(caught.value) and "image" in str(caught.value)


@pytest.mark.parametrize(
    "file, arguments, kind, expected, found",
    [
        (b"GIF89a, say", {}, hr.SchemaError, "a JPEG or PNG file", "11 bytes that begin as neither"),
        (b"", {}, hr.SchemaError, "a JPEG or PNG file", "0 bytes that begin as neither"),
        (JPEG[:200], {}, hr.SchemaError, "a whole JPEG file", "less"),
        (JPEG, {"channels": 4}, hr.SchemaError, "a PNG, which may have 4 channels", "a JPEG"),
        (JPEG, {"resize": None}, hr.SchemaError, "20 x 30 pixels", "16 x 24 pixels"),
        (JPEG, {"crop": hr.RandomCrop(17, 2)}, hr.SchemaError, "at least 17 x 2 pixels", "16 x 24 pixels"),
        (JPEG, {"max_pixels": 383}, hr.BudgetError, "at most 383 pixels (max_pixels)", "16 x 24 pixels"),
    ],
)
def test_failures_name_their_place(tmp_path, file, arguments, kind, expected, found):
    path = write_shard(tmp_path / "a.tfrecord", [record(0), hr.make_example({"image": file})])
    features = {"pixels": hr.ImageFeature(**{"height": 20, "width": 30, "key": "image", **arguments})}
    if file[:1] == JPEG[:1]:  # the good record must pass these arguments
        path = write_shard(tmp_path / "a.tfrecord", [hr.make_example({"image": file})])
    with pytest.raises(kind) as caught:
        list(hr.TFRecordDataset(path).batch(2, drop_remainder=False).parse(features))
    error = caught.value
    assert error.path == path and error.key == "image" and error.offset is not None
    assert error.record == (0 if file[:1] == JPEG[:1] else 1)
    assert (error.expected, error.found) == (expected, found)
    assert len(file) < 8 or repr(file[:8])[2:-1] not in str(error)


def test_a_bomb_of_a_few_bytes():
    bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (100_000).to_bytes(4, "big") * 2 + b"\x08\x06\0\0\0"
    with pytest.raises(hr.BudgetError, match=r"100000 x 100000 pixels exceeds max_pixels \(134217728\)"):
        parse(bomb)
    with pytest.raises(hr.SchemaError, match="cannot be in 29 bytes"):
        parse(bomb[:16] + (10_000).to_bytes(4, "big") * 2 + bomb[24:])


def test_missing_and_of_another_kind():
    features = {"image": hr.ImageFeature(20, 30)}
    with pytest.raises(hr.SchemaError, match="image"):
        hr.parse_example([hr.make_example({"other": 1})], features)
    with pytest.raises(hr.SchemaError) as caught:
        hr.parse_example([hr.make_example({"image": 1})], features)
    assert caught.value.key == "image"
    two = hr.make_example({"image": [png_file(pixels(1)), png_file(pixels(2))]})
    with pytest.raises(hr.SchemaError):
        hr.parse_example([two], features)


RANDOM = {
    "image": hr.ImageFeature(8, 8, crop=hr.RandomResizedCrop(), flip="random"),
    "id": hr.FixedLenFeature([], hr.int64),
}
EPOCHS = 3
RECORDS = 24


@pytest.fixture
def shards(tmp_path):
    return [
        write_shard(tmp_path / f"part-{shard}.tfrecord", [record(number) for number in range(shard, RECORDS, 3)])
        for shard in range(3)
    ]


def shuffled(shards, size=7, seed=5, features=RANDOM, mix_epochs=False, **options):
    dataset = hr.TFRecordDataset(shards, **options).interleave(cycle_length=2).repeat(EPOCHS)
    return dataset.shuffle(10, seed=seed, mix_epochs=mix_epochs).batch(size).parse(features)


def rows(dataset):
    """[(id, pixels)] of all rows in order."""
    found = []
    for batch in dataset:
        found += [(int(i), image.tobytes()) for i, image in zip(batch["id"].numpy(), batch["image"].numpy())]
    return found


def test_random_numbers_do_not_depend_on_threads_or_batch_size(shards):
    expected = rows(shuffled(shards))
    assert len(expected) == EPOCHS * RECORDS
    for options in ({"num_threads": 1}, {"num_threads": 4}, {"size": 5}, {"size": 64}):
        assert rows(shuffled(shards, **options)) == expected
    replicas = shuffled(shards, size=8).prefetch_to_device(["/CPU:0", "/CPU:1"])
    assert rows(part for batch in replicas for part in batch.replicas) == expected


@pytest.mark.parametrize("mix_epochs", [False, True])
def test_every_epoch_draws_anew(shards, mix_epochs):
    found = rows(shuffled(shards, mix_epochs=mix_epochs))
    for number in range(RECORDS):
        assert len({image for i, image in found if i == number}) == EPOCHS
    assert dict(found) != dict(rows(shuffled(shards, seed=6)))


def test_an_image_and_its_mask_are_cut_alike(tmp_path):
    files = lambda number: {"image": png_file(pixels(number)), "mask": png_file(pixels(number)[:, :, :1])}
    path = write_shard(tmp_path / "a.tfrecord", [hr.make_example(files(number)) for number in range(12)])
    spec = lambda channels, seed=0: hr.ImageFeature(8, 8, channels, crop=hr.RandomCrop(8, 8), flip="random", seed=seed)
    features = {"image": spec(3), "mask": spec(1)}
    (batch,) = hr.TFRecordDataset(path).batch(12).parse(features)
    np.testing.assert_array_equal(batch["image"].numpy()[..., :1], batch["mask"].numpy())
    (other,) = hr.TFRecordDataset(path).batch(12).parse({"image": spec(3, seed=1)})
    assert (batch["image"].numpy() != other["image"].numpy()).any()


def test_a_resume_repeats_the_random_numbers(shards):
    whole = rows(shuffled(shards))
    for cut in (0, 1, 3, 4, 8):  # batch 3 holds records of two epochs
        with iter(shuffled(shards)) as pipeline:
            for _ in range(cut):
                next(pipeline)
            state = json.loads(json.dumps(pipeline.state_dict()))
        with iter(shuffled(shards, num_threads=1)) as pipeline:
            pipeline.load_state_dict(state)
            assert rows(pipeline) == whole[7 * cut :]


def test_specs_as_text():
    from headrace import spec_text

    features = {
        "image": hr.ImageFeature(8, 8, crop=hr.RandomResizedCrop(area=(0.5, 1)), flip="random"),
        "plain": hr.ImageFeature(8, 9, 1, dtype=hr.float32, mean=[1.5], crop=hr.CentralCrop(0.5)),
    }
    assert spec_text.from_json(json.loads(json.dumps(spec_text.to_json(features)))).keys() == features.keys()
    again = spec_text.from_json(json.loads(json.dumps(spec_text.to_json(features))))
    files = [record(1)]
    spec = lambda specs: {name: value for name, value in hr.parse_example(files, {"image": specs["image"]}).items()}
    np.testing.assert_array_equal(spec(again)["image"].numpy(), spec(features)["image"].numpy())
    scope = {}
    exec(spec_text.to_code(features), scope)
    assert scope["features"] == {**features, "image": scope["features"]["image"]}
    assert scope["features"]["image"].crop == hr.RandomResizedCrop(area=[0.5, 1])
