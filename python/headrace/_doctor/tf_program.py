"""A tf.data program as steps that can be changed, built again and written down.

Read from the dataset objects as `_accelerate.objects` reads them, with what a takeover does not ask for: parallelism,
prefetches, determinism. A dataset that is not known, and all in front of it, is the opaque source of the program.
"""

import dataclasses
from typing import Any

import tensorflow as tf

from .._accelerate.objects import READERS, kind_of, plain, unwrapped
from .._accelerate.refusal import Refused

AUTOTUNE = tf.data.AUTOTUNE
# Class as objects.kind_of has it -> (method of tf.data.Dataset, {argument: attribute}).
_METHODS = {
    "Map": ("map", {}),
    "Filter": ("filter", {}),
    "Shuffle": ("shuffle", {"buffer_size": "_buffer_size", "reshuffle_each_iteration": "_reshuffle_each_iteration"}),
    "Repeat": ("repeat", {"count": "_count"}),
    "Take": ("take", {"count": "_count"}),
    "Skip": ("skip", {"count": "_count"}),
    "Shard": ("shard", {"num_shards": "_num_shards", "index": "_index"}),
    "Batch": ("batch", {"batch_size": "_batch_size", "drop_remainder": "_drop_remainder"}),
    "PaddedBatch": ("padded_batch", {"batch_size": "_batch_size", "drop_remainder": "_drop_remainder"}),
    "Cache": ("cache", {"filename": "_filename"}),
    "Unbatch": ("unbatch", {}),
    "Prefetch": ("prefetch", {"buffer_size": "_buffer_size"}),
    "Interleave": ("interleave", {"cycle_length": "_cycle_length", "block_length": "_block_length"}),
    "FlatMap": ("flat_map", {}),
}
_FUNCTIONS = {"Map": "_map_func", "Filter": "_predicate", "Interleave": "_map_func", "FlatMap": "_map_func"}
_SILENT = ("Options", "Restructured")
_DEFAULTS = {"count": -1, "reshuffle_each_iteration": True, "filename": "", "drop_remainder": False, "block_length": 1}


@dataclasses.dataclass(frozen=True)
class Step:
    """One method call of the program.

    Attributes:
        method: as in tf.data.Dataset.
        arguments: {name: plain value}, the functions left out.
        function: TensorFlow's wrapper of the user's function, or None.
        cpu_s, wall_s: what it costs for one batch by itself, in seconds; None before they are measured.
    """

    method: str
    arguments: dict = dataclasses.field(default_factory=dict)
    function: Any = None
    cpu_s: float | None = None
    wall_s: float | None = None

    @property
    def parallel(self):
        """Calls at once: None in the thread of the consumer, -1 TensorFlow's choice."""
        return self.arguments.get("num_parallel_calls")

    def with_arguments(self, **changed):
        """The step with other arguments; None takes one away."""
        arguments = {name: value for name, value in {**self.arguments, **changed}.items() if value is not None}
        return dataclasses.replace(self, arguments=arguments)

    def apply(self, dataset):
        given = [] if self.function is None else [self.function._func]
        return getattr(dataset, self.method)(*given, **self.arguments)

    def __str__(self):
        given = [] if self.function is None else [name_of(self.function)]
        for name, value in self.arguments.items():
            if name in _DEFAULTS and _DEFAULTS[name] == value:
                continue
            if name in ("padded_shapes", "padding_values"):  # the user's own, not read as text
                given.append(f"{name}={name}")
                continue
            auto = value == AUTOTUNE and name in ("num_parallel_calls", "buffer_size")
            text = "tf.data.AUTOTUNE" if auto else repr(value)
            given.append(text if name in ("buffer_size", "batch_size", "count") else f"{name}={text}")
        return f".{self.method}({', '.join(given)})"


@dataclasses.dataclass(frozen=True)
class Function:
    """A function that the user's program does not have."""

    _func: Any


