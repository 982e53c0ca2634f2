"""Faults that cost time: what runs in one thread, in Python, record by record, or for nothing."""

import dataclasses
import time
import zlib

import tensorflow as tf

from .._accelerate.flatten import flatten
from .._accelerate.parse_ops import parsed_features
from .._accelerate.refusal import Refused
from . import tf_functions as functions
from . import tf_model as model
from .tf_program import AUTOTUNE, Function, Step, name_of
from .tf_rule import Fault, ms, size

_SHARE = 0.05  # of the CPU time: what costs less, and does not decode, is not worth a word
_TINY_BYTES, _LARGE_BYTES = 2 << 10, 8 << 10  # records: parallel readers cost more than they bring below, pay above
_BLOCK = 16  # records that are taken from a file in turn
_HUGE_BYTES = 256 << 10  # records: to parse a batch of these at once costs more than one by one
ACCELERATE = "import headrace.tensorflow\n\ndataset = headrace.tensorflow.accelerate(dataset)"


def no_prefetch(case):
    program = case.program
    last = program.steps[-1] if program.steps else None
    if last is None or last.method == "prefetch" or any(early_prefetch(case)):
        return
    runs = model.as_run(program)
    healed = "; TensorFlow's default rewrites add one while it runs" if len(runs.steps) > len(program.steps) else ""
    evidence = f"the last step is {last.method}; a batch takes {ms(case.base.wall_s)}{healed}"
    step = Step("prefetch", {"buffer_size": AUTOTUNE}, None, 0.0, 0.0)
    yield Fault(
        "no prefetch",
        "The next batch is made while the accelerators wait, not while they work.",
        evidence,
        change=lambda given: given.inserted(len(given.steps), step),
        way="model",
    )


def early_prefetch(case):
    """A prefetch that is not last: the steps behind it run while the accelerators wait."""
    places = case.program.find("prefetch")
    behind = case.program.steps[places[-1] + 1 :] if places else ()
    if any(_matters(case, step) for step in behind):
        names = ", ".join(step.method for step in behind)
        yield Fault(
            "early prefetch",
            "prefetch stands in front of steps that then run while the accelerators wait.",
            f"behind it: {names}, {ms(sum(step.cpu_s or 0.0 for step in behind))} a batch",
            change=lambda given: given.moved(places[-1], len(given.steps) - 1),
            way="model",
        )


def sequential_map(case):
    for place in case.program.find("map"):
        step = case.program.steps[place]
        if step.parallel not in (None, 1) or functions.is_python(step) or not _matters(case, step):
            continue
        healed = model.as_run(case.program).steps[place].parallel != step.parallel
        yield Fault(
            "sequential map",
            f"map({_name(step)}) runs in one thread, one element after another.",
            f"{ms(step.cpu_s or 0.0)} of CPU a batch, {case.share(step):.0%} of the program; {case.cores:.2g} cores are free"
            + ("; TensorFlow's default rewrites make it parallel while it runs" if healed else ""),
            change=lambda given, at=place: given.with_step(at, given.steps[at].with_arguments(num_parallel_calls=AUTOTUNE)),
            way="model",
        )


def fixed_parallelism(case):
    for place, step in enumerate(case.program.steps):
        calls = step.parallel
        if calls in (None, 1, AUTOTUNE) or step.method not in ("map", "interleave"):
            continue
        few = calls * 2 <= case.cores and case.share(step) >= _SHARE
        if few or calls > 2 * max(case.cores, 8):
            yield Fault(
                "fixed parallelism",
                f"num_parallel_calls={calls} of {step.method} does not fit this machine.",
                f"{case.cores:.3g} cores are free",
                change=lambda given, at=place: given.with_step(at, given.steps[at].with_arguments(num_parallel_calls=AUTOTUNE)),
                way="model",
            )


def sequential_read(case):
    shards, program = case.shards, case.program
    if shards is None or len(shards.paths) < 2 or shards.compression or _reads_in_parallel(program):
        return
    if shards.record_bytes < _LARGE_BYTES:
        return
    width = min(16, len(shards.paths))
    arguments = {"cycle_length": width, "block_length": _BLOCK, "num_parallel_calls": AUTOTUNE}
    reads = Step("interleave", arguments, Function(tf.data.TFRecordDataset))

    def change(given):
        place = given.reading_place()
        if place >= 0:
            step = given.steps[place]
            # One that reads several files in turn keeps its order.
            changed = arguments if step.arguments.get("cycle_length", 1) == 1 else {"num_parallel_calls": AUTOTUNE}
            return given.with_step(place, dataclasses.replace(step.with_arguments(**changed), method="interleave"))
        return given.opened_by(reads)

    yield Fault(
        "sequential read",
        f"{len(shards.paths)} files are read one after another by one thread.",
        f"records of {size(shards.record_bytes)}; reading takes {ms(_read_s(program))} a batch",
        change=change,
        way="probe",  # records are handed over one by one: where the files are in memory, that may cost more than it gives
    )


def tiny_records(case):
    shards, program = case.shards, case.program
    place = program.reading_place()
    if shards is None or shards.record_bytes >= _TINY_BYTES or not _reads_in_parallel(program):
        return
    if place >= 0 and program.steps[place].arguments.get("block_length", 1) >= 16:
        return

    def change(given):
        return given.with_step(place, given.steps[place].with_arguments(block_length=64))

    yield Fault(
        "tiny records",
        "Parallel readers hand over tiny records one by one, which costs more than reading them.",
        f"records of {size(shards.record_bytes)}; reading takes {ms(_read_s(program))} a batch",
        fix="tf.data.TFRecordDataset(files)  # one reader, or interleave(..., block_length=64)",
        change=change if place >= 0 else None,
        way="probe" if place >= 0 else "accelerate",
    )


