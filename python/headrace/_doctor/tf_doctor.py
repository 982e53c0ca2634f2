"""doctor(): a tf.data program, diagnosed.

`tf_program` reads the program, `tf_measure` runs it and tells its steps apart, `tf_model` says from their costs how long a
batch takes, the rules (`tf_rules_speed`, `…_order`, `…_memory`, `…_devices`) find faults, `tf_gain` tells what each fix
gains.
"""

import dataclasses
import difflib

import tensorflow as tf

from .. import findings
from ..errors import ArgumentError
from . import strip
from . import tf_measure as measure
from . import tf_model as model
from . import tf_rules_devices as devices
from . import tf_rules_memory as memory
from . import tf_rules_order as order
from . import tf_rules_speed as speed
from . import tf_rules_tail as tail
from .tf_case import Case
from .tf_gain import Gains
from .tf_program import can_be_built, read
from .tf_rule import Fault

_SPEED = (
    *(speed.no_prefetch, speed.early_prefetch, speed.sequential_map, speed.fixed_parallelism, speed.sequential_read),
    *(speed.tiny_records, speed.compressed, speed.parse_before_batch, speed.batched_parse, speed.nested_tensor),
    *(
        speed.python_in_loop,
        memory.fresh_memory,
        speed.wasted_features,
        order.order_forced,
        devices.skewed_shards,
        devices.few_shards,
        devices.gpu_threads,
    ),
)
_RIGHT = (
    *(order.shuffle_after_batch, order.shuffle_decoded, order.small_shuffle, order.epochs_mixed),
    *(order.refill_at_epoch_edge, order.repeat_after_batch, order.cache_misplaced),
    *(memory.huge_shuffle, memory.huge_prefetch),
    *(devices.remainder, devices.device_prefetch_under_strategy, devices.auto_shard, devices.unwanted_variables),
    tail.slow_tail,
)
_MODERATE = 1.05  # input / step: below, the accelerators hardly wait
_WORTH_IT = 1.5  # accelerate() is proposed by itself for at least this gain
_RUN_S = 1.0
_PREFETCHED = 2  # batches ahead of a step that a prefetch holds at first, where tf.data chooses


@dataclasses.dataclass(frozen=True)
class TfDiagnosis(findings.Diagnosis):
    """A Diagnosis of a tf.data program.

    Attributes:
        program: the corrected tf.data program, Python source in which the user's functions stand by name; "" without fixes.
        takeover: what accelerate() makes of it: what moves, what stays, what was checked, or why it is left as it is; "" where
            there is nothing to gain.
        equivalent: the same as a headrace program, Python source; "" where accelerate() does not take it over.
    """

    program: str = ""
    takeover: str = ""
    equivalent: str = ""

    def __str__(self):
        parts = [super().__str__()]
        parts += ["the corrected program:\n" + _indented(self.program)] if self.program else []
        parts += ["accelerate(dataset):\n" + _indented(self.takeover)] if self.takeover else []
        parts += ["the same with headrace:\n" + _indented(self.equivalent)] if self.equivalent else []
        return "\n".join(parts)


def doctor(dataset, strategy, step_time, verify):
    """See headrace.tensorflow.doctor."""
    if not isinstance(dataset, tf.data.Dataset):
        raise ArgumentError(f"dataset={dataset!r}: must be a tf.data.Dataset")
    if step_time is not None and not step_time > 0:
        raise ArgumentError(f"step_time={step_time!r}: must be seconds > 0")
    case = _case(dataset, strategy, step_time or 0.0)
    gains = Gains(case, dataset)
    bound = None if step_time is None else _is_input_bound(case) or any(tail.slow_tail(case))
    rules = _RIGHT if bound is False else _RIGHT + _SPEED
    faults = [fault for rule in rules for fault in rule(case)]
    if bound is not False and not any(fault.way == "accelerate" for fault in faults):
        faults += _proposal(gains)
    predicted = [(fault, gains.predicted(fault)) for fault in faults]
    # What would make this program slower on this machine, without a doubt, is no fault of it.
    rejected = {fault.name for fault, gain in predicted if fault.way == "probe" and gain and gain.ratio + 2 * gain.error < 1}
    found = [_finding(case, gains, fault, gain, verify) for fault, gain in predicted if fault.name not in rejected]
    found.sort(key=lambda finding: -finding.predicted.ratio if finding.predicted else 0.0)
    corrected = _corrected(case, rules, rejected, dataset.element_spec)
    limit = model.limit(case.program, case.cores) if case.is_known else "unknown"
    timeline, timeline_s = _timeline(case)
    facts = _facts(case, gains if bound is not False else None) | ({"timeline_seconds": timeline_s} if timeline else {})
    asks = bool(found) and bound is not False
    return TfDiagnosis(
        "tf.data program",
        bound,
        "accelerators" if bound is False else limit,
        tuple(found),
        facts,
        timeline,
        corrected.code() if corrected is not case.program else "",
        gains.account if asks else "",
        gains.taken.takeover.source if asks and gains.taken is not None else "",
    )


