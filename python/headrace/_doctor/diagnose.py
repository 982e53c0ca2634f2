"""The doctor of a headrace pipeline: measures, models, names the causes, and on request tries the fixes."""

import dataclasses
import math
import os
import statistics

from .. import arguments
from ..errors import ArgumentError
from ..findings import Diagnosis, Finding
from ..settings import available_cpus
from . import applied, causes, declared, machine, measure, model, relieved, shards, storage, strip
from .rebuild import Change, can_rebuild, has_records, rebuild, source_of, step_named
from .replay import Layout
from .subject import Subject

# From which share of a step on the accelerators wait noticeably (xprof's threshold of "moderate").
_MODERATE = 0.05
# Files that are read ahead beside the cycle are two blocks ahead, which holds all of a file this small.
_SMALL_FILE_BYTES = 1 << 20
_FILES_AHEAD = 16
_IO_THREADS = 8
_DEFAULT_DEPTH = 2
# Fixes that are tried, the best ones by the model: a second or two each.
_MOST_TRIALS = 3
# The model is fitted to what was measured: how far off it was before says this much at most about a ratio of two of its rates.
_MOST_NOISE = 0.5
# Work that comes now and then costs up to so much more than work that comes without a pause: cold caches, threads that wake up.
_IDLE_ERROR = 0.4
# Of the CPUs, what others leave changes from one measurement to the next; of all that they want, about half.
_CROWD_ERROR = 0.5


def diagnose(dataset, step_time=None, replicas=None, seconds=2.0, verify=False):
    """What Dataset.doctor() gives."""
    step_time = _positive("step_time", step_time)
    seconds = _positive("seconds", seconds)
    replicas = dataset.replicas if replicas is None else arguments.small_integer("replicas", replicas, minimum=1)
    if seconds is None:
        raise ArgumentError("seconds=None: must be a number above 0")
    if not dataset._is_batched:
        raise ArgumentError("doctor: a training takes batches; add .batch(…)")
    subject = examine(dataset, step_time or 0.0, replicas, seconds)
    findings = []
    for cause, predicted, modelled in _gains(subject, seconds):
        achieved = applied.achieved(dataset, cause, subject.model.step_time, seconds) if verify else None
        findings.append(Finding(cause.name, cause.cause, cause.evidence, cause.fix, predicted, achieved, modelled))
    timeline, timeline_s = _timeline(subject)
    facts = _facts(subject) | ({"timeline_seconds": timeline_s} if timeline else {})
    return Diagnosis(_name(dataset), subject.input_bound, _limit(subject), tuple(findings), facts, timeline)


def examine(dataset, step_time, replicas, seconds):
    """The Subject of a dataset, measured for `seconds`."""
    known = can_rebuild(dataset)
    endless = rebuild(dataset, Change(endless=True)) if known else dataset
    source = source_of(dataset) if known else {}
    looked = shards.look_at(source["files"], source.get("open")) if has_records(dataset) else None
    run = measure.run(endless, seconds)
    engine = relieved.run(endless, run, seconds) if known else run
    cores = available_cpus()
    now = model.Model(
        dataclasses.replace(_cpu_costs(engine), maps=run.costs.maps, read_io=run.costs.read_io),
        _layout(dataset, run, looked, cores, _crowd(engine, cores)),
        step_time,
        engine.consumer_cpu,
        model.spread(run.parse_times),
        model.spread(run.map_times),
    )
    backtest = now.with_step(0.0).rate()
    error = abs(backtest / run.rate - 1)
    alone = now.with_costs(maps=engine.costs.maps, read_io=engine.costs.read_io).fitted(engine.rate)
    now = now.with_layout(lateness=alone.layout.lateness)
    utilisation = min(now.utilisation(), run.rate * step_time) if step_time else None
    crowd = now.layout.crowd
    noise = math.hypot(error, run.rate_error, _IDLE_ERROR * _idle_share(engine), _CROWD_ERROR * crowd / (crowd + cores))
    return Subject(
        dataset,
        looked,
        storage.probe(looked, min(1.0, seconds)) if looked is not None else None,
        run,
        now,
        min(_MOST_NOISE, noise),
        backtest,
        engine.rate,
        cores,
        replicas,
        None if utilisation is None else utilisation < 1 - _MODERATE,
    )


def _gains(subject, seconds):
    """[(Cause, predicted Gain, what the model had foretold where that comes from a short run)], the most gainful first.

    What the model thinks worth it is tried; it is named if the trial thinks so, too.
    """
    found = [(cause, subject.gain(cause), None) for cause in [*causes.find_all(subject), *declared.find_all(subject)]]
    found = _named(subject, found)
    for place, (cause, modelled, _) in enumerate(found[:_MOST_TRIALS]):
        tried = applied.predicted(subject.dataset, cause, subject.model.step_time, seconds) if modelled else None
        if tried is not None:
            found[place] = (cause, tried, modelled)
    return _named(subject, found)


def _timeline(subject):
    """(how busy the accelerators are, of how many seconds), see Diagnosis; ((), 0.0) where their step time is not known."""
    if not subject.model.step_time:
        return (), 0.0
    steps = strip.steps(subject.run.taken, subject.model.step_time, subject.model.layout.in_flight)
    begin, end = steps[0][0], steps[-1][1]
    return strip.shares(steps, begin, end), end - begin


