"""Files of records that are damaged or odd: the rows of the page on TensorFlow's behaviour, sections 1 and 2.

Each file holds some of RECORDS. `ours` is the number of records that headrace delivers and the text of the DataLossError
behind them, None for none; `theirs` the same of TensorFlow.
"""

import gzip
import zlib
from dataclasses import dataclass

from wire_bytes import frame, framed

RECORDS = [b"record %d " % number * (3 + number) for number in range(10)]
FRAMES = [framed(record) for record in RECORDS]
ALL = b"".join(FRAMES)
N = sum(map(len, FRAMES[:6]))  # where record 6 begins
HINT = r"corrupted record at 0 \(Is this even a TFRecord file\?\)"


@dataclass(frozen=True)
class Case:
    name: str
    data: bytes
    ours: tuple
    theirs: tuple
    compression: str = ""

    def __str__(self):
        return self.name


def flip(data, place):
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


def frames():
    whole = (10, None)
    yield Case("no bytes", b"", (0, None), (0, None))
    yield Case("cut between two records", ALL[:N], (6, None), (6, None))
    for name, place in (("the length", 0), ("the checksum of the length", 9)):
        yield Case(f"a bit of {name}", flip(ALL, N + place), (6, "record at"), (6, f"corrupted record at {N}"))
        yield Case(f"a bit of {name} of the first record", flip(ALL, place), (0, "record at"), (0, HINT))
    for name, place in (("the payload", 12 + 3), ("the checksum of the payload", len(FRAMES[6]) - 2)):
        yield Case(f"a bit of {name}", flip(ALL, N + place), (6, "record at"), (6, f"corrupted record at {N + 12}"))
    yield Case("a bit of the first payload", flip(ALL, 14), (0, "record at"), (0, "corrupted record at 12(?! .Is)"))
    others = {"text": b"some text, line by line\n" * 9, "html": b"<!DOCTYPE html><html></html>", "gzip": gzip.compress(ALL)}
    for name, data in others.items():
        yield Case(f"{name} instead of records", data, (0, "record at|gzip"), (0, HINT))
    plain_crc = len(RECORDS[0]).to_bytes(8, "little")
    bare = plain_crc + zlib.crc32(plain_crc).to_bytes(4, "little") + ALL[12:]
    yield Case("the checksum of zlib", bare, (0, "record at"), (0, HINT))
    yield Case("checksums of 0", plain_crc + bytes(4) + RECORDS[0] + bytes(4), (0, "record at"), (0, HINT))
    for size in range(1, 12):
        yield Case(f"{size} bytes of a header", ALL[: N + size], (6, "truncated"), (6, None))
        yield Case(f"{size} stray bytes at the end", ALL + b"\n" * size, (10, "truncated"), whole)
    yield Case("a text of less than a header", b"hello\n", (0, "truncated|record"), (0, None))
    for size in (12, 13, 500):
        for name, stray in (("zero", bytes(size)), ("stray", b"x" * size)):
            yield Case(f"{size} {name} bytes at the end", ALL + stray, (10, "record at"), (10, f"corrupted record at {len(ALL)}"))
    short = r"truncated record at \d+' failed with Read less bytes than requested"
    for size in (12, 13, len(FRAMES[6]) - 5, len(FRAMES[6]) - 4, len(FRAMES[6]) - 1):
        yield Case(f"a cut at byte {size} of a record", ALL[: N + size], (6, "truncated"), (6, short))
    yield Case("a length beyond the file", ALL[:N] + frame(2**20) + ALL[N + 12 :], (6, "truncated"), (6, short))
    for length in (2**63 - 1, 2**63, 2**64 - 16):
        data = ALL[:N] + frame(length) + ALL[N + 12 :]
        yield Case(f"a length of {length}", data, (6, "record at"), (6, "Can't read a negative number of bytes"))
    for length in (2**64 - 5, 2**64 - 1):
        data = ALL[:N] + frame(length) + ALL[N + 12 :]
        yield Case(f"a length of {length}", data, (6, "record at"), (6, "record size too large"))


