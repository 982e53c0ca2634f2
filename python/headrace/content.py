"""What byte strings hold, told from their first bytes: tensors, images, sound, text, or none of these."""

from . import _core

_SIGNATURES = (
    (b"\xff\xd8\xff", "JPEG image"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"fLaC", "FLAC sound"),
    (b"OggS", "Ogg sound"),
    (b"ID3", "MP3 sound"),
    (b"\x93NUMPY", "npy array"),
    (b"PK\x03\x04", "zip archive"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
# JPEG segments that hold the size of the image (SOF0 … SOF15 without DHT, JPG and DAC).
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_TEXT_BYTES = 4096


def recognise(value):
    """(what it is, its shape or None) of one byte string.

    "tensor of DTYPE" with the shape of the tensor; "JPEG image", "PNG image", … with [height, width, channels] where the
    header tells it; "text" for UTF-8 without control characters; "bytes" for everything else, the empty string "empty".
    """
    if not value:
        return "empty", None
    for signature, name in _SIGNATURES:
        if value.startswith(signature):
            reader = _SIZES.get(name)
            return name, reader(value) if reader else None
    if value[:4] == b"RIFF":
        return {b"WEBP": "WebP image", b"WAVE": "WAV sound"}.get(value[8:12], "bytes"), None
    if is_text(value):
        return "text", None
    tensor = _core.describe_tensor(value)
    if tensor is not None:
        return f"tensor of {tensor[0]}", tensor[1]
    return "bytes", None


def is_text(value):
    """Whether it is UTF-8 without control characters; of a long string, the first 4 KiB are looked at."""
    head = value[:_TEXT_BYTES]
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        # A character that the limit cut in two is none of the string's faults.
        if len(value) <= _TEXT_BYTES or error.start < _TEXT_BYTES - 3:
            return False
        text = head[: error.start].decode()
    return all(character.isprintable() or character in "\t\n\r" for character in text)


def _png_shape(value):
    if value[12:16] != b"IHDR" or len(value) < 26:
        return None
    channels = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}.get(value[25])
    if channels is None:
        return None
    return (int.from_bytes(value[20:24], "big"), int.from_bytes(value[16:20], "big"), channels)


def _gif_shape(value):
    if len(value) < 10:
        return None
    return (int.from_bytes(value[8:10], "little"), int.from_bytes(value[6:8], "little"), 3)


def _jpeg_shape(value):
    at = 2
    while at + 9 < len(value) and value[at] == 0xFF:
        marker = value[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _START_OF_FRAME:
            return (
                int.from_bytes(value[at + 5 : at + 7], "big"),
                int.from_bytes(value[at + 7 : at + 9], "big"),
                value[at + 9],
            )
        else:
            at += 2 + int.from_bytes(value[at + 2 : at + 4], "big")
    return None


_SIZES = {"JPEG image": _jpeg_shape, "PNG image": _png_shape, "GIF image": _gif_shape}
