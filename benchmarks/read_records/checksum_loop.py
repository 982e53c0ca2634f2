"""Builds and runs checksum_loop.cc: the bytes of the shards read and checksummed, and the checksum alone in the cache."""

from pathlib import Path

from benchmarks.harness import loops

_SOURCE = Path(__file__).with_name("checksum_loop.cc")
_ROOT = _SOURCE.parents[2]
_BASE = [
    str(_ROOT / "src" / "base" / f"{name}.cc")
    for name in ("checksum", "checksum_sse42", "checksum_vpclmul", "cpu", "environment", "status", "utf8")
]
_FLAGS = [f"-I{_ROOT / 'src'}", f"-I{_ROOT / 'include'}", *_BASE]


def measure(workload, shards, options, seconds):
    """Figures of window.measure, in records: "delivered" of reading and checking, "touched" of the checksum in the cache."""
    choices = [[*_FLAGS, "-DHEADRACE_HAVE_ISAL=1", "-lisal"], _FLAGS]
    reading, cached = loops.run(_SOURCE, [seconds, workload.record_bytes, *shards], choices)
    return {"delivered": reading, "touched": cached}
