"""What slows a pipeline down. Each function looks for one cause and gives a Cause, or None where there is none.

None of them asks whether the fix is worth it: that the predicted gain tells.
"""


from . import machine, trials
from .rebuild import Change, step_named
from .subject import Cause

# Seconds to inflate a byte as zstd, as src/insight/compression_finding.cc has it.
_ZSTD_SECONDS = 1.3e-9
# Seconds to get a byte more from the page cache, from there as well.
_CACHE_SECONDS = 0.3e-9
# Smaller files are worth so much of what no compression at all would save.
_ALMOST = 0.7
# Share of the time in which the storage is waited for.
_STANDING_STILL = 0.1
_DEFAULT_DEPTH = 2
_MOST_DEPTH = 32
_FULL = 0.999


def _percent(part):
    return f"{100 * part:.0f} %"


def compressed_shards(subject):
    """Inflating takes worker threads."""
    run, costs = subject.run, subject.model.costs
    if not costs.inflate:
        return None
    more_bytes = run.read_bytes * max(0.0, 1 - run.file_bytes_per_byte)
    savings = {"none": max(0.0, costs.inflate - more_bytes * _CACHE_SECONDS), "zstd": 0.0}
    if run.compression != "zstd":
        savings["zstd"] = max(0.0, costs.inflate - run.read_bytes * _ZSTD_SECONDS)
    to = "zstd" if savings["zstd"] > _ALMOST * savings["none"] else "none"
    saved = savings[to]
    share = costs.inflate / (costs.pool + costs.order + costs.map)
    return Cause(
        "compressed shards",
        f"The shards are {run.compression} files; worker threads inflate them again in each epoch, one thread a shard.",
        f"inflating takes {1e3 * costs.inflate:.3g} ms of the {1e3 * costs.pool:.3g} ms that worker threads spend on a batch "
        f"({_percent(share)} of all stages); the files are {run.file_bytes_per_byte:.2f} of their content",
        "import os\nimport headrace as hr\n\n"
        f"os.makedirs(\"{to}\", exist_ok=True)\n"
        "for path in paths:  # write the data anew, once\n"
        f"    hr.repair_file(path, os.path.join(\"{to}\", os.path.basename(path)), compression=\"{to}\")",
        subject.model.with_costs(read=costs.read - saved, inflate=costs.inflate - saved),
        trials.recompressed(to),
    )


def few_shards(subject):
    """One thread reads a shard; there are fewer shards than threads."""
    files, threads = len(subject.shards.names), subject.model.layout.threads
    side_by_side = min(threads, subject.model.layout.cores)
    if subject.model.layout.streams < files or files >= side_by_side:
        return None
    wanted = max(16, 2 * threads)
    return Cause(
        "few shards",
        f"{'One thread' if files == 1 else f'{files} threads'} at most can read {'the one shard' if files == 1 else 'the shards'}, "
        f"while {threads} worker threads are there.",
        f"{files} shard{'s' if files > 1 else ''} of {subject.shards.total_bytes / files / 1e6:.4g} MB; reading takes "
        f"{1e3 * subject.model.costs.read:.3g} ms of a thread and {1e3 * subject.model.costs.read_io:.3g} ms of waiting a batch",
        "import contextlib\nimport headrace as hr\n\n"
        f"with contextlib.ExitStack() as stack:  # {wanted} shards instead\n"
        f"    names = [f\"part-{{i:05d}}-of-{wanted:05d}.tfrecord\" for i in range({wanted})]\n"
        "    writers = [stack.enter_context(hr.TFRecordWriter(name)) for name in names]\n"
        "    records = (record for path in paths for record in hr.open_records(path))\n"
        "    for number, record in enumerate(records):\n"
        "        writers[number % len(writers)].write(record)\n"
        "# and behind TFRecordDataset(names):\n"
        f"dataset = dataset.interleave(cycle_length={wanted})",
        subject.model.with_layout(streams=wanted),
        trials.split(wanted),
    )


