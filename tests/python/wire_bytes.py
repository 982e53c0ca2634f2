"""TFRecord frames and Examples written byte by byte, for forms that no writer makes."""

_TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (0x82F63B78 if _byte & 1 else 0)
    _TABLE.append(_byte)


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


def frame(length):
    """The header of a record of `length` bytes, with its checksum."""
    header = length.to_bytes(8, "little")
    return header + masked_crc32c(header)


def framed(payload):
    """A whole record."""
    return frame(len(payload)) + payload + masked_crc32c(payload)


def varint(value):
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def field(number, payload):
    """A field of bytes."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint_field(number, value):
    """A field that is one varint."""
    return varint(number << 3) + varint(value)


def fixed(number, payload):
    """A field of 4 or 8 bytes."""
    return varint(number << 3 | (5 if len(payload) == 4 else 1)) + payload


def group(number, payload):
    """A closed group."""
    return varint(number << 3 | 3) + payload + varint(number << 3 | 4)


def example(**features):
    """An Example: an int is an int64 feature of one value, bytes are the bytes of a Feature message."""
    entries = b""
    for key, value in features.items():
        feature = field(3, field(1, varint(value))) if isinstance(value, int) else value
        entries += field(1, field(1, key.encode()) + field(2, feature))
    return field(1, entries)
