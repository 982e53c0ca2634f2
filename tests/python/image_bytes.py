"""Image files for the tests: the smallest headers, which tell a size and hold no picture, and whole small files."""

import base64
import struct
import zlib


def png_header(height, width, color_type):
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + size + bytes([8, color_type, 0, 0, 0])


def jpeg_header(height, width, channels, progressive=False):
    comment = b"\xff\xfe" + (6).to_bytes(2, "big") + b"\xff\xc0!!"  # holds what looks like a marker
    frame = bytes([8]) + height.to_bytes(2, "big") + width.to_bytes(2, "big") + bytes([channels]) + bytes(3 * channels)
    marker = b"\xff\xc2" if progressive else b"\xff\xc0"
    return b"\xff\xd8" + comment + marker + (2 + len(frame)).to_bytes(2, "big") + frame + b"\xff\xda"


def gif_header(height, width):
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0"


def png_file(rows, bit_depth=8, color_type=None, palette=b"", transparency=b""):
    """A PNG of `rows`: a uint8 array [height, width, channels], or packed rows as a list of bytes with their color_type
    and a width of 8 samples."""
    if color_type is None:
        height, width, channels = rows.shape
        color_type, rows = {1: 0, 2: 4, 3: 2, 4: 6}[channels], [row.tobytes() for row in rows]
    else:
        height, width = len(rows), 8
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bit_depth, color_type, 0, 0, 0))]
    parts += [chunk(b"PLTE", palette)] if palette else []
    parts += [chunk(b"tRNS", transparency)] if transparency else []
    parts.append(chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


# 16 x 24 pixels of about [10 x, 15 y, 6 (x + y)].
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDAAoHBwgHBgoICAgLCgoLDhgQDg0NDh0VFhEYIx8lJCIfIiEmKzcvJik0KSEiMEExNDk7Pj4+JS5ESUM8"
    "SDc9Pjv/2wBDAQoLCw4NDhwQEBw7KCIoOzs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozv/wAARCAAQABgD"
    "ASIAAhEBAxEB/8QAFwAAAwEAAAAAAAAAAAAAAAAAAAUGB//EABgQAAIDAAAAAAAAAAAAAAAAAAAEBSIx/8QAFgEBAQEAAAAAAAAAAAAAAAAABAMG"
    "/8QAGxEAAgIDAQAAAAAAAAAAAAAAAAMFIQIEMSL/2gAMAwEAAhEDEQA/AM9VhsqOFYbKlKrDZUcKw2VJreB0JblkyrDZUC9VhsqA/F1GyRLeOn//"
    "2Q=="
)
