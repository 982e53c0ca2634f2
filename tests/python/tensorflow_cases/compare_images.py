"""ImageFeature beside tf.io.decode_jpeg, decode_png, tf.image.resize and the crops of tf.image."""

import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import headrace as hr

sys.path.insert(0, str(Path(__file__).parents[1]))
from image_bytes import png_file


def photo(height, width, channels=3, seed=1, dtype=np.uint8):
    """Smooth areas with some noise, as photos have them."""
    generator = np.random.default_rng(seed)
    coarse = generator.integers(0, 256, (height // 16 + 2, width // 16 + 2, channels))
    smooth = tf.image.resize(coarse, (height, width), method="bicubic").numpy()
    smooth = (smooth + generator.normal(0, 4, smooth.shape)).clip(0, 255)
    return (smooth * (257 if dtype == np.uint16 else 1)).astype(dtype)


def ours(file, **arguments):
    features = {"image": hr.ImageFeature(**arguments)}
    return hr.parse_single_example(hr.make_example({"image": file}), features)["image"].numpy()


JPEGS = {
    "plain": {},
    "coarse": {"quality": 20},
    "fine": {"quality": 100},
    "full chroma": {"chroma_downsampling": False},
    "progressive": {"progressive": True},
    "progressive, full chroma": {"progressive": True, "chroma_downsampling": False},
    "small tables": {"optimize_size": True},
}


def jpeg(height=117, width=203, **options):
    return tf.io.encode_jpeg(photo(height, width), **options).numpy()


@pytest.mark.parametrize("options", JPEGS.values(), ids=JPEGS.keys())
@pytest.mark.parametrize("dct_method", ["", "INTEGER_FAST", "INTEGER_ACCURATE"])
@pytest.mark.parametrize("channels", [1, 3])
def test_decode_jpeg_is_exact(options, dct_method, channels):
    file = jpeg(**options)
    theirs = tf.io.decode_jpeg(file, channels=channels, dct_method=dct_method).numpy()
    size = {"height": 117, "width": 203, "channels": channels, "dct_method": dct_method, "resize": None}
    np.testing.assert_array_equal(ours(file, **size), theirs)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_gray_jpeg(channels):
    file = tf.io.encode_jpeg(photo(33, 50, 1)).numpy()
    theirs = tf.io.decode_jpeg(file, channels=channels).numpy()
    np.testing.assert_array_equal(ours(file, height=33, width=50, channels=channels), theirs)


@pytest.mark.parametrize("ratio", [2, 4, 8])
def test_a_reduced_jpeg_is_that_of_ratio(ratio):
    file = jpeg(160, 240)
    theirs = tf.io.decode_jpeg(file, ratio=ratio).numpy()
    np.testing.assert_array_equal(ours(file, height=160 // ratio, width=240 // ratio), theirs)


@pytest.mark.parametrize("options", JPEGS.values(), ids=JPEGS.keys())
def test_a_crop_is_a_part_of_the_whole(options):
    """decode_and_crop_jpeg's is, too, but for chroma in its first and last columns, which lacks its neighbours there."""
    file = jpeg(**options)
    whole = tf.io.decode_jpeg(file).numpy()
    generator = np.random.default_rng(5)
    for _ in range(30):
        height, width = generator.integers(1, [118, 204])
        top, left = generator.integers(0, [118 - height, 204 - width])
        found = ours(file, height=height, width=width, crop=hr.Crop(top, left, height, width))
        np.testing.assert_array_equal(found, whole[top : top + height, left : left + width])
        theirs = tf.io.decode_and_crop_jpeg(file, [top, left, height, width]).numpy()
        np.testing.assert_array_equal(found[:, 1:-1], theirs[:, 1:-1])


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5, 0.875, 0.99, 1.0])
def test_central_crop(fraction):
    for height, width in ((117, 203), (64, 65), (2, 3)):
        source = photo(height, width)
        theirs = tf.image.central_crop(source, fraction).numpy()
        found = ours(
            png_file(source), height=theirs.shape[0], width=theirs.shape[1], crop=hr.CentralCrop(fraction), resize=None
        )
        np.testing.assert_array_equal(found, theirs)


SIZES = [(224, 224), (50, 40), (300, 7), (1, 1), (117, 100), (60, 203), (8, 500)]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize(size, antialias):
    file = jpeg()
    for crop in (None, hr.Crop(10, 21, 90, 101)):
        whole = tf.io.decode_jpeg(file)
        part = whole if crop is None else tf.image.crop_to_bounding_box(whole, crop.top, crop.left, crop.height, crop.width)
        theirs = tf.image.resize(part, size, antialias=antialias).numpy()
        same = {"height": size[0], "width": size[1], "crop": crop, "antialias": antialias, "reduce": False}
        np.testing.assert_allclose(ours(file, dtype=hr.float32, **same), theirs, atol=0.01)
        rounded = ours(file, **same).astype(np.float32)
        assert abs(rounded - theirs).max() <= 0.51
        flipped = tf.image.flip_left_right(theirs).numpy()
        both = [ours(file, dtype=hr.float32, flip="random", seed=seed, **same) for seed in range(12)]
        plain = [abs(found - theirs).max() < 0.01 for found in both]
        turned = [abs(found - flipped).max() < 0.01 for found in both]
        assert all(a or b for a, b in zip(plain, turned)) and any(plain) and any(turned)


def test_a_reduced_resize_is_near():
    """Sampled at other points, by less than a pixel of the reduced image: what smooth images show little of."""
    coarse = np.random.default_rng(1).integers(0, 256, (5, 6, 3))
    source = tf.image.resize(coarse, (640, 800), method="bicubic").numpy().clip(0, 255).astype(np.uint8)
    file = tf.io.encode_jpeg(source, quality=95).numpy()
    theirs = tf.image.resize(tf.io.decode_jpeg(file), (150, 190), antialias=True).numpy()
    found = ours(file, height=150, width=190).astype(np.float32)
    assert abs(found - theirs).mean() < 1


PNGS = {
    **{f"{channels} channels": tf.io.encode_png(photo(33, 41, channels)).numpy() for channels in (1, 2, 3, 4)},
    **{f"{c} channels, 16 bits": tf.io.encode_png(photo(33, 41, c, dtype=np.uint16)).numpy() for c in (1, 2, 3, 4)},
}
_ROWS = [bytes(range(k, k + 1)) for k in (0x1B, 0xE4, 0x5A)]
FEW_BITS = {
    "1 bit": png_file(_ROWS, 1, 0),
    "2 bits": png_file([row * 2 for row in _ROWS], 2, 0),
    "4 bits": png_file([row * 4 for row in _ROWS], 4, 0),
    "palette": png_file([row * 2 for row in _ROWS], 2, 3, palette=bytes(range(0, 120, 10))),
    "palette with alpha": png_file([row * 2 for row in _ROWS], 2, 3, palette=bytes(range(0, 120, 10)), transparency=b"\x10\x80"),
    "a transparent colour": png_file([bytes(range(24))] * 3, 8, 2, transparency=b"\0\0\0\1\0\2"),
    "a transparent gray": png_file([bytes(range(8))] * 3, 8, 0, transparency=b"\0\3"),
}


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("name", [*PNGS, *FEW_BITS])
def test_decode_png_is_exact(name, channels):
    file = {**PNGS, **FEW_BITS}[name]
    theirs = tf.io.decode_png(file, channels=channels).numpy()
    found = ours(file, height=theirs.shape[0], width=theirs.shape[1], channels=channels, resize=None)
    np.testing.assert_array_equal(found, theirs)


def _file(kind):
    return tf.io.encode_png(photo(40, 50)).numpy() if kind == "png" else jpeg(40, 50, progressive=kind == "progressive")


@pytest.mark.parametrize("kind", ["jpeg", "progressive", "png"])
def test_cut_files_fail_in_both(kind):
    file = _file(kind)
    for size in [*range(3, len(file), 37), *range(len(file) - 16, len(file))]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_image(file[:size])
        with pytest.raises(hr.SchemaError):
            ours(file[:size], height=40, width=50)


@pytest.mark.parametrize("kind", ["jpeg", "progressive", "png"])
def test_damaged_files_are_what_tensorflow_makes_of_them(kind):
    """Wrong bytes: an error in both, or the same pixels (libjpeg goes on behind a wrong code)."""
    file, generator, decoded = _file(kind), np.random.default_rng(11), 0
    for _ in range(300):
        damaged = bytearray(file)
        for place in generator.integers(0, len(file), generator.integers(1, 4)):
            damaged[place] = generator.integers(0, 256)
        damaged = bytes(damaged)
        try:
            theirs = tf.io.decode_image(damaged, channels=3, expand_animations=False).numpy()
        except (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError):
            with pytest.raises((hr.SchemaError, hr.BudgetError)):
                ours(damaged, height=40, width=50)
            continue
        decoded += 1
        np.testing.assert_array_equal(ours(damaged, height=theirs.shape[0], width=theirs.shape[1]), theirs)
    assert decoded > 100 or kind == "png"  # whose checksums find all


def test_the_dataset_of_a_pipeline(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    files = [jpeg(40 + number, 50) for number in range(8)]
    with hr.TFRecordWriter(path) as writer:
        for file in files:
            writer.write(hr.make_example({"image": file}))
    features = {"image": hr.ImageFeature(32, 48, dtype=hr.float32, reduce=False)}
    dataset = hr.tensorflow.dataset(hr.TFRecordDataset(path).batch(4, drop_remainder=True).parse(features))
    assert dataset.element_spec["image"].shape == (4, 32, 48, 3) and dataset.element_spec["image"].dtype == tf.float32
    found = np.concatenate([batch["image"].numpy() for batch in dataset])
    theirs = [tf.image.resize(tf.io.decode_jpeg(file), (32, 48)).numpy() for file in files]
    np.testing.assert_allclose(found, theirs, atol=0.01)
