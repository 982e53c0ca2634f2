"""What a profile of a training run says about its input: how long the devices were idle for it, and which stage made them."""

import os
import statistics
from pathlib import Path

from .. import findings
from . import profile_chrome, profile_xspace, strip
from .profile_timeline import gaps, length, overlap, union, within

_MODERATE, _HIGH = 0.05, 0.20  # share of the time, as xprof calls it
_LAUNCH = 0.15  # share of the time that a device is idle for other reasons, from which it is worth a word
_PARALLEL = ("ParallelMap", "ParallelInterleave", "MapAndBatch", "ParallelBatch")
_WAITING = ("Root", "Prefetch", "MapAndBatch", "ParallelMap", "ParallelInterleave", "Model", "MaxIntraOpParallelism")
_INTERLEAVE = "files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)"
_FIXES = {
    "Map": ("One thread maps.", "dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)"),
    "Shuffle": ("One thread reads for the shuffle.", _INTERLEAVE),
    "TFRecord": ("One thread reads.", _INTERLEAVE),
    "Batch": ("One thread copies elements into batches.", "dataset.batch(batch_size).map(parse_example)  # batch before parse"),
    "Generator": ("Python makes the elements.", "Write the data as TFRecords, and read them with tf.data or headrace."),
}
_ACCELERATE = "import headrace.tensorflow\n\ndataset = headrace.tensorflow.accelerate(dataset)"
_THREADS = 'os.environ["TF_GPU_THREAD_MODE"] = "gpu_private"  # before TensorFlow is imported'


def profile(path):
    """The Diagnosis of a profile.

    Args:
        path: a TensorBoard log directory, a run in it, an .xplane.pb file, or a trace of torch.profiler (.json, .json.gz).
            Of a directory the newest run is read.

    Raises:
        FileNotFoundError: there is no profile.
        ValueError: a file that is none, or has neither a device nor a training step.
    """
    files = _files(Path(path))
    timelines = [_reader(file).read(file) for file in files]
    idle = [share for timeline in timelines for share in _shares(timeline)]
    waiting, other = (max(share[k] for share in idle) for k in range(2))
    stages = _stages(timelines)
    found = []
    if waiting >= _MODERATE:
        found.append(_starved(timelines, waiting, stages))
    if other >= _LAUNCH and waiting < other and any(timeline.devices for timeline in timelines):
        found.append(_late_launches(other, waiting))
    bound = waiting >= _MODERATE
    limit = (_slowest(stages) or "input") if bound else "launches" if found else "accelerators"
    busy, begin, end = _laziest(timelines)
    facts = _facts(timelines, idle, stages) | {"timeline_seconds": (end - begin) / 1e9}
    return findings.Diagnosis(f"profile {files[0].parent}", bound, limit, tuple(found), facts, strip.shares(busy, begin, end))


def _files(path):
    if path.is_file():
        return [path]
    for pattern in ("*.xplane.pb", "*.json", "*.json.gz"):
        found = sorted(path.rglob(pattern), key=lambda file: (os.path.getmtime(file.parent), file))
        if found:
            return [file for file in found if file.parent == found[-1].parent]
    raise FileNotFoundError(2, "no profile (.xplane.pb, .json, .json.gz)", str(path))


def _reader(file):
    return profile_xspace if file.name.endswith(".pb") else profile_chrome


def _shares(timeline):
    """Per device (idle because of the input, idle for other reasons), shares of the time; of a CPU run, of the steps."""
    begin, end = timeline.window()
    if not timeline.devices:
        # A step that holds no wait has it in front.
        waits = within(timeline.waits, begin, end)
        return [(length(waits) / (end - begin), 0.0)]
    shares = []
    for busy in timeline.devices.values():
        idle = gaps(busy, begin, end)
        waiting = length(overlap(idle, timeline.waits))
        shares.append((waiting / (end - begin), (length(idle) - waiting) / (end - begin)))
    return shares


def _laziest(timelines):
    """(when the device that works least works, begin, end); of a CPU run, when its loop does not wait."""
    lines = []
    for timeline in timelines:
        begin, end = timeline.window()
        devices = list(timeline.devices.values()) or [gaps(timeline.waits, begin, end)]
        lines += [(within(busy, begin, end), begin, end) for busy in devices]
    return min(lines, key=lambda line: length(line[0]) / (line[2] - line[1]))


