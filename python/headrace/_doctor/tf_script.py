"""A training script, run as far as its input: the tf.data programs that it makes, found where it first trains with them."""

import contextlib
import dataclasses
import os
import runpy
import sys

import tensorflow as tf

from .. import findings
from .tf_doctor import doctor
from .tf_lint import lint

_TRAINS = ("fit", "evaluate", "predict")
_DATASETS = ("x", "validation_data")
_SHARES = "experimental_distribute_dataset"


class _Reached(BaseException):
    """The script is where it trains; no `except Exception` of it holds this up."""


@dataclasses.dataclass(frozen=True)
class Use:
    """A dataset that the script trains with: `name` of the place, `strategy` or None."""

    name: str
    dataset: tf.data.Dataset
    strategy: object


def script(path, arguments=(), step_time=None, verify=False):
    """Diagnoses of the tf.data programs of a training script, and of its source.

    Runs the script as `python PATH ARGUMENTS` does, up to its first fit(), evaluate(), predict(),
    experimental_distribute_dataset() or loop over a dataset in the script itself; nothing is trained.

    Args:
        path: the script.
        arguments: its command line, strings.
        step_time, verify: as in headrace.tensorflow.doctor.

    Returns:
        A list of Diagnosis: of the source first when something was found in it, then of each dataset.

    Raises:
        FileNotFoundError: there is no such script.
        ValueError: it ends without having trained.
    """
    with open(path, encoding="utf-8") as file:
        found = lint(file.read(), str(path))
    uses = find(path, arguments)
    if not uses:
        raise ValueError(f"{path}: the script ends without fit(), evaluate(), predict(), or a loop over a tf.data.Dataset")
    made = [findings.Diagnosis(f"source of {path}", None, "unknown", tuple(found), {})] if found else []
    for use in uses:
        diagnosis = doctor(use.dataset, use.strategy, step_time, verify)
        made.append(dataclasses.replace(diagnosis, subject=f"tf.data program of {use.name} in {path}"))
    return made


def find(path, arguments=()):
    """The Uses of the script's first training call."""
    path, uses = os.path.abspath(path), []
    with _as_main(path, arguments), _hooks(path, uses), contextlib.suppress(_Reached, SystemExit):
        runpy.run_path(path, run_name="__main__")
    return uses


@contextlib.contextmanager
def _as_main(path, arguments):
    before = sys.argv, list(sys.path)
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(path))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before[0], before[1]


@contextlib.contextmanager
def _hooks(path, uses):
    """While the script runs, its training calls say what they train with and end it."""

    def reached(name, given, strategy):
        datasets = [each for each in given if isinstance(each, tf.data.Dataset)]
        if datasets:
            uses.extend(Use(name, dataset, strategy) for dataset in datasets)
            raise _Reached

    def training(name, original):
        def call(model, *given, **named):
            strategy = getattr(model, "distribute_strategy", None)
            several = strategy if getattr(strategy, "num_replicas_in_sync", 1) > 1 else None
            reached(f"{name}()", [*given[:1], *(named.get(key) for key in _DATASETS)], several)
            return original(model, *given, **named)

        return call

    def sharing(original):
        def call(strategy, dataset, *given, **named):
            reached(f"{_SHARES}()", [dataset], strategy)
            return original(strategy, dataset, *given, **named)

        return call

    def looping(original):
        def call(dataset):
            if sys._getframe(1).f_code.co_filename == path:
                reached("a loop", [dataset], None)
            return original(dataset)

        return call

    places = [(tf.keras.Model, name, training(name, getattr(tf.keras.Model, name))) for name in _TRAINS]
    places.append((tf.distribute.Strategy, _SHARES, sharing(getattr(tf.distribute.Strategy, _SHARES))))
    classes = {cls for cls in _subclasses(tf.data.Dataset) if "__iter__" in vars(cls)}
    places += [(cls, "__iter__", looping(cls.__iter__)) for cls in classes]
    with contextlib.ExitStack() as stack:
        for owner, name, hook in places:
            had = name in vars(owner)
            original = getattr(owner, name)
            setattr(owner, name, hook)
            stack.callback(setattr, owner, name, original) if had else stack.callback(delattr, owner, name)
        yield


def _subclasses(cls):
    yield cls
    for child in cls.__subclasses__():
        yield from _subclasses(child)