def compressed(case):
    shards = case.shards
    if shards is None or not shards.compression or _reads_in_parallel(case.program):
        return
    rows = case.batch_size or 1
    inflate_s = _inflate_s(shards.sample) * rows
    yield Fault(
        "compressed",
        f"{shards.compression} files are inflated by the one thread that reads them.",
        f"inflating takes about {ms(inflate_s)} a batch, reading as a whole {ms(_read_s(case.program))}",
        fix=f"files.interleave(lambda file: tf.data.TFRecordDataset(file, {shards.compression!r}),\n"
        "                 cycle_length=16, num_parallel_calls=tf.data.AUTOTUNE)\n"
        "# or write the shards without compression, when they hold images or floats",
    )


def parse_before_batch(case):
    parsing = [step for step in case.record_steps() if functions.parses(step)]
    is_huge = case.shards is not None and case.shards.record_bytes >= _HUGE_BYTES
    if not parsing or is_huge or case.program.batch_place() == len(case.program.steps):
        return
    yield Fault(
        "parse before batch",
        f"{_name(parsing[0])} parses record by record; one parse of a whole batch does the same work for less.",
        f"{ms(sum(step.cpu_s or 0 for step in parsing))} of CPU a batch, {sum(map(case.share, parsing)):.0%} of the program",
        fix=".batch(batch_size)  # of records\n"
        ".map(lambda records: tf.io.parse_example(records, features), num_parallel_calls=tf.data.AUTOTUNE)\n"
        "# or, with everything as it is:\n" + ACCELERATE,
        way="accelerate",
    )


def batched_parse(case):
    """The other way round: a parse of a batch copies what is large once more, into memory that is new."""
    program, shards = case.program, case.shards
    batch = program.batch_place()
    behind = [step for step in program.steps[batch + 1 :] if functions.parses(step)]
    if behind and shards is not None and shards.record_bytes >= _HUGE_BYTES:
        yield Fault(
            "batched parse of huge records",
            f"{_name(behind[0])} parses batches of records so large that one by one costs less.",
            f"records of {size(shards.record_bytes)}; {ms(behind[0].cpu_s or 0)} of CPU a batch",
            fix=".map(lambda record: tf.io.parse_single_example(record, features), num_parallel_calls=tf.data.AUTOTUNE)\n"
            ".batch(batch_size)\n# or, with everything as it is:\n" + ACCELERATE,
            way="accelerate",
        )


def nested_tensor(case):
    found = [step for step in case.program.steps if "ParseTensor" in functions.ops_of(step)]
    if found:
        yield Fault(
            "nested tensor",
            "Features hold serialized tensors, which tf.io.parse_tensor can only decode one by one.",
            f"{_name(found[0])}: {ms(found[0].cpu_s or 0)} of CPU a batch, {case.share(found[0]):.0%} of the program",
            fix='tf.io.decode_proto(rows["image"], "tensorflow.TensorProto", ["tensor_content"], [tf.string],\n'
            '                   descriptor_source="local://")  # then tf.io.decode_raw: a batch at once\n'
            "# or, with everything as it is:\n" + ACCELERATE,
            way="accelerate",
        )


def python_in_loop(case):
    found = [step for step in case.program.steps if functions.is_python(step)]
    source = type(case.program.source).__name__
    where = _name(found[0]) if found else source.lstrip("_")
    if found or functions.source_is_python(case.program.source):
        cost = f"{ms(model.service_s(found[0]))} a batch; " if found and found[0].cpu_s is not None else ""
        yield Fault(
            "python in loop",
            f"{where} calls Python for every element, which one thread at a time can do.",
            f"{cost}Python's lock is shared with the training loop",
            fix="Write the function with TensorFlow ops, or do its work once, when the records are written.",
        )


def wasted_features(case):
    used = _parsed_keys(case)
    if case.shards is None or not used:
        return
    weights = {summary.key: _value_bytes(summary) for summary in case.schema.summaries}
    total, wasted = sum(weights.values()), {key: count for key, count in weights.items() if key not in used}
    if total and sum(wasted.values()) >= 0.2 * total:
        yield Fault(
            "wasted features",
            "The records hold features that the program never parses, but reads and checks.",
            f"{', '.join(sorted(wasted))}: {sum(wasted.values()) / total:.0%} of the bytes",
            fix="Write the shards again without them, or keep them in shards of their own.",
        )


def _matters(case, step):
    """Whether the step is worth a word."""
    return functions.decodes(step) or case.share(step) >= _SHARE


def _name(step):
    return name_of(step.function)


def _reads_in_parallel(program):
    """Whether several files are read at once."""
    place = program.reading_place()
    if place >= 0:
        step = program.steps[place]
        return step.parallel not in (None, 1) and step.arguments.get("cycle_length") != 1
    return program.parallel_reads() not in (None, 1)


def _read_s(program):
    place = program.reading_place()
    return (program.cpu_s if place < 0 else program.steps[place].cpu_s) or 0.0


def _inflate_s(sample):
    """Seconds to inflate one record."""
    packed = zlib.compress(b"".join(sample), 6)
    begin = time.thread_time()
    zlib.decompress(packed)
    return (time.thread_time() - begin) / len(sample)


def _parsed_keys(case):
    """Keys of the features that any step parses; empty when they cannot be told."""
    keys = set()
    for step in case.program.steps:
        if functions.parses(step):
            try:
                keys |= {feature.key for feature in parsed_features(flatten(step.function.function))[0]}
            except (Refused, KeyError, AttributeError):
                return set()
    return keys


def _value_bytes(summary):
    each = summary.sizes.mean if summary.sizes is not None else 4
    return (1 - summary.missing) * summary.values.mean * each
