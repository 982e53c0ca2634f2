"""The workloads: what a record holds, and how record number i of each is made. Pure functions of the record number.

Nothing here depends on a random generator of NumPy, whose streams may change: all values come from splitmix64.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from benchmarks.harness.answers import splitmix64

BYTES = "bytes"


@dataclasses.dataclass(frozen=True)
class Feature:
    """kind: fixed (dense), ragged (any number of values), tensor (serialized TensorProto), raw (the elements'
    bytes). transform: what is done to the values of a fixed one, as (name, arguments of it in headrace, ...)."""

    kind: str
    dtype: str
    shape: tuple[int, ...] = ()
    transform: tuple[tuple, ...] = ()


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    features: dict[str, Feature]
    record_bytes: int  # about; sizes the data set
    values: Callable  # (first record, count) -> one dict a record: feature name -> value for an Example
    compression: str | None = None
    data: str = ""  # the workload whose records these are; empty: its own


def words(stream, first, shape):
    """uint64 noise for records first, first + 1, ...: shape[0] records of shape[1:] words; `stream` keeps uses
    apart."""
    per_record = int(np.prod(shape[1:], dtype=np.int64))
    index = np.arange(first * per_record, (first + shape[0]) * per_record, dtype=np.uint64)
    return splitmix64(index ^ splitmix64(np.uint64(stream))).reshape(shape)


def noise_bytes(stream, first, count, size):
    return words(stream, first, (count, -(-size // 8))).view(np.uint8)[:, :size]


def labels(first, count, classes=10):
    return (words(1, first, (count, 1))[:, 0] % np.uint64(classes)).astype(np.int64).tolist()


_FLOATS = [f"I{i}" for i in range(1, 14)]
_IDS = [f"C{i}" for i in range(1, 27)]
_CTR_KEYS = ["label", *_FLOATS, *_IDS]
_CTR_FEATURES = {name: Feature("fixed", "float32" if name in _FLOATS else "int64") for name in _CTR_KEYS}


def _ctr(first, count):
    noise = words(2, first, (count, len(_CTR_KEYS)))
    floats = (noise[:, 1:14] >> np.uint64(40)).astype(np.float32) / np.float32(1 << 20)
    bits = np.array([32 + 8 * (i % 2) for i in range(len(_IDS))], np.uint64)  # hashed ids: varints of 5 and 6 bytes
    ids = (noise[:, 14:] >> (np.uint64(64) - bits)).astype(np.int64)
    for label, a, b in zip(labels(first, count, 2), floats, ids):
        # Arrays of one value: written in half the time of plain numbers.
        values = [a[k : k + 1] for k in range(len(_FLOATS))] + [b[k : k + 1] for k in range(len(_IDS))]
        yield dict(zip(_CTR_KEYS, [label, *values]))


def _ctr_random_order(first, count):
    order = np.argsort(words(3, first, (count, len(_CTR_KEYS))), axis=1).tolist()
    for keys, record in zip(order, _ctr(first, count)):
        yield {_CTR_KEYS[i]: record[_CTR_KEYS[i]] for i in keys}


_LISTS = [f"ids{i}" for i in range(1, 6)]


def _ragged(first, count):
    lengths = (words(4, first, (count, len(_LISTS))) % np.uint64(81)).tolist()
    values = (words(5, first, (count, len(_LISTS), 80)) >> np.uint64(47)).astype(np.int64)
    for i, label in enumerate(labels(first, count)):
        yield {"label": label, **{name: values[i, k, : lengths[i][k]] for k, name in enumerate(_LISTS)}}


def pixels(first, count):
    """uint8 images [count, 32, 32, 3]: a colour gradient and a little noise."""
    slope = (words(6, first, (count, 9)) & np.uint64(7)).astype(np.uint8).reshape(count, 3, 1, 1, 3)
    ramp = np.arange(32, dtype=np.uint8)
    gradient = slope[:, 0] * 32 + slope[:, 1] * ramp[None, :, None, None] + slope[:, 2] * ramp[None, None, :, None]
    return gradient + (noise_bytes(7, first, count, 3072).reshape(count, 32, 32, 3) & 15)


def images(first, count):
    """The same as float32 in [0, 1]."""
    return pixels(first, count).astype(np.float32) / np.float32(255)


def _cifar(first, count):
    for image, label in zip(pixels(first, count), labels(first, count)):
        yield {"image": image.tobytes(), "label": label}


def _tensorproto(first, count):
    import headrace as hr

    for image, label in zip(images(first, count), labels(first, count)):
        yield {"image": hr.make_tensor(image), "label": label}


def _floats11k(first, count):
    values = (words(8, first, (count, 11000)) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
    for row, label in zip(values, labels(first, count)):
        yield {"values": row, "label": label}


_IMAGENET = {
    "image/encoded": Feature("fixed", BYTES),
    **{f"image/{name}": Feature("fixed", "int64") for name in ("height", "width", "channels", "class/label")},
    **{f"image/{name}": Feature("fixed", BYTES) for name in ("colorspace", "format", "filename", "class/synset")},
    **{f"image/object/bbox/{side}": Feature("ragged", "float32") for side in ("xmin", "ymin", "xmax", "ymax")},
}


def _imagenet(first, count):
    sizes = (60_000 + words(9, first, (count, 1))[:, 0] % np.uint64(100_000)).astype(np.int64).tolist()
    boxes = (words(10, first, (count, 4, 4)) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
    number_of_boxes = (words(11, first, (count, 1))[:, 0] % np.uint64(5)).astype(np.int64).tolist()
    for i, label in enumerate(labels(first, count, 1000)):
        record = {
            "image/encoded": noise_bytes(12, first + i, 1, sizes[i]).tobytes(),
            "image/height": 300 + label % 200,
            "image/width": 400 + label % 100,
            "image/channels": 3,
            "image/class/label": label,
            "image/colorspace": b"RGB",
            "image/format": b"JPEG",
            "image/filename": b"n%08d_%d.JPEG" % (label, first + i),
            "image/class/synset": b"n%08d" % label,
        }
        for k, side in enumerate(("xmin", "ymin", "xmax", "ymax")):
            record[f"image/object/bbox/{side}"] = boxes[i, k, : number_of_boxes[i]]
        yield record


_PHOTO_SIZES = ((375, 500), (500, 375), (333, 500), (500, 500), (480, 640), (768, 1024))


def photo(number):
    """A uint8 image [height, width, 3] with detail of every size, as much of each as photos have: about 1.5 bits a pixel
    as JPEG."""
    height, width = _PHOTO_SIZES[number % len(_PHOTO_SIZES)]
    image = np.full((height, width, 3), 128.0, np.float32)
    for octave, strength in ((64, 90.0), (16, 40.0), (4, 14.0), (2, 6.0)):
        rows, columns = height // octave + 2, width // octave + 2
        noise = noise_bytes(14 + octave, number, 1, rows * columns * 3).reshape(rows, columns, 3) / np.float32(127.5) - 1
        # Bilinear between the points of the octave; most of it in luma.
        noise = 0.7 * noise.mean(axis=2, keepdims=True) + 0.3 * noise
        y, x = np.arange(height) / octave, np.arange(width) / octave
        top, left = y.astype(int), x.astype(int)
        y, x = (y - top)[:, None, None], (x - left)[None, :, None]
        blend = lambda row: noise[row][:, left] * (1 - x) + noise[row][:, left + 1] * x
        image += strength * (blend(top) * (1 - y) + blend(top + 1) * y)
    return image.clip(0, 255).astype(np.uint8)


def _photos(first, count):
    import tensorflow as tf

    for number, label in zip(range(first, first + count), labels(first, count)):
        yield {"image": tf.io.encode_jpeg(photo(number), quality=90).numpy(), "label": label}


def _varints(first, count):
    lengths = (1000 + words(15, first, (count, 1))[:, 0] % np.uint64(2001)).tolist()
    for i, label in enumerate(labels(first, count)):
        yield {"label": label, "ids": (words(16, first + i, (1, lengths[i]))[0] >> np.uint64(47)).astype(np.int64)}


WIDE_KEYS = [f"S{i}" for i in range(400)]


def _wide(first, count):
    lengths = (words(17, first, (count, len(WIDE_KEYS))) % np.uint64(4)).tolist()
    values = (words(18, first, (count, len(WIDE_KEYS), 3)) >> np.uint64(40)).astype(np.int64)
    for i, record in enumerate(_floats11k(first, count)):
        yield {**record, **{name: values[i, k, : lengths[i][k]] for k, name in enumerate(WIDE_KEYS)}}


def _sized(size):
    def values(first, count):
        for data, label in zip(noise_bytes(13, first, count, size), labels(first, count)):
            yield {"data": data.tobytes(), "label": label}

    return values


_LABEL = {"label": Feature("fixed", "int64")}
_TO_BFLOAT16 = (("scale", 2.0, -1.0), ("cast", "bfloat16"))
_TO_ROWS = (("mod", 100_003), ("cast", "int32"))  # of an embedding table
_CTR_ROWS = {name: Feature("fixed", "int64", (), _TO_ROWS) for name in _IDS}
SIZES = {
    "100B": 100,
    "1KB": 1000,
    "4KB": 4 << 10,
    "16KB": 16 << 10,
    "64KB": 64 << 10,
    "256KB": 256 << 10,
    "1MB": 1 << 20,
}

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("ctr", _CTR_FEATURES, 704, _ctr),
        Workload("ctr_rand", _CTR_FEATURES, 704, _ctr_random_order),
        Workload("ctr_gz", _CTR_FEATURES, 704, _ctr, "GZIP"),
        Workload("ragged", {**_LABEL, **{name: Feature("ragged", "int64") for name in _LISTS}}, 651, _ragged),
        Workload("cifar", {"image": Feature("raw", "uint8", (3072,)), **_LABEL}, 3126, _cifar),
        Workload("tensorproto", {"image": Feature("tensor", "float32", (32, 32, 3)), **_LABEL}, 12361, _tensorproto),
        Workload("floats11k", {"values": Feature("fixed", "float32", (11000,)), **_LABEL}, 44055, _floats11k),
        Workload("ctr_rows", {**_CTR_FEATURES, **_CTR_ROWS}, 704, _ctr, data="ctr"),
        Workload(
            "floats11k_bf16",
            {"values": Feature("fixed", "float32", (11000,), _TO_BFLOAT16), **_LABEL},
            44055,
            _floats11k,
            data="floats11k",
        ),
        # What is asked of parsing alone, beside the same records read otherwise.
        Workload("ctr_one", {"C13": _CTR_FEATURES["C13"]}, 704, _ctr, data="ctr"),
        Workload("tensor_bytes", {"image": Feature("fixed", BYTES), **_LABEL}, 12361, _tensorproto, data="tensorproto"),
        Workload("varints", {"ids": Feature("ragged", "int64"), **_LABEL}, 5770, _varints),
        Workload(
            "wide",
            {"values": Feature("fixed", "float32", (11000,)), **_LABEL, **{name: Feature("ragged", "int64") for name in WIDE_KEYS}},
            53_000,
            _wide,
        ),
        Workload("imagenet", _IMAGENET, 109965, _imagenet),
        Workload("photos", {"image": Feature("fixed", BYTES), **_LABEL}, 70_000, _photos),
        *(
            Workload(f"size_{name}", {"data": Feature("fixed", BYTES), **_LABEL}, size + 40, _sized(size))
            for name, size in SIZES.items()
        ),
    )
}