def _case(dataset, strategy, step_s):
    program = read(dataset)
    base = measure.run(dataset, _RUN_S, warm_s=_RUN_S / 4)
    is_known = can_be_built(program, dataset.element_spec) and not program.find("unbatch")
    if is_known:
        program = measure.with_costs(program)
    devices = [] if strategy is None else list(strategy.extended.worker_devices)
    return Case(
        program,
        base,
        dataset.element_spec,
        replicas=1 if strategy is None else strategy.num_replicas_in_sync,
        workers=1 if strategy is None else max(1, strategy.num_replicas_in_sync // max(1, len(devices))),
        has_strategy=strategy is not None,
        gpus=any("GPU" in device.upper() for device in devices),
        cores=base.free_cores,
        step_s=step_s,
    )


def _is_input_bound(case):
    """Whether a training step waits for its batch."""
    period = max(case.step_s, case.base.wall_s) if _has_prefetch(case) else case.step_s + case.base.wall_s
    return period > _MODERATE * case.step_s


def _has_prefetch(case):
    return any(step.method == "prefetch" for step in model.as_run(case.program).steps[-1:])


def _timeline(case):
    """(how busy the accelerators are, of how many seconds), see Diagnosis; ((), 0.0) where their step time is not known."""
    if not case.step_s:
        return (), 0.0
    steps = strip.steps(case.base.taken, case.step_s, _PREFETCHED if _has_prefetch(case) else 0)
    begin, end = steps[0][0], steps[-1][1]
    return strip.shares(steps, begin, end), end - begin


def _proposal(gains):
    """accelerate(), for itself, where it is worth a line."""
    gain = gains.accelerated
    if gain is not None and gain.resolved and gain.ratio >= _WORTH_IT:
        yield Fault(
            "accelerate",
            "headrace reads, orders, batches and parses the records of this program in less time.",
            gains.taken.takeover.check,
            fix=speed.ACCELERATE,
            way="accelerate",
        )


def _finding(case, gains, fault, predicted, verify):
    fix = fault.fix or _changed_lines(case.program.code(), fault.change(case.program).code())
    achieved = gains.achieved(fault) if verify else None
    if achieved is not None:
        resolved = "" if achieved.resolved else " (not resolved)"
        print(f"{fault.name}: predicted {predicted}, achieved {achieved}{resolved}")
    return findings.Finding(fault.name, fault.cause, fault.evidence, fix, predicted, achieved)


def _changed_lines(before, after):
    """The program after a change, the lines that are new there marked."""
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in " +"]
    return "\n".join(line[2:] + ("  # changed" if line[0] == "+" else "") for line in lines)


def _corrected(case, rules, rejected, spec):
    """The Program with every change that the rules ask for, one after another."""
    done = set()
    for _ in range(2 * len(rules)):
        faults = (fault for rule in rules for fault in rule(case))
        wanted = (fault for fault in faults if fault.change is not None and fault.name not in rejected)
        fault = next((fault for fault in wanted if fault.evidence not in done), None)
        if fault is None:
            break
        done.add(fault.evidence)
        mended = fault.change(case.program)
        if can_be_built(mended, spec) or fault.name in ("batch not divisible", "remainder"):  # these change the spec
            case = dataclasses.replace(case, program=mended)
    return case.program


def _facts(case, gains):
    facts = {"batch_wall_ms": case.base.wall_s * 1e3, "batch_cpu_ms": case.base.cpu_s * 1e3, "free_cores": case.cores}
    if case.step_s:
        facts["step_ms"] = case.step_s * 1e3
    if case.is_known:
        facts["batch_modelled_ms"] = model.period_s(case.program, case.cores, case.step_s) * 1e3
        facts["source_cpu_ms"] = case.program.cpu_s * 1e3
        for number, step in enumerate(case.program.steps, 1):
            facts[f"step_{number}_{step.method}_cpu_ms"] = step.cpu_s * 1e3
    if case.shards is not None:
        facts |= {"shards": len(case.shards.paths), "record_bytes": case.shards.record_bytes}
    if gains is not None:
        facts["accelerate"] = gains.refusal or "taken over"
    return facts


def _indented(text):
    return "\n".join("    " + line for line in text.splitlines())