@dataclasses.dataclass(frozen=True)
class Program:
    """Where the elements come from, and the steps behind it.

    Attributes:
        source: the dataset in front of the steps: of file names, of records, or one that is not known.
        steps: tuple of Steps.
        options: the tf.data.Options of the whole.
        reader: the dataset object that opens the files, or None when it is not known.
        cpu_s, wall_s: what the source costs for one batch, in seconds; None before they are measured.
    """

    source: Any
    steps: tuple
    options: Any
    reader: Any = None
    cpu_s: float | None = None
    wall_s: float | None = None

    def dataset(self, upto=None):
        """The tf.data.Dataset again; `upto` steps of it."""
        made = self.source
        for step in self.steps[:upto]:
            made = step.apply(made)
        return made.with_options(self.options)

    def find(self, *methods):
        """Places of the steps with these methods."""
        return [place for place, step in enumerate(self.steps) if step.method in methods]

    def batch_place(self):
        """Where records become batches; the number of steps when they never do."""
        places = self.find("batch", "padded_batch")
        return places[0] if places else len(self.steps)

    def reading_place(self):
        """Where file names become records; -1 when the source gives records."""
        return -1 if self.reader is self.source else next(iter(self.find("interleave", "flat_map")), -1)

    def cycle_length(self):
        """Files that are read in turn; -1 when TensorFlow chooses."""
        place = self.reading_place()
        if place >= 0:
            return self.steps[place].arguments.get("cycle_length", 1)
        return self.parallel_reads() or 1

    def parallel_reads(self):
        """num_parallel_reads of a TFRecordDataset that is the source; None without."""
        given = getattr(self.reader, "_num_parallel_reads", None) if self.reader is self.source else None
        return None if given is None else plain(given)

    def with_step(self, place, step):
        return dataclasses.replace(self, steps=(*self.steps[:place], step, *self.steps[place + 1 :]))

    def without(self, *places):
        return dataclasses.replace(self, steps=tuple(step for at, step in enumerate(self.steps) if at not in places))

    def inserted(self, place, *steps):
        return dataclasses.replace(self, steps=(*self.steps[:place], *steps, *self.steps[place:]))

    def moved(self, start, to):
        """The step at `start` at the place `to` of the program without it."""
        return self.without(start).inserted(to, self.steps[start])

    def opened_by(self, step):
        """A program over a TFRecordDataset with that step, from file names to records, in the dataset's place."""
        step = dataclasses.replace(step, cpu_s=self.cpu_s, wall_s=self.wall_s)
        names = self.reader._filenames
        return Program(names, (step, *self.steps), self.options, None, self.cpu_s and 0.0, self.wall_s and 0.0)

    def with_options(self, **changed):
        """Options that are not None in `changed` override those of the program; `deterministic` and
        `apply_default_optimizations` are known."""
        options = tf.data.Options()
        if "deterministic" in changed:
            options.deterministic = changed["deterministic"]
        if "apply_default_optimizations" in changed:
            options.experimental_optimization.apply_default_optimizations = changed["apply_default_optimizations"]
        return dataclasses.replace(self, options=self.options.merge(options))

    def code(self):
        """The program as Python source, the user's functions by their names."""
        lines = ["dataset = (", "    " + self._head(), *("    " + str(step) for step in self.steps)]
        if self.options.deterministic is not None:
            lines = ["options = tf.data.Options()", f"options.deterministic = {self.options.deterministic}", *lines]
            lines.append("    .with_options(options)")
        return "\n".join([*lines, ")"])

    def _head(self):
        if self.reader is self.source:
            compression, reads = plain(self.reader._compression_type), self.parallel_reads()
            arguments = f", compression_type={compression!r}" if compression else ""
            arguments += f", num_parallel_reads={'tf.data.AUTOTUNE' if reads == AUTOTUNE else reads}" if reads else ""
            return f"tf.data.TFRecordDataset(files{arguments})"
        if type(self.source).__name__ == "_TensorSliceDataset":
            return "tf.data.Dataset.from_tensor_slices(files)"
        return f"source  # {type(self.source).__name__.lstrip('_')}"


def name_of(function):
    """The name under which the user's program knows the function of a step."""
    function = getattr(function, "_func", function)
    function = getattr(function, "python_function", function)
    if function in (tf.data.TFRecordDataset, getattr(tf.compat.v1.data, "TFRecordDataset", None)):
        return "tf.data.TFRecordDataset"
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else name


def read(dataset):
    """The Program of a tf.data.Dataset."""
    options, steps, reader = dataset.options(), [], None
    while True:
        dataset = unwrapped(dataset)
        kind = kind_of(dataset)
        if kind not in _SILENT:
            step = _step(dataset, kind)
            if step is None:
                break
            steps.append(step)
            reader = dataset if kind in READERS else reader
        dataset = dataset._input_dataset
    return Program(dataset, tuple(reversed(steps)), options, dataset if kind == "TFRecord" else reader)


def _step(dataset, kind):
    """The Step of one dataset, or None when it is where reading back ends."""
    if kind == "TFRecord" or (kind not in READERS and kind not in _METHODS):
        return None
    method, attributes = _METHODS.get(kind) or _METHODS["Interleave"]
    try:
        arguments = {name: plain(getattr(dataset, attribute)) for name, attribute in attributes.items()}
        if kind == "PaddedBatch":
            arguments.update(padded_shapes=dataset._padded_shapes, padding_values=dataset._padding_values)
        seed = plain(dataset._seed2) if kind == "Shuffle" else None
        arguments.update({"seed": seed} if seed else {})
        parallel = plain(getattr(dataset, "_num_parallel_calls", None))
        arguments.update({"num_parallel_calls": parallel} if parallel is not None else {})
        if getattr(dataset, "_deterministic", "default") in ("true", "false"):
            arguments["deterministic"] = dataset._deterministic == "true"
        name = _FUNCTIONS.get("Interleave" if method == "interleave" else kind)
        return Step(method, arguments, getattr(dataset, name) if name else None)
    except (AttributeError, Refused):
        return None


def can_be_built(program, spec):
    """Whether the program, built again from what was read, gives elements of that spec."""
    try:
        return program.dataset().element_spec == spec
    except (TypeError, ValueError, AttributeError, tf.errors.OpError):
        return False
