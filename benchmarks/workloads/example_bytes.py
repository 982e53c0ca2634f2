"""TFRecord framing and tf.train.Example in plain Python, from the format's description. Slow on purpose: it exists to
check that the data sets, which headrace's own writer makes, are what they should be."""

import struct

import numpy as np

_TABLE = []
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = (_crc >> 1) ^ (0x82F63B78 if _crc & 1 else 0)
    _TABLE.append(_crc)


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(record):
    """One record as it stands in a file."""
    header = struct.pack("<Q", len(record))
    return header + struct.pack("<I", masked_crc32c(header)) + record + struct.pack("<I", masked_crc32c(record))


def records(data):
    """The payloads of an uncompressed file; every checksum is checked."""
    position = 0
    while position < len(data):
        header = data[position : position + 8]
        (size,) = struct.unpack("<Q", header)
        (header_crc,) = struct.unpack_from("<I", data, position + 8)
        record = data[position + 12 : position + 12 + size]
        (record_crc,) = struct.unpack_from("<I", data, position + 12 + size)
        if header_crc != masked_crc32c(header) or record_crc != masked_crc32c(record):
            raise ValueError(f"wrong checksum of the record at {position}")
        yield record
        position += 16 + size


def _varint(value):
    value &= (1 << 64) - 1
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def _field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def packed(values):
    """The varints of a packed list."""
    return b"".join(_varint(int(value)) for value in values)


def _feature(value):
    if isinstance(value, bytes):
        return _field(1, _field(1, value))
    values = np.atleast_1d(np.asarray(value))
    if values.dtype.kind == "f":
        return _field(2, _field(1, values.astype("<f4").tobytes()))
    return _field(3, _field(1, packed(values)))


def example(features):
    """A serialized Example; packed lists, keys in the order given."""
    entries = (_field(1, _field(1, name.encode()) + _field(2, _feature(value))) for name, value in features.items())
    return _field(1, b"".join(entries))


def tensor_proto(array):
    """A serialized TensorProto of a float32 array, with tensor_content."""
    dims = b"".join(_field(2, b"\x08" + _varint(size)) for size in array.shape)
    return b"\x08\x01" + _field(2, dims) + _field(4, array.astype("<f4").tobytes())
