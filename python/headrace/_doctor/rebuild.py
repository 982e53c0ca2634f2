"""The same pipeline again with something changed: a pure function of the steps that made a dataset."""

import dataclasses

from .. import sources
from ..errors import ArgumentError

_BATCHES = ("batch", "padded_batch", "bucket_by_sequence_length")
_SOURCES = {"TFRecordDataset": sources.TFRecordDataset, "FileDataset": sources.FileDataset}


@dataclasses.dataclass(frozen=True)
class Change:
    """What is different: arguments of the source, arguments by the name of a step, steps that come right behind the source.

    `without_functions` are the places (0, 1, …) of calls of map() with a Python function that are left out.
    """

    source: dict = dataclasses.field(default_factory=dict)
    steps: dict = dataclasses.field(default_factory=dict)
    first: tuple = ()
    without_functions: frozenset = frozenset()
    endless: bool = False  # repeat() before the batches are cut, where there is none


def can_rebuild(dataset):
    """Whether the steps are known: not those of datasets that were combined."""
    return bool(dataset._steps)


def step_named(dataset, *names):
    """Arguments of the last step of these names, {} where it has none; None without such a step."""
    found = [step.arguments for step in dataset._steps if step.name in names]
    return found[-1] if found else None


def has_records(dataset):
    """Whether the source is known, and its files hold records."""
    return can_rebuild(dataset) and dataset._steps[0].name == "TFRecordDataset"


def source_of(dataset):
    """Arguments of the source; ValueError of a dataset that cannot be rebuilt."""
    if not can_rebuild(dataset):
        raise ArgumentError("doctor: the dataset was combined of others; ask for each of them")
    return dataset._steps[0].arguments


def options_of(dataset):
    """Arguments of the source but for the files: what reads other files, or the same ones, in the same way."""
    return {name: value for name, value in source_of(dataset).items() if name != "files"}


def rebuild(dataset, change=Change()):
    """The dataset that the changed steps make."""
    source_of(dataset)
    first, *steps = dataset._steps
    made = _SOURCES[first.name](**{**first.arguments, **change.source})
    for name, arguments in change.first:
        made = getattr(made, name)(**arguments)
    # A cache wants a first pass that ends.
    repeats = any(step.name in ("repeat", "resident", "cache") for step in steps)
    functions = 0
    for step in steps:
        if change.endless and not repeats and step.name in _BATCHES:
            made = made.repeat()
        arguments = {**step.arguments, **change.steps.get(step.name, {})}
        if step.name == "cache" and "files" in change.source:
            arguments["path"] = None  # the file is of other shards
        following = getattr(made, step.name)(**arguments)
        if len(following._functions) > len(made._functions):
            functions += 1
            if functions - 1 in change.without_functions:
                continue
        made = following
    return made
