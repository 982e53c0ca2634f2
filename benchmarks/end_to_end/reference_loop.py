"""The loop of read_records: one core that reads, checks and copies, and parses nothing."""

from benchmarks.read_records.reference_loop import measure  # noqa: F401
