"""JPEG and PNG files in records: what becomes of their pixels on the way to the column."""

import numbers
from dataclasses import dataclass
from typing import Any

from . import _core, arguments
from .dtypes import as_dtype, uint8
from .errors import ArgumentError


@dataclass(frozen=True)
class CentralCrop:
    """The middle of the image (tf.image.central_crop).

    Args:
        fraction: part of each side that is kept, in (0, 1].
        square: keep a square instead, of that part of the shorter side.
    """

    fraction: float = 1.0
    square: bool = False

    def apply(self, options):
        options.central_crop(_number("fraction", self.fraction), bool(self.square))


@dataclass(frozen=True)
class Crop:
    """A fixed window (tf.image.crop_to_bounding_box); an image that does not hold all of it is a SchemaError.

    Args:
        top, left: pixels before the window, >= 0.
        height, width: pixels of the window, >= 1.
    """

    top: int
    left: int
    height: int
    width: int

    def apply(self, options):
        options.fixed_crop(*(arguments.integer(name, getattr(self, name)) for name in ("top", "left", "height", "width")))


@dataclass(frozen=True)
class RandomCrop:
    """A window of a fixed size at a random place (tf.image.random_crop); a smaller image is a SchemaError.

    Args:
        height, width: pixels of the window, >= 1.
    """

    height: int
    width: int

    def apply(self, options):
        options.random_crop(arguments.integer("height", self.height), arguments.integer("width", self.width))


@dataclass(frozen=True)
class RandomResizedCrop:
    """A random part of the image's area at a random ratio and place, the crop of Inception and ResNet training.

    Up to ten pairs of area and ratio are drawn until a window fits into the image; after that it is the middle of the
    image at the nearest ratio.

    Args:
        area: smallest and largest part of the image's area, in (0, 1]; uniform between them.
        ratio: smallest and largest width / height; log-uniform between them.
    """

    area: Any = (0.08, 1.0)
    ratio: Any = (3 / 4, 4 / 3)

    def apply(self, options):
        options.random_resized_crop(*_range("area", self.area), *_range("ratio", self.ratio))


_CROPS = (CentralCrop, Crop, RandomCrop, RandomResizedCrop)
_FLIPS = {None: False, "random": True}
_LARGEST_SIDE = 65535  # of a column, see image_options.cc
# Channels of a column that hold what a file of that many has: gray with alpha as gray, CMYK as RGB.
_CHANNELS = {"JPEG image": {1: 1, 3: 3, 4: 3}, "PNG image": {1: 1, 2: 1, 3: 3, 4: 4}}


