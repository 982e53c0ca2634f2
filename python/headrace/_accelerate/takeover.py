"""The account of a takeover: what moved, what stayed, why, and what was checked."""

import dataclasses
from typing import Any


@dataclasses.dataclass
class Takeover:
    """What accelerate() did with a dataset.

    Attributes:
        taken: whether headrace runs it. When not, the dataset is the user's own.
        reason: why it was not taken, one line; None when it was.
        moved: what the engine does now, a line each.
        stayed: what TensorFlow still does, a line each.
        differences: what is not as before, a line each.
        check: what was compared on the first records.
        source: the equivalent headrace program, Python source. Where user functions are left it refers to them as
            `takeover.rest`; it runs with this object in its namespace under the name `takeover`.
        pipeline: the headrace Dataset.
        rest: the function behind the parsed batches, or None when nothing is left to do.
        original: the user's dataset. It owns what its functions use, such as lookup tables.
    """

    taken: bool
    original: Any = dataclasses.field(repr=False)
    reason: Any = None
    moved: list = dataclasses.field(default_factory=list)
    stayed: list = dataclasses.field(default_factory=list)
    differences: list = dataclasses.field(default_factory=list)
    check: str = ""
    source: str = dataclasses.field(default="", repr=False)
    pipeline: Any = dataclasses.field(default=None, repr=False)
    rest: Any = dataclasses.field(default=None, repr=False)

    @property
    def account(self):
        """What moved, what stayed, what is not as before and what was checked, or why it was not taken; without the source."""
        if not self.taken:
            return f"not taken over: {self.reason}"
        parts = [("the engine does", self.moved), ("TensorFlow still does", self.stayed), ("not as before", self.differences)]
        lines = ["taken over"]
        for title, items in parts:
            lines += [f"  {title}:", *(f"    {item}" for item in items)] if items else []
        return "\n".join([*lines, f"  checked: {self.check}"])

    def __str__(self):
        if not self.taken:
            return self.account
        program = ["  the same as a headrace program:", *("    " + line for line in self.source.splitlines())]
        return "\n".join([self.account, *program])


def moved(plan, engine):
    """Lines about what the engine does."""
    lines = ["reads, orders and batches the records"] if plan.chain.stages else ["reads and batches the records"]
    for column in plan.split.columns:
        what = type(column.spec()).__name__
        done = "".join(f", {transform.name}" for transform in column.transforms)
        lines.append(f"{column.parsed.key!r}: {what}{done}")
    return lines


def stayed(plan, rest):
    """Lines about what TensorFlow does."""
    lines = []
    if rest is not None and plan.split.ops:
        lines.append(f"the rest of the map, {len(plan.split.ops)} ops, on each batch: {rest.way}")
        if plan.split.python:
            lines.append("a Python function in the map, record by record")
    lines += [f"a function of batches, {len(flat.graph_def.node)} ops" for flat in plan.after]
    return lines + [f"{stage.op.lower()} on the batches" for stage in plan.on_top]