def sequential_reads(subject):
    """There are shards enough, but they are read one after another."""
    files, streams = len(subject.shards.names), subject.model.layout.streams
    if streams >= files:
        return None
    cycle = min(files, 16)
    if cycle <= streams:
        return None
    declared = step_named(subject.dataset, "interleave")
    how = "without interleave()" if declared is None else f"with a cycle of {streams}"
    change = Change(
        steps={"interleave": {"cycle_length": cycle}} if declared is not None else {},
        first=() if declared is not None else (("interleave", {"cycle_length": cycle, "block_length": 16}),),
    )
    return Cause(
        "sequential reads",
        f"{files} shards are read {how}: a thread for each of the {streams} that {'is' if streams == 1 else 'are'} read.",
        f"reading takes {1e3 * subject.model.costs.read:.3g} ms of a thread and {1e3 * subject.model.costs.read_io:.3g} ms of "
        "waiting a batch",
        f"dataset = hr.TFRecordDataset(files).interleave(cycle_length={cycle}, block_length=16)  # then the other steps",
        subject.model.with_layout(streams=cycle),
        trials.changed(change),
    )


def python_functions(subject):
    """A function of Python's runs on one thread."""
    costs = subject.model.costs
    for place, (name, seconds) in enumerate(costs.maps):
        rest = tuple((other, 0.0 if other == name else cost) for other, cost in costs.maps)
        yield Cause(
            "Python function",
            f"map({name}) is a Python function: batches pass through it one after another, on one thread.",
            f"{name} takes {1e3 * seconds:.3g} ms a batch; at most {1 / seconds if seconds else 0:.4g} batches a second pass",
            "# what a transform can do, the parser does on all threads (docs/guides/transforms.md); what NumPy's arithmetic\n"
            "# does, a compiled function does (docs/guides/map.md):\n"
            "import numba\n\n"
            "@numba.cfunc(\"int32(int64, voidptr)\")\n"
            f"def {name if name.isidentifier() else 'function'}(rows, columns): ...  # in place, without Python's lock",
            subject.model.with_costs(maps=rest),
            trials.changed(Change(without_functions=frozenset({place}))),
        )


def few_threads(subject):
    """num_threads or HEADRACE_THREADS leaves CPUs unused."""
    layout = subject.model.layout
    if layout.threads >= subject.cores:
        return None
    from_source = step_named(subject.dataset, "TFRecordDataset", "FileDataset") or {}
    where = "num_threads" if from_source.get("num_threads") is not None else "HEADRACE_THREADS"
    fix = "dataset = hr.TFRecordDataset(files, num_threads=None)  # all CPUs that the process may use"
    return Cause(
        "few threads",
        f"{where} allows {layout.threads} worker thread{'s' if layout.threads > 1 else ''}; the process may use "
        f"{subject.cores} CPUs.",
        f"worker threads spend {1e3 * subject.model.costs.pool:.3g} ms on a batch; {subject.run.cores_used:.2f} CPUs were used",
        fix if where == "num_threads" else "import os\n\ndel os.environ[\"HEADRACE_THREADS\"]  # before the dataset is made",
        subject.with_threads(subject.cores, subject.cores),
        trials.changed(Change(source={"num_threads": subject.cores})),
    )


def slow_storage(subject):
    """The engine waits for bytes."""
    costs, run = subject.model.costs, subject.run
    if not costs.read_io:
        return None
    speed = run.read_bytes * run.file_bytes_per_byte / costs.read_io
    streams = min(subject.model.layout.io_threads, subject.model.layout.streams)
    behind = "the function given as open=" if subject.shards.open is not None else "the storage of the shards"
    evidence = f"a batch waits {1e3 * costs.read_io:.3g} ms for bytes; one stream gives {speed / 1e6:.3g} MB/s, {streams} are used"
    if subject.storage.block_seconds is not None:
        evidence += f"; a read of 1 MiB takes {1e3 * subject.storage.block_seconds:.3g} ms"
    if subject.shards.resident is not None:
        evidence += f"; {_percent(subject.shards.resident)} of the files are in the page cache"
    fix = "import shutil\n\nfor path in paths:  # once, to a disk of this host\n    shutil.copy(path, \"/local/data\")"
    if subject.shards.open is not None:
        fix = (
            "import os\nimport shutil\n\n"
            "for path in paths:  # once, to a disk of this host; then without open=\n"
            "    with open_function(path) as source, open(os.path.join(\"/local/data\", os.path.basename(path)), \"wb\") as target:\n"
            "        shutil.copyfileobj(source, target)"
        )
    elif not subject.shards.local:
        fix = "dataset = hr.TFRecordDataset(urls, cache_bytes=500 << 30)  # later epochs come from the local disk"
    return Cause(
        "slow storage",
        f"{behind[0].upper()}{behind[1:]} gives bytes more slowly than they are used.",
        evidence,
        fix,
        subject.model.with_costs(read_io=0.0),
        trials.copied if subject.shards.open is not None else None,
    )