@dataclass(frozen=True)
class ImageFeature:
    """A bytes feature that holds a JPEG or PNG file, found by content: a dense column of pixels.

    The column is [rows, height, width, channels] of dtype, or [rows, channels, height, width]. It is what these steps of
    TensorFlow give, in this order, done in one pass that decodes no more than they need: decode_jpeg or decode_png, the
    crop, tf.image.resize (uint8: rounded to the nearest), the flip.

    Random numbers are a function of the seed of the pipeline's shuffle, `seed`, the epoch and the record: neither the
    number of threads nor a resume changes them. Features of the same `seed` draw the same ones, so that an image and its
    mask are cropped alike.

    Args:
        height, width: pixels of the column, in [1, 65535].
        channels: 1 (gray), 3 (RGB) or 4 (RGB and alpha, PNG only). Gray files become RGB, colour files gray; alpha is
            dropped, or opaque where a file has none.
        dtype: uint8, grey levels 0 to 255, or float32, the same in float, see mean and std.
        key: key of the feature; the name of the column when None.
        crop: CentralCrop, Crop, RandomCrop or RandomResizedCrop, in pixels of the file; None: all of the image.
        resize: "bilinear", with half-pixel centres; None: an image that has not the size of the column after the crop is
            a SchemaError.
        antialias: when the resize shrinks, every pixel counts (tf.image.resize(antialias=True)).
        flip: "random": left and right change places in half of the records; None: in none.
        layout: "NHWC" or "NCHW".
        mean, std: of float32: pixels become (pixel - mean) / std, in grey levels; one number, or one per channel.
        dct_method: of JPEG, "INTEGER_FAST" (TensorFlow's default) or "INTEGER_ACCURATE".
        reduce: a JPEG whose crop is at least 2, 4 or 8 times as high and wide as the column is decoded at 1/2, 1/4 or 1/8
            of its size (`ratio` of decode_jpeg) before the resize: faster, and with less aliasing. False: as
            TensorFlow without `ratio`.
        max_pixels: an image of more, height x width, is a BudgetError before anything of it is decoded.
        seed: which random numbers; >= 0.

    Errors while parsing:
        SchemaError: no JPEG or PNG, a damaged or cut file, one that the crop or channels do not fit; key, expected and
            found are named. Rows below the crop are not decoded, so damage there is not seen.
        BudgetError: max_pixels, a side of more than 2**20 pixels, or a JPEG of more than 500 scans.
    """

    height: int
    width: int
    channels: int = 3
    dtype: Any = uint8
    key: Any = None
    crop: Any = None
    resize: Any = "bilinear"
    antialias: bool = False
    flip: Any = None
    layout: str = "NHWC"
    mean: Any = None
    std: Any = None
    dct_method: str = "INTEGER_FAST"
    reduce: bool = True
    max_pixels: int = 2**27
    seed: int = 0

    def to_core(self, name):
        sizes = [arguments.integer(side, getattr(self, side)) for side in ("height", "width", "channels")]
        if self.layout == "NCHW":
            sizes = [sizes[2], sizes[0], sizes[1]]
        feature = _core.Feature(name, "image", as_dtype(self.dtype), sizes, key=self.key or "")
        feature.image = self._options()
        return feature

    def _options(self):
        options = _core.ImageOptions()
        options.set_layout(self.layout)
        options.set_resize(_resize(self.resize, self.antialias))
        options.set_dct_method(self.dct_method)
        if self.crop is not None:
            if not isinstance(self.crop, _CROPS):
                raise ArgumentError(f"crop={self.crop!r}: must be one of {', '.join(kind.__name__ for kind in _CROPS)}")
            self.crop.apply(options)
        if self.flip not in _FLIPS:
            raise ArgumentError(f"flip={self.flip!r}: must be None or 'random'")
        options.random_flip = _FLIPS[self.flip]
        options.mean = _numbers("mean", self.mean)
        options.std = _numbers("std", self.std)
        options.reduce = bool(self.reduce)
        options.max_pixels = arguments.integer("max_pixels", self.max_pixels)
        options.seed = arguments.integer("seed", self.seed, minimum=0)
        return options


def inferred_image(contents):
    """(an ImageFeature that takes every image, whether all have its size), or None when it cannot be.

    Args:
        contents: {what content.recognise() calls it: its least and its largest shape, None when not known}. The feature has
            the least height and width, and as many channels as the files' colours need.
    """
    if not contents or any(name not in _CHANNELS or bounds is None for name, bounds in contents.items()):
        return None
    least = [min(bounds[0][side] for bounds in contents.values()) for side in (0, 1)]
    most = [max(bounds[1][side] for bounds in contents.values()) for side in (0, 1)]
    if min(least) < 1 or max(most) > _LARGEST_SIDE or most[0] * most[1] > ImageFeature.max_pixels:
        return None
    channels = max(_CHANNELS[name][bounds[1][2]] for name, bounds in contents.items())
    return ImageFeature(*least, channels), least == most


def _resize(resize, antialias):
    if resize not in (None, "bilinear"):
        raise ArgumentError(f"resize={resize!r}: must be 'bilinear' or None")
    if antialias and resize is None:
        raise ArgumentError("antialias=True: is for a resize")
    return "antialias" if antialias else resize or "none"


def _number(parameter, value):
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentError(f"{parameter}={value!r}: must be a number")
    return float(value)


def _numbers(parameter, value):
    if value is None:
        return []
    values = list(value) if hasattr(value, "__iter__") else [value]
    return [_number(parameter, item) for item in values]


def _range(parameter, value):
    if isinstance(value, str) or not hasattr(value, "__iter__") or len(list(value)) != 2:
        raise ArgumentError(f"{parameter}={value!r}: must be two numbers, the smallest and the largest")
    return [_number(parameter, item) for item in value]
