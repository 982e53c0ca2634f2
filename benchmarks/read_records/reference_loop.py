"""Builds and runs reference_loop.cc: what one core can do when it only reads, checks and copies."""

from pathlib import Path

from benchmarks.harness import loops, window

_SOURCE = Path(__file__).with_name("reference_loop.cc")


def measure(workload, shards, options, seconds):
    """Figures as window.measure gives them. Reading the arena again is cheap next to the rest and is not subtracted."""
    choices = [["-DWITH_ISAL", "-lisal"], []]
    delivered, touched = loops.run(_SOURCE, [seconds, window.WARM_UP_S, *shards], choices)
    return {"delivered": delivered, "touched": touched}