def _named(subject, found):
    named = [each for each in found if each[1] is None or _is_named(subject, each[1])]
    return sorted(named, key=lambda each: -each[1].ratio if each[1] else 0.0)


def _is_named(subject, predicted):
    # What the accelerators do not wait for is no cause of anything.
    return subject.input_bound is not False and subject.is_worth(predicted)


def _cpu_costs(run):
    """Costs without what threads lost to others: the probes' clocks go on while a thread that wants to run does not."""
    costs = run.costs
    part = 1 / _stretch(run)
    return measure.Costs(
        costs.read * part, costs.read_io, costs.inflate * part, costs.order * part, costs.parse * part, costs.maps
    )


def _stretch(run):
    """How many times longer than its CPU time the engine's work took, 1.0 on a machine where everything that wants to run does."""
    clocked = run.costs.pool + run.costs.order
    ours = run.cores_used / run.rate - run.map_cpu - run.consumer_cpu
    return max(1.0, clocked / ours) if ours > 0 else 1.0


def _crowd(run, cores):
    """Threads of other processes that want the CPUs that this one may use: those that ran, or that waited to."""
    ours = (run.costs.pool + run.costs.order + run.map_cpu) * run.rate + 1  # who counts them runs
    elsewhere = machine.machine_cores() - cores
    return max(0.0, max(run.foreign_cores, run.runnable - ours) - elsewhere)


def _idle_share(run):
    """Share of the time in which no worker thread had anything to do, 0 to 1."""
    return max(0.0, 1 - (run.costs.pool + run.costs.order) * run.rate)


def _layout(dataset, run, looked, cores, crowd):
    declared_depth = step_named(dataset, "prefetch_to_device") if can_rebuild(dataset) else None
    depth = (declared_depth or {}).get("depth", _DEFAULT_DEPTH)
    streams = run.threads if looked is None else _streams(dataset, run, looked)
    return Layout(cores, run.threads, streams, _IO_THREADS, depth + max(2, run.threads), crowd)


def _streams(dataset, run, looked):
    """Shards that are read side by side."""
    files = len(looked.names)
    if (step_named(dataset, "shuffle") or {}).get("buffer_size") == "global":
        return max(files, run.threads)  # each record is read by itself
    declared_cycle = step_named(dataset, "interleave")
    cycle = 1 if declared_cycle is None else declared_cycle.get("cycle_length", 16)
    small = statistics.median(looked.sizes) / run.file_bytes_per_byte <= _SMALL_FILE_BYTES
    ahead = _FILES_AHEAD if small else 0
    return max(1, min(files, cycle + ahead))


def _limit(subject):
    if subject.input_bound is False:
        return "the accelerators"
    return subject.model.limit()


def _facts(subject):
    run, costs, now = subject.run, subject.model.costs, subject.model
    facts = {
        "batches_per_second": run.rate,
        "batches_per_second_error": run.rate * run.rate_error,
        "batches_per_second_predicted": subject.backtest,
        "records_per_batch": run.rows,
        "record_bytes": run.record_bytes,
        "read_ms_per_batch": 1e3 * costs.read,
        "inflate_ms_per_batch": 1e3 * costs.inflate,
        "storage_wait_ms_per_batch": 1e3 * costs.read_io,
        "order_ms_per_batch": 1e3 * costs.order,
        "parse_ms_per_batch": 1e3 * costs.parse,
        "python_functions_ms_per_batch": 1e3 * costs.map,
        "worker_threads": run.threads,
        "cores": subject.cores,
        "cores_used": run.cores_used,
        "foreign_cores": run.foreign_cores,
        "replicas": subject.replicas,
        "compression": run.compression,
        "io": run.io,
    }
    if now.step_time:
        facts["step_ms"] = 1e3 * now.step_time
        facts["accelerator_utilisation"] = min(now.utilisation(), run.rate * now.step_time)
    if subject.shards is not None:
        facts["shards"] = len(subject.shards.names)
        facts["shard_bytes"] = subject.shards.total_bytes
        facts["largest_over_median_shard"] = subject.shards.skew
    measured = {} if subject.storage is None else {
        "page_cache_share": subject.shards.resident,
        "storage_warm_bytes_per_second": subject.storage.warm,
        "storage_cold_bytes_per_second": subject.storage.cold,
        "storage_cold_streams_bytes_per_second": subject.storage.cold_streams,
    }
    facts.update((name, value) for name, value in measured.items() if value is not None)
    return facts


def _name(dataset):
    if not can_rebuild(dataset):
        return repr(dataset)
    files = source_of(dataset)["files"]
    first, *others = files if isinstance(files, (list, tuple)) else [files]
    return os.fsdecode(first) + (f" and {len(others)} more" if others else "")


def _positive(parameter, value):
    """A number of seconds, or None."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{parameter}={value!r}: must be a number of seconds") from None
    if not 0 < number < math.inf:
        raise ArgumentError(f"{parameter}={value!r}: must be a number of seconds above 0")
    return number
