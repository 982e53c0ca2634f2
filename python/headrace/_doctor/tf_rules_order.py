"""Faults of order: what is shuffled, repeated and cached, and where."""

from . import tf_functions as functions
from .tf_rule import Fault, size

_LARGER = 1.5  # decoded bytes / record bytes
_EPOCHS_MIXED = 0.01  # of the records


def shuffle_after_batch(case):
    program = case.program
    late = [place for place in program.find("shuffle") if place > program.batch_place()]
    if not late or _unbatched(program, late[0]):
        return
    rows = case.batch_size

    def change(given):
        step = given.steps[late[0]]
        step = step.with_arguments(buffer_size=step.arguments["buffer_size"] * rows)
        return given.without(late[0]).inserted(_behind_reading(given), step)

    yield Fault(
        "shuffle after batch",
        "Whole batches change places: the records in a batch stay together in every epoch.",
        f"shuffle is step {late[0] + 1}, batch step {program.batch_place() + 1}",
        change=change,
    )


def shuffle_decoded(case):
    program = case.program
    for place in program.find("shuffle"):
        if place > program.batch_place() or not case.decodes_at(place):
            continue
        buffer, decoded = program.steps[place].arguments["buffer_size"], case.batch_bytes / (case.batch_size or 1)
        if case.shards is None or decoded < _LARGER * case.shards.record_bytes:
            continue
        yield Fault(
            "shuffle of decoded data",
            "The shuffle holds decoded elements; records are smaller, and as well shuffled.",
            f"{buffer} elements of {size(decoded)}; their records have {size(case.shards.record_bytes)}",
            change=lambda given, at=place: given.moved(at, _behind_reading(given)),
        )


def small_shuffle(case):
    program, shards = case.program, case.shards
    places = [place for place in program.find("shuffle") if program.reading_place() < place < program.batch_place()]
    if not places or shards is None or shards.records is None:
        return
    buffer = program.steps[places[0]].arguments["buffer_size"]
    cycle = program.cycle_length()
    cycle = len(shards.paths) if cycle < 1 else min(cycle, len(shards.paths))
    per_shard = shards.records / len(shards.paths)
    wanted = int(per_shard / cycle)
    if 2 * buffer <= wanted and buffer < 100_000:
        better = min(100_000, int(per_shard) + 1)
        yield Fault(
            "small shuffle",
            f"shuffle({buffer}) is smaller than a shard: records of one shard stay near each other.",
            f"{per_shard:.0f} records a shard, {cycle} of {len(shards.paths)} shards read at a time",
            change=lambda given, at=places[0]: given.with_step(at, given.steps[at].with_arguments(buffer_size=better)),
        )


def epochs_mixed(case):
    program, shards = case.program, case.shards
    repeats, shuffles = program.find("repeat"), program.find("shuffle")
    shuffles = [place for place in shuffles if place > program.reading_place()]
    if not repeats or not shuffles or repeats[0] > shuffles[0] or shards is None or not shards.records:
        return
    buffer, count = program.steps[shuffles[0]].arguments["buffer_size"], program.steps[repeats[0]].arguments["count"]
    # Of an endless repeat it is told where the buffer holds a whole epoch.
    mixed = buffer / shards.records / count if count > 0 else float(buffer >= 2 * shards.records)
    if mixed > _EPOCHS_MIXED and count != 1:
        yield Fault(
            "epochs mixed",
            "repeat stands in front of shuffle: some records come twice in an epoch, others not at all.",
            f"a buffer of {buffer} for {shards.records} records an epoch",
            change=lambda given: given.moved(repeats[0], shuffles[0]),  # behind it, for it has moved one place to the front
        )


def refill_at_epoch_edge(case):
    program = case.program
    shuffles, repeats = program.find("shuffle"), program.find("repeat")
    late = [place for place in repeats if shuffles and place > shuffles[-1] + 1 and place < program.batch_place()]
    if late:
        buffer = program.steps[shuffles[-1]].arguments["buffer_size"]
        yield Fault(
            "refill at the epoch edge",
            "shuffle and repeat are apart: at each epoch the pipeline stops until the buffer is full again.",
            f"{late[0] - shuffles[-1] - 1} steps between them; a buffer of {buffer}",
            change=lambda given: given.moved(late[0], shuffles[-1] + 1),
        )


def repeat_after_batch(case):
    program = case.program
    late = [place for place in program.find("repeat") if place > program.batch_place()]
    if late and not _unbatched(program, late[0]):
        yield Fault(
            "repeat after batch",
            "repeat stands behind batch: each epoch ends with a short or a dropped batch, and the pipeline starts anew.",
            f"batch is step {program.batch_place() + 1}, repeat step {late[0] + 1}",
            change=lambda given: given.moved(late[0], given.batch_place()),
        )


def cache_misplaced(case):
    program = case.program
    for place in program.find("cache"):
        front = program.steps[program.reading_place() + 1 : place]
        drawing = [step for step in front if functions.draws(step)]
        shuffled = [step for step in front if step.method == "shuffle"]
        behind = [step for step in program.steps[place + 1 :] if functions.decodes(step) and not functions.draws(step)]
        if drawing or shuffled:
            what = "the random numbers" if drawing else "the order of the shuffle"
            yield Fault(
                "cache misplaced",
                f"cache keeps {what} of the first epoch for all others.",
                f"cache is step {place + 1}, behind {(drawing or shuffled)[0].method}",
                change=lambda given, at=place: given.moved(at, _behind_reading(given)),
            )
        elif behind:
            yield Fault(
                "cache misplaced",
                "cache keeps the records, and they are parsed again in every epoch.",
                f"{behind[0].method} behind the cache: {case.share(behind[0]):.0%} of the CPU time of the first epoch",
                fix="dataset.map(parse).cache()  # when the decoded data fit into the memory",
            )


def order_forced(case):
    program = case.program
    steps = [step for step in program.steps if step.arguments.get("deterministic")]
    forced = program.options.deterministic is True or bool(steps)
    if forced and any(step.parallel is not None for step in program.steps):
        yield Fault(
            "order forced",
            "deterministic=True: a slow shard or element holds up all that are ready.",
            "asked for by the options" if program.options.deterministic else f"asked for by {steps[0].method}",
            change=_in_any_order,
            way="probe",
        )


def _in_any_order(given):
    steps = [step.with_arguments(deterministic=None) for step in given.steps]
    program = given
    for place, step in enumerate(steps):
        program = program.with_step(place, step)
    return program.with_options(deterministic=False)


def _behind_reading(program):
    """The place in front of the first step on records that is no repeat."""
    place = program.reading_place() + 1
    while place < len(program.steps) and program.steps[place].method in ("repeat", "shard", "take", "skip"):
        place += 1
    return place


def _unbatched(program, before):
    return any(place < before for place in program.find("unbatch"))
