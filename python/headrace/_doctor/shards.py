"""The shards: how many, how large, how unequal; and whether the system has them in memory."""

import ctypes
import dataclasses
import mmap
import os
import statistics

from ..provided import CallableFiles
from ..verify import find_files

# Pages are looked up in so many bytes of a file at most, and in so many files, spread over all.
_LOOKED_AT_BYTES = 1 << 30
_LOOKED_AT_FILES = 64


@dataclasses.dataclass(frozen=True)
class Shards:
    """`names` open the files and `sizes` are their bytes, in reading order; `open` is the user's function, or None.

    `resident` is the share of local files that lies in the page cache, 0 to 1, from a sample; None where none is local.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    open: object
    resident: float | None

    @property
    def total_bytes(self):
        return sum(self.sizes)

    @property
    def skew(self):
        """The largest over the median size; 1.0 of empty files."""
        return max(self.sizes) / (statistics.median(self.sizes) or max(1, max(self.sizes)))

    @property
    def local(self):
        """The files that are paths of this machine."""
        return [] if self.open is not None else [name for name in self.names if os.path.isfile(name)]


def look_at(files, open=None):
    """The Shards that `files` names, as TFRecordDataset takes them."""
    found = find_files(files, open)
    names = tuple(os.fsdecode(name) for _, _, name in found)
    shards = Shards(names, tuple(size for _, size, _ in found), open, None)
    return dataclasses.replace(shards, resident=_resident(shards.local))


def opened(shards, name):
    """A readable file object with read_at(offset, size) of one of the shards, local or the user's; None of others."""
    if shards.open is not None:
        return CallableFiles(shards.open).open(os.fsencode(name))
    return CallableFiles(lambda path: open(path, "rb", buffering=0)).open(name) if os.path.isfile(name) else None


def resident_bytes(path, limit=_LOOKED_AT_BYTES):
    """(bytes of the file in the page cache, bytes looked at); of its first `limit` bytes."""
    page = mmap.PAGESIZE
    with open(path, "rb") as file:
        size = min(os.fstat(file.fileno()).st_size, limit)
        if size == 0:
            return 0, 0
        pages = -(-size // page)
        with mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
            states = (ctypes.c_ubyte * pages)()
            view = ctypes.c_char.from_buffer(mapped)
            mincore = ctypes.CDLL(None, use_errno=True).mincore
            failed = mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(size), states)
            del view
            if failed:
                raise OSError(ctypes.get_errno(), "mincore", path)
    return min(size, sum(state & 1 for state in states) * page), size


def _resident(paths):
    if not paths:
        return None
    step = -(-len(paths) // _LOOKED_AT_FILES)
    looked = [resident_bytes(path) for path in paths[::step]]
    total = sum(size for _, size in looked)
    return sum(inside for inside, _ in looked) / total if total else 1.0
