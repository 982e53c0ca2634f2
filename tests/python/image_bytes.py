"""The smallest headers of image files: what tells their size, and nothing of the picture."""


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