def memory_budget(subject):
    """memory_bytes keeps the engine from working ahead: it delivers much less than its stages could."""
    budget = (step_named(subject.dataset, "TFRecordDataset", "FileDataset") or {}).get("memory_bytes")
    costs, run = subject.model.costs, subject.run
    # Behind what stands still by itself, nobody notices.
    if budget is None or costs.map or costs.read_io * run.rate > _STANDING_STILL or subject.relieved_rate <= run.rate:
        return None
    then = subject.relieved_rate
    if subject.model.step_time:
        then = min(then, 1 / subject.model.step_time)
    return Cause(
        "memory budget",
        f"memory_bytes={budget} leaves no room to work ahead: stages wait for memory although there is work.",
        f"{run.rate:.4g} batches a second came with it, {subject.relieved_rate:.4g} without",
        f"dataset = hr.TFRecordDataset(files, memory_bytes={4 * budget})  # or None: no limit",
        trial=trials.changed(Change(source={"memory_bytes": None})),
        times=max(1.0, then / run.rate),
    )


def shallow_prefetch(subject):
    """On average the input is fast enough, but single batches are late and nothing is ready then."""
    declared = step_named(subject.dataset, "prefetch_to_device")
    model = subject.model
    if declared is None or not model.step_time:
        return None
    depth = declared.get("depth", _DEFAULT_DEPTH)
    deeper, tried = None, depth
    while tried < _MOST_DEPTH:
        tried *= 2
        deeper = model.with_layout(in_flight=model.layout.in_flight - depth + tried)
        if deeper.utilisation() >= _FULL:
            break
    if deeper is None:
        return None
    return Cause(
        "shallow prefetch",
        f"Single batches take much longer than others, and {depth} that are ready do not last so long.",
        f"the slowest of {len(subject.run.parse_times)} batches took {max(model.parse_spread):.3g} times the mean; replayed, the "
        f"accelerators compute {_percent(model.utilisation())} of the time with depth {depth}, "
        f"{_percent(deeper.utilisation())} with {tried}",
        f"dataset = dataset.prefetch_to_device(devices, depth={tried})",
        deeper,
        trials.changed(Change(steps={"prefetch_to_device": {"depth": tried}})),
        shows_by_pauses=True,
    )


def few_cores(subject):
    """All CPUs work, and it is not enough."""
    model = subject.model
    if not subject.input_bound or model.limit() not in ("cores", "worker threads"):
        return None
    costs, cores = model.costs, subject.cores
    of_machine = machine.machine_cores()
    more = 2 * cores if of_machine <= cores else of_machine
    foreign = subject.run.foreign_cores
    return Cause(
        "few cores",
        f"The process may use {cores} CPUs, and the input needs more.",
        f"a batch takes {1e3 * costs.read:.3g} ms of reading, {1e3 * costs.parse:.3g} ms of parsing and "
        f"{1e3 * (costs.order + costs.map):.3g} ms else; {subject.run.cores_used:.2f} CPUs were used, {foreign:.2f} by other "
        f"processes; the machine has {of_machine}",
        f"taskset --cpu-list 0-{more - 1} python train.py  # or ask the scheduler of the cluster for {more} CPUs"
        if of_machine > cores
        else f"# a host with {more} CPUs, or fewer bytes a record: see what each feature costs\nheadrace inspect FILES",
        subject.with_threads(more, more),
    )


def find_all(subject):
    """Every Cause that there is, in no order."""
    found = [*python_functions(subject), few_threads(subject), shallow_prefetch(subject), memory_budget(subject)]
    found.append(few_cores(subject))
    if subject.shards is not None:
        found += [compressed_shards(subject), few_shards(subject), sequential_reads(subject), slow_storage(subject)]
    return [cause for cause in found if cause is not None]
