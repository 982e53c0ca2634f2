"""How a dataset was made: its steps, so that the same pipeline can be made again with some of them changed.

Datasets are immutable and know their engine's form only, which tells what runs but not what to write. Whoever changes a
pipeline, as the doctor does to try a fix, needs the calls.
"""

import collections.abc
import dataclasses
import functools
import inspect
from typing import Any


@dataclasses.dataclass(frozen=True)
class Step:
    """One call that made a dataset: `name` of the method, or of the class of a source, and its arguments by name."""

    name: str
    arguments: dict[str, Any]


def step(method):
    """Decorates a method of a dataset that returns a dataset: the result knows the steps of its input and this one."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def made(self, *args, **keywords):
        result = method(self, *args, **keywords)
        if self._steps:
            arguments = dict(signature.bind(self, *args, **keywords).arguments)
            del arguments["self"]
            result._steps = (*self._steps, Step(method.__name__, arguments))
        return result

    return made


def source(constructor):
    """Decorates __init__ of a source: the steps begin with it."""
    signature = inspect.signature(constructor)

    @functools.wraps(constructor)
    def made(self, *args, **keywords):
        arguments = dict(signature.bind(self, *args, **keywords).arguments)
        del arguments["self"]
        if isinstance(arguments["files"], collections.abc.Iterator):
            arguments["files"] = list(arguments["files"])
        constructor(self, **arguments)
        self._steps = (Step(type(self).__name__, arguments),)

    return made