def gzips():
    def case(name, data, ours, theirs):
        return Case(f"gzip: {name}", data, ours, theirs, "GZIP")

    pack = gzip.compress
    whole, packed, empty, half = (10, None), pack(ALL, mtime=0), pack(b"", mtime=0), ALL[: N + 20]
    eof = "truncated record at .*EOF reached"
    header = "incorrect header check"
    yield case("no bytes", b"", (0, None), (0, None))
    yield case("of nothing", empty, (0, None), (0, None))
    yield case("two members", pack(ALL[:N]) + pack(ALL[N:]), whole, whole)
    yield case("two members, one ends in a record", pack(half) + pack(ALL[N + 20 :]), whole, whole)
    yield case("an empty member first", empty + packed, whole, (0, None))
    yield case("an empty member between", pack(ALL[:N]) + empty + pack(ALL[N:]), whole, (6, None))
    yield case("an empty member in a record", pack(half) + empty + pack(ALL[N + 20 :]), whole, (6, eof))
    yield case("an empty member last", packed + empty, whole, whole)
    long = ALL[:N] + frame(2**20) + ALL[N + 12 :]
    yield case("a length beyond the file", pack(long), (6, "truncated"), (6, eof))
    for size in (5, 10):
        yield case(f"{size} bytes of its header", packed[:size], (0, "it is cut"), (0, None))
    stored = pack(ALL, 0)  # not compressed: a cut is at a known place
    start = stored.index(ALL[:20])
    yield case("a cut inside a record", stored[: start + N + 20], (6, "it is cut"), (6, eof))
    yield case("a cut between two records", stored[: start + N], (6, "it is cut"), (6, None))
    yield case("a cut inside a header", stored[: start + N + 7], (6, "it is cut"), (6, None))
    for size in (1, 4, 8):
        yield case(f"{size} bytes of the trailer missing", packed[:-size], (10, "it is cut"), whole)
    yield case("another checksum", flip(packed, len(packed) - 7), (10, "incorrect data check"), (0, "incorrect data check"))
    yield case("another size", flip(packed, len(packed) - 3), (10, "incorrect data check"), (0, "incorrect length check"))
    yield case("one zero byte behind", packed + b"\0", whole, whole)
    yield case("512 zero bytes behind", packed + bytes(512), whole, (10, header))
    yield case("text behind", packed + b"text" * 10, (10, "other data follow"), (10, header))
    yield case("uncompressed", ALL, (0, "(?i)uncompressed"), (0, header))
    yield case("zlib", zlib.compress(ALL), (0, "(?i)zlib"), (0, header))


def zlibs():
    def case(name, data, ours, theirs):
        return Case(f"zlib: {name}", data, ours, theirs, "ZLIB")

    pack, whole = zlib.compress, (10, None)
    packed = pack(ALL)
    yield case("whole", packed, whole, whole)
    yield case("two streams", pack(ALL[:N]) + pack(ALL[N:]), whole, (6, None))
    yield case("two streams, one ends in a record", pack(ALL[: N + 20]) + pack(ALL[N + 20 :]), whole, (6, "truncated record"))
    yield case("the checksum missing", packed[:-4], (10, "it is cut"), whole)
    yield case("zero bytes behind", packed + bytes(512), whole, whole)
    yield case("text behind", packed + b"text" * 10, (10, "other data follow"), whole)
    yield case("uncompressed", ALL, (0, "(?i)uncompressed"), (0, "incorrect header check"))
    yield case("gzip", gzip.compress(ALL), (0, "(?i)gzip"), (0, "incorrect header check"))
    bare = zlib.compressobj(wbits=-15)
    yield case("raw deflate", bare.compress(ALL) + bare.flush(), (0, "not a zlib file"), (0, "incorrect header check"))


CASES = [*frames(), *gzips(), *zlibs()]
