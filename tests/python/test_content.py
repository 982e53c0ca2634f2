"""What byte strings are taken for."""

import headrace as hr
import numpy as np
import pytest
from headrace.content import recognise

from image_bytes import gif_header, jpeg_header, png_header


@pytest.mark.parametrize(
    "value, wanted",
    [
        (b"", ("empty", None)),
        (b"cat", ("text", None)),
        ("zwölf\tKühe\n".encode(), ("text", None)),
        (b"\0\1\2\3", ("bytes", None)),
        ("ü".encode("latin-1"), ("bytes", None)),
        (jpeg_header(480, 640, 3), ("JPEG image", (480, 640, 3))),
        (jpeg_header(48, 64, 1, progressive=True), ("JPEG image", (48, 64, 1))),
        (jpeg_header(480, 640, 3)[:14], ("JPEG image", None)),
        (png_header(28, 32, 0), ("PNG image", (28, 32, 1))),
        (png_header(28, 32, 6), ("PNG image", (28, 32, 4))),
        (png_header(28, 32, 6)[:20], ("PNG image", None)),
        (gif_header(5, 7), ("GIF image", (5, 7, 3))),
        (b"RIFF\0\0\0\0WEBPVP8 ", ("WebP image", None)),
        (b"RIFF\0\0\0\0WAVEfmt ", ("WAV sound", None)),
        (b"RIFF\0\0\0\0none", ("bytes", None)),
    ],
    ids=repr,
)
def test_recognise(value, wanted):
    assert recognise(value) == wanted


def test_tensors_are_recognised_by_their_whole_message():
    proto = hr.make_tensor(np.zeros([2, 3], dtype=np.float32))
    assert recognise(proto) == ("tensor of float32", (2, 3))
    assert recognise(proto[:-1]) == ("bytes", None)


def test_long_text_may_be_cut_inside_a_character():
    assert recognise(b"x" * 4095 + "ü".encode() * 10) == ("text", None)
    assert recognise(b"x" * 4000 + b"\xff" + b"x" * 1000) == ("bytes", None)
