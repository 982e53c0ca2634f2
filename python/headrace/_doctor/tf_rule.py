"""What a rule of the doctor gives: a fault of a tf.data program, before its gain is known."""

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name, cause, evidence: as in findings.Finding.
        fix: code; "" when `change` tells it.
        change: from the Program to the mended one; None when that takes another hand.
        way: how the gain is told: "model" from the costs of the steps, "probe" by running the mended program for a moment,
            "accelerate" by running what accelerate() makes of it, "none" when it is no matter of time.
    """

    name: str
    cause: str
    evidence: str
    fix: str = ""
    change: Callable[[Any], Any] | None = None
    way: str = "none"


def ms(seconds):
    return f"{seconds * 1e3:.3g} ms"


def size(count):
    """Bytes in a readable unit."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"
