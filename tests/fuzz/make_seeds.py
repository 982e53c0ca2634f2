"""Writes the seeds of the fuzz targets: make_seeds.py FOLDER. One file each, named by what it is.

The folders tests/fuzz/corpus/* hold these and what the fuzzers found worth keeping.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import numpy as np
from image_bytes import JPEG, png_file
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
    yield "sparse", example(strings(b"vb", b"one", b"two", b"three"), ints(b"vi", 9, 0, 399), ints(b"r", 3, 3, 0))
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


def steps(key, *features):
    """An entry of the feature lists."""
    return field(1, field(1, key) + field(2, b"".join(field(1, each) for each in features)))


def int_step(*values):
    return field(3, field(1, b"".join(varint(value % 2**64) for value in values)))


def float_step(*values):
    return field(2, field(1, np.array(values, np.float32).tobytes()))


def bytes_step(*values):
    return field(1, b"".join(field(1, value) for value in values))


def sequence(*lists):
    return field(2, b"".join(lists))


def sequence_examples():
    context = example(ints(b"i", 1), strings(b"vb", b"a", b"bc"))
    every = [
        *(steps(b"vi", int_step(1, 300), int_step(), b"", int_step(-1)), steps(b"vf", float_step(1, 2), float_step())),
        *(steps(b"s", bytes_step(b"a", b""), bytes_step(b"text")), steps(b"q", int_step(1, 2), int_step(3, 4))),
        *(steps(b"f", float_step(0.5), float_step(1.5)), steps(b"b", bytes_step(b"x"), bytes_step(b"yz"))),
    ]
    yield "every kind of list", context + sequence(*every)
    yield "lists first", sequence(*reversed(every)) + context
    yield "lists in two pieces", sequence(*every[:3]) + context + sequence(*every[3:])
    yield "nothing", b""
    yield "no context", sequence(*every)
    yield "no lists", context
    yield "lists without steps", sequence(*(steps(key) for key in (b"q", b"f", b"b", b"r", b"p")))
    partitions = {
        "splits": (int_step(0, 2, 4), int_step(0)),
        "lengths": (int_step(2, 2), int_step()),
        "starts": (int_step(0, 2), b""),
        "limits": (int_step(2, 4), b""),
        "ids": (int_step(0, 0, 1, 1), b""),
    }
    for name, partition in partitions.items():
        yield f"row {name}", sequence(steps(b"r", int_step(1, 2, 3, 4), int_step()), steps(b"p", *partition))
    yield "the last list counts", sequence(steps(b"vi", int_step(1)), steps(b"vi", int_step(2)))
    two = field(2, field(1, int_step(1))) + field(2, field(1, int_step(2)))
    yield "a list in pieces", sequence(field(1, field(1, b"vi") + two))
    yield "a step in pieces", sequence(steps(b"vi", int_step(1) + int_step(2), int_step(3) + float_step(4)))
    yield "value before key", sequence(field(1, field(2, field(1, int_step(1))) + field(1, b"vi")))
    yield "key alone", sequence(field(1, field(1, b"b")))
    unknown = varint_field(7, 1) + group(9, varint_field(1, 1))
    yield "unknown fields", unknown + sequence(unknown + steps(b"vi", unknown + int_step(1)), *every)
    yield "a list that is cut", sequence(steps(b"vi", int_step(1)))[:-1] + b"\x7f"


def images():
    """A byte of options, see image_fuzz.cc, and a file."""
    generator = np.random.default_rng(3)
    pixels = lambda channels: generator.integers(0, 256, (12, 16, channels), dtype=np.uint8)
    yield "jpeg", b"\0" + JPEG
    yield "jpeg gray cropped", b"\x05" + JPEG
    yield "jpeg window", b"\x08" + JPEG
    yield "jpeg antialias", b"\x30" + JPEG
    yield "jpeg cut", b"\0" + JPEG[: len(JPEG) * 2 // 3]
    yield "png rgb", b"\x80" + png_file(pixels(3))
    yield "png gray alpha", b"\x02" + png_file(pixels(2))
    yield "png rgba float", b"\x44" + png_file(pixels(4))
    yield "png bits", b"\1" + png_file([b"\xa5", b"\x3c"], 1, 0)
    yield "png palette", b"\x02" + png_file([b"\x1b\xe4", b"\xe4\x1b"], 2, 3, palette=bytes(range(12)), transparency=b"\x80\0")
    yield "png deep", b"\0" + png_file([bytes(range(48))], 16, 2, transparency=b"\0\1\2\3\4\5")
    yield "png cut", b"\0" + png_file(pixels(3))[:100]


def server_words():
    """A byte that says what it is, see server_words_fuzz.cc, and a text."""
    entry = b"<Contents><Key>a%20b+c</Key><ETag>&quot;1&quot;</ETag><Size>12</Size></Contents>"
    more = b"<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>x=</NextContinuationToken>"
    yield "page", b"\0<ListBucketResult>" + more + entry * 2 + b"</ListBucketResult>"
    yield "page without size", b"\0<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>"
    yield "page with entities", b'\0<!DOCTYPE x [<!ENTITY a "aaa">]><ListBucketResult><Contents><Key>&a;</Key></Contents></ListBucketResult>'
    yield "error", b"\1<Error><Code>NoSuchKey</Code><Message>It is gone.</Message></Error>"
    yield "range", b"\2bytes 0-9/10"
    yield "no range", b"\2bytes */10"
    yield "number", b"\x0217"
    yield "profile", b"\3[default]\naws_access_key_id = A # x\n  nested = 1\n[profile b]\nregion=c\n"


def cached_batches():
    """See docs/formats/cache.md; the numbers of dtypes are the engine's."""
    text = lambda name: varint(len(name)) + name
    tensor = lambda dtype, offset, *shape: bytes([dtype, len(shape), *shape, 0]) + varint(offset)
    column = lambda name, kind, values, *others: text(name) + bytes([kind]) + values + b"".join(others)
    headers = b"".join(np.array([size << 2 | 2, distance, size, 0, 0, 0], "<u4").tobytes() for size, distance in ((2, 48), (1, 26)))
    strings_at, offsets_at, total = 256, 512, 536
    memory = np.array([7, -1], "<i8").tobytes().ljust(strings_at, b"\0") + (headers + b"abc").ljust(offsets_at - strings_at, b"\0")
    memory += np.array([0, 2, 3], "<i8").tobytes()
    nothing = b"\0\0"  # no dimension of a dense shape, no key
    columns = column(b"i", 1, tensor(5, 0, 2), b"\0", nothing)
    columns += column(b"s", 1, tensor(16, strings_at, 2), b"\0", tensor(5, offsets_at, 3), nothing)
    yield "numbers and strings", b"\1\2\1" + varint(total) + b"\2" + columns + memory
    ragged = column(b"r", 2, tensor(5, 24, 3), b"\1", tensor(5, 0, 3), nothing)
    jagged = column(b"j", 4, tensor(5, 24, 3), b"\2", tensor(5, 0, 3), tensor(5, 48, 2), b"\0\1" + text(b"k"))
    sparse = column(b"p", 3, tensor(5, 24, 1), b"\0", tensor(5, 24, 1, 2), b"\2\2\x09\0")
    memory = np.array([0, 1, 3, 1, 2, 3, 1, 2], "<i8").tobytes()
    yield "lists", b"\1\2\1" + varint(len(memory)) + b"\3" + ragged + jagged + sparse + memory
    yield "no slice", b"\0"


def main():
    tensor_protos = ((case.name, case.proto) for case in CASES)
    corpora = {
        "cached_batch": cached_batches(),
        "example": examples(),
        "image": images(),
        "sequence_example": sequence_examples(),
        "server_words": server_words(),
        "tensor_proto": tensor_protos,
    }
    for target, seeds in corpora.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds:
            (folder / re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")).write_bytes(data)


if __name__ == "__main__":
    main()
