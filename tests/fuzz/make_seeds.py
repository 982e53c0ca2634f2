"""Writes the seeds of the fuzz targets: make_seeds.py FOLDER. One file each, named by what it is.

The folders tests/fuzz/corpus/* hold these and what the fuzzers found worth keeping.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import numpy as np
from tensor_proto_cases import CASES, head
from wire_bytes import field, group, varint, varint_field


def feature(kind, content):
    """An entry of the map whose Feature holds one list."""
    return field(2, field(kind, content))


def entry(key, value):
    return field(1, field(1, key) + value)


def ints(key, *values):
    return entry(key, feature(3, field(1, b"".join(varint(value % 2**64) for value in values))))


def floats(key, *values):
    return entry(key, feature(2, field(1, np.array(values, np.float32).tobytes())))


def strings(key, *values):
    return entry(key, feature(1, b"".join(field(1, value) for value in values)))


def example(*entries):
    return field(1, b"".join(entries))


def examples():
    every = [
        *(ints(b"i", 1), floats(b"f", 0.5), strings(b"b", b"text"), ints(b"vi", *range(300)), floats(b"vf", 1, 2)),
        *(strings(b"vb", b"", b"xyz"), ints(b"q", 1, 2, 3, 4), strings(b"s", b"a", b"b")),
        *(ints(b"r", 1, 2, 3), floats(b"n", 1, 2, 3, 4), strings(b"u", b"a", b"b"), ints(b"p", 0, 1, 3)),
    ]
    yield "every kind of feature", example(*every)
    yield "the same backwards", example(*reversed(every))
    yield "no features", b""
    yield "two examples", example(ints(b"i", 1)) + example(ints(b"i", 2), floats(b"f", 1, 2, 3))
    yield "row lengths", example(ints(b"r", 1, 2, 3), ints(b"p", 2, 1))
    yield "row ids", example(ints(b"r", 1, 2, 3), ints(b"p", 0, 0, 2))
    unpacked = feature(3, varint_field(1, 5) + field(1, b"\1\2") + varint_field(1, 2**64 - 1))
    yield "unpacked and packed", example(entry(b"vi", unpacked), entry(b"i", feature(3, varint_field(1, 9))))
    yield "no kind", example(entry(b"i", field(2, b"")), entry(b"vi", b""))
    yield "two kinds", example(entry(b"i", field(2, field(2, field(1, b"1234")) + field(3, field(1, b"\1")))))
    yield "value before key", example(field(1, feature(3, field(1, b"\1")) + field(1, b"i")))
    yield "unknown fields", varint_field(7, 1) + group(9, varint_field(1, 1)) + example(varint_field(5, 1), ints(b"i", 1))
    yield "long tag", b"\x8a\x00" + example(ints(b"i", 1))[1:]
    yield "three values", example(ints(b"i", 1, 2), floats(b"f", 1, 2, 3), strings(b"b", b"x", b"y"))
    tensors = {
        "matrix": head("float32", 2, 2) + field(4, np.ones(4, np.float32).tobytes()),
        "int rows": head("int32", 3, 2) + field(7, b"\1\2\3"),
        "half": head("float16", 2, 3) + field(13, b"\1\2"),
        "strings": head("string", 2) + field(8, b"a") + field(8, b"bc"),
        "string rows": head("string", 2, 3) + field(8, b"a"),
        "bytes": head("uint8", 2, 3) + field(4, b"abcdef"),
        "bools": head("bool", 2) + field(4, b"\0\1"),
        "float8": head("float8_e5m2", 3) + field(18, b"\1\2"),
        "complex": head("complex64", 1) + field(9, np.ones(2, np.float32).tobytes()),
        "raw": b"\1\2\3\4",
        "raw complex": bytes(range(16)),
    }
    for name, value in tensors.items():
        yield f"tensor {name}", example(strings(b"t", value))


def main():
    corpora = {"example": examples(), "tensor_proto": ((case.name, case.proto) for case in CASES)}
    for target, seeds in corpora.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds:
            (folder / re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")).write_bytes(data)


if __name__ == "__main__":
    main()