def _stages(timelines):
    """[(name, calls, busy ns, mean share of the buffer that was full or None)], the busiest first."""
    merged = {}
    for timeline in timelines:
        for name, stage in timeline.stages.items():
            calls, busy, buffered = merged.get(name, (0, 0, []))
            merged[name] = (calls + stage.calls, busy + stage.busy_ns, buffered + stage.buffered)
    rows = [(name, calls, busy, statistics.fmean(full) if full else None) for name, (calls, busy, full) in merged.items()]
    return sorted(rows, key=lambda row: -row[2])


def _slowest(stages):
    """The stage that works most; those that wait for others in their calls do not count."""
    return next((name for name, *_ in stages if not name.startswith(_WAITING)), None)


def _starved(timelines, share, stages):
    slowest = _slowest(stages)
    why, fix = _FIXES.get(_plain(slowest), ("", "")) if slowest else ("", "")
    names = [name for name, *_ in stages]
    if stages and "Prefetch" not in names:
        why, fix = "Nothing is made ahead: the program has no prefetch.", "dataset = dataset.prefetch(tf.data.AUTOTUNE)"
    elif slowest is None or any(name.startswith(_PARALLEL) for name in names):
        why, fix = why or "The functions of the input take all the time they get.", _ACCELERATE
    # Without the waits the rest of the time is left.
    parts = [value for timeline in timelines for value in _halves(timeline)]
    error = (max(parts) - min(parts)) / 2 / (1 - share) ** 2
    waits = sum(length(within(timeline.waits, *timeline.window())) for timeline in timelines)
    evidence = f"idle because of input: {share:.1%} of the time ({'high' if share >= _HIGH else 'moderate'}); "
    evidence += f"waits for batches: {waits / 1e6:.4g} ms"
    evidence += f"; busiest stage: {slowest}" if slowest else ""
    gain = findings.Gain(1 / (1 - share), max(error, 0.02))
    cause = f"The training loop waits for its batches. {why}".strip()
    return findings.Finding("input starves the accelerators", cause, evidence, fix, gain)


def _plain(stage):
    """Stage as tf.data names it, without its version: BatchV2, GeneratorDataset."""
    return stage.removeprefix("Padded").rstrip("0123456789").removesuffix("V")


def _halves(timeline):
    """The share of the waits in each half of the time."""
    begin, end = timeline.window()
    middle = (begin + end) // 2
    idle = timeline.waits if not timeline.devices else _idle_for_input(timeline, begin, end)
    return [length(within(idle, *half)) / max(1, half[1] - half[0]) for half in ((begin, middle), (middle, end))]


def _idle_for_input(timeline, begin, end):
    worst = max(timeline.devices.values(), key=lambda busy: length(overlap(gaps(busy, begin, end), timeline.waits)))
    return union(overlap(gaps(worst, begin, end), timeline.waits))


def _late_launches(other, waiting):
    return findings.Finding(
        "late launches",
        "The accelerators are idle while batches are ready: their kernels are launched late, or there is too little to do.",
        f"idle for other reasons: {other:.1%} of the time; because of input: {waiting:.1%}",
        _THREADS + "\n# or a larger batch, jit_compile=True, steps_per_execution > 1",
    )


def _facts(timelines, idle, stages):
    facts = {"devices": sum(len(timeline.devices) for timeline in timelines)}
    steps = [end - begin for timeline in timelines for begin, end in timeline.steps]
    if steps:
        facts |= {"steps": len(steps), "step_median_ms": statistics.median(steps) / 1e6}
    facts["idle_because_of_input_percent"] = 100 * max(share[0] for share in idle)
    facts["idle_for_other_reasons_percent"] = 100 * max(share[1] for share in idle)
    for name, calls, busy, full in stages[:12]:
        facts[f"{name}_calls"], facts[f"{name}_busy_ms"] = calls, busy / 1e6
        if full is not None:
            facts[f"{name}_buffer_full_percent"] = 100 * full
    return facts
