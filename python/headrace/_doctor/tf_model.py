"""How long a tf.data program takes for a batch, from what its steps cost: the slowest thread, or all CPU time on all cores.

A program is cut where one thread hands over to others: at a parallel map or interleave, and at a prefetch. Each part takes
what its steps cost one after another, a parallel step its cost by its parallelism; the parts run at once.
"""

import dataclasses

from . import tf_functions as functions
from .tf_program import AUTOTUNE, Program, Step

_WAITS = 3.0  # a step whose wall time is more than this many times its CPU time waits, for a disk, a lock or a sleep


@dataclasses.dataclass(frozen=True)
class Part:
    """Steps that one thread, or one pool, does: `seconds` for a batch, `name` of the costliest of them."""

    name: str
    seconds: float


def service_s(thing):
    """What a step or source takes of its thread for a batch, in seconds: its CPU time, or its wall time when it waits."""
    return thing.wall_s if thing.wall_s > _WAITS * thing.cpu_s else thing.cpu_s


def cpu_s(program):
    """CPU time of a batch, in seconds."""
    return sum(each.cpu_s for each in _working(program))


def period_s(program, cores, step_s=0.0):
    """Seconds from one batch to the next for a consumer that needs `step_s` for each."""
    *parts, last = parts_of(program, cores)
    return max([cpu_s(program) / cores, step_s + last.seconds, *(part.seconds for part in parts)])


def limit(program, cores):
    """What limits the program: its costliest part, or the cores."""
    slowest = max(parts_of(program, cores), key=lambda part: part.seconds)
    return "cores" if cpu_s(program) / cores >= slowest.seconds else slowest.name


def parts_of(program, cores):
    """The Parts, the consumer's own as the last."""
    program = as_run(program)
    parts, steps = [], [Step("source", cpu_s=program.cpu_s, wall_s=program.wall_s)]
    if program.parallel_reads() not in (None, 1):
        parts, steps = [Part("source", service_s(program) / cores)], []
    is_fused = False  # TensorFlow makes one parallel step of a parallel map and the batch behind it
    for place, step in enumerate(program.steps):
        if step.method == "cache":  # from the second epoch on, nothing in front of it runs
            parts, steps, is_fused = [], [], False
        elif step.method == "prefetch":
            parts, steps, is_fused = [*parts, _part(steps)], [], False
        elif step.parallel is not None and step.method != "batch":
            # The elements it takes are made in its own thread.
            parts += [_part(steps)] if steps else []
            parts.append(Part(step.method, service_s(step) / _width(program, place, cores)))
            steps, is_fused = [], step.method == "map" and _rewrites(program)
        elif step.method == "batch" and is_fused:
            parts.append(Part("batch", service_s(step) / cores))
            steps, is_fused = [], False
        else:
            steps, is_fused = [*steps, step], False
    return [*parts, _part(steps)]


def as_run(program: Program):
    """The program with what TensorFlow's default rewrites change: stateless maps in parallel, a prefetch at the end."""
    if not _rewrites(program):
        return program
    given = program.options.experimental_optimization
    if given.map_parallelization is not False:
        for place in program.find("map"):
            step = program.steps[place]
            if step.parallel is None and not functions.is_stateful(step):
                program = program.with_step(place, step.with_arguments(num_parallel_calls=AUTOTUNE))
    last = program.steps[-1] if program.steps else None
    if given.inject_prefetch is not False and last is not None and last.method in ("map", "batch", "padded_batch", "filter"):
        program = program.inserted(len(program.steps), Step("prefetch", {"buffer_size": AUTOTUNE}, None, 0.0, 0.0))
    return program


def _rewrites(program):
    options = program.options
    return options.experimental_optimization.apply_default_optimizations is not False and options.autotune.enabled is not False


def _working(program):
    """The source and the steps that run in every epoch."""
    caches = program.find("cache")
    return program.steps[caches[-1] + 1 :] if caches else [program, *program.steps]


def _part(steps):
    if not steps:
        return Part("hand-over", 0.0)
    return Part(max(steps, key=service_s).method, sum(map(service_s, steps)))


def _width(program, place, cores):
    """How many calls of a parallel step run at once."""
    step = program.steps[place]
    if functions.is_python(step):  # one holds Python's lock
        return 1
    width = cores if step.parallel == AUTOTUNE else step.parallel
    cycle = step.arguments.get("cycle_length") or AUTOTUNE
    width = min(width, cycle) if step.method == "interleave" and cycle > 0 else width
    # What only waits is not bound to the cores.
    return max(1, width if service_s(step) > step.cpu_s else min(width, cores))
