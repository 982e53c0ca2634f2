"""What is wrong with a pipeline as it is written, and with its records: nothing here depends on a clock."""

import dataclasses

from ..infer import first_records, summarise
from . import machine
from .rebuild import options_of, source_of, step_named
from .subject import Cause

_SAMPLED = 128
# Fewer unread bytes are not worth writing the data anew.
_UNREAD = 0.3
# A sorted list of shards that a buffer of less than a shard mixes: each batch is of one shard.
_MOST_MEMORY = 0.5
_BYTES_OF_TYPE = {"float32": 4.0, "int64": 3.0}  # an int64 is a varint; most are short


def uneven_batch(subject):
    """The global batch does not divide by the replicas."""
    batch = step_named(subject.dataset, "batch", "padded_batch")
    replicas = subject.replicas
    if batch is None or replicas < 2 or batch["batch_size"] % replicas == 0:
        return None
    if subject.dataset.devices and replicas == subject.dataset.replicas:
        return None  # the engine has checked it, for whatever shares were asked for
    size = batch["batch_size"]
    below, above = size - size % replicas, size - size % replicas + replicas
    return Cause(
        "uneven batch",
        f"A global batch of {size} does not divide by {replicas} replicas: shares of different sizes, or an error.",
        f"{size} = {replicas} * {size // replicas} + {size % replicas}",
        f"dataset = dataset.batch({below or above})  # {f'or {above}: ' if below else ''}batch of a replica times replicas",
    )


def small_shuffle(subject):
    """The shuffle buffer is smaller than a shard, and shards are read one after another."""
    shuffle = step_named(subject.dataset, "shuffle")
    shards, run = subject.shards, subject.run
    if shuffle is None or not isinstance(shuffle["buffer_size"], int) or len(shards.names) < 2:
        return None
    cycle = (step_named(subject.dataset, "interleave") or {"cycle_length": 1}).get("cycle_length", 16)
    records = shards.total_bytes / len(shards.names) / run.file_bytes_per_byte / max(1.0, run.record_bytes)
    if cycle > 1 or shuffle["buffer_size"] >= records:
        return None
    return Cause(
        "small shuffle",
        "Shards are read one after another, and the shuffle buffer is smaller than a shard: a batch has records of one shard.",
        f"buffer_size={shuffle['buffer_size']}; a shard has about {records:.0f} records",
        f"dataset = hr.TFRecordDataset(files).interleave(cycle_length={min(16, len(shards.names))})  # or .shuffle(\"global\")",
    )


def large_shuffle(subject):
    """The shuffle buffer takes most of the memory."""
    shuffle = step_named(subject.dataset, "shuffle")
    if shuffle is None or not isinstance(shuffle["buffer_size"], int):
        return None
    total = subject.shards.total_bytes / subject.run.file_bytes_per_byte
    taken = min(shuffle["buffer_size"] * subject.run.record_bytes, total)
    memory = machine.memory_bytes()
    if taken < _MOST_MEMORY * memory:
        return None
    return Cause(
        "large shuffle",
        "The shuffle buffer takes most of the memory of the machine, which the page cache lacks then.",
        f"{shuffle['buffer_size']} records of {subject.run.record_bytes:.0f} bytes are {taken / 1e9:.3g} GB of "
        f"{memory / 1e9:.3g} GB",
        "dataset = dataset.shuffle(\"global\", window_bytes=256 << 20)  # a full permutation in two windows of memory",
    )


def unread_features(subject):
    """Records hold features that parse() does not ask for."""
    parse = step_named(subject.dataset, "parse")
    if parse is None:
        return None
    schema = summarise(first_records(source_of(subject.dataset)["files"], _SAMPLED, **options_of(subject.dataset)))
    asked = set(_words(subject.dataset.features)) | set(subject.dataset.features)
    sizes = {summary.key: _bytes_of(summary) for summary in schema.summaries}
    unread = {key: size for key, size in sizes.items() if key not in asked}
    share = sum(unread.values()) / max(1.0, sum(sizes.values()))
    if share < _UNREAD:
        return None
    costs = subject.model.costs
    names = ", ".join(sorted(unread, key=unread.get, reverse=True)[:4]) + (", …" if len(unread) > 4 else "")
    kept = sorted(key for key in sizes if key in asked)
    return Cause(
        "unread features",
        f"Records hold {len(unread)} features that parse() does not ask for; their bytes are read, checked and left.",
        f"{names}: {100 * share:.0f} % of the bytes of the first {schema.records} records",
        f"# when the data are written the next time: only {', '.join(kept[:8])}{', …' if len(kept) > 8 else ''}\n"
        "writer.write(hr.make_example({key: values[key] for key in kept}))",
        subject.model.with_costs(
            read=costs.read * (1 - share), read_io=costs.read_io * (1 - share), inflate=costs.inflate * (1 - share)
        ),
    )


def _bytes_of(summary):
    each = summary.sizes.mean if summary.sizes is not None else max(
        _BYTES_OF_TYPE.get(str(kind).rpartition(".")[2], 0.0) for kind in summary.kinds
    )
    return summary.values.mean * each * (1 - summary.missing)


def _words(value):
    """Every str in specs: the keys that they read are among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _words(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _words(item)
    elif dataclasses.is_dataclass(value):
        yield from _words([getattr(value, field.name) for field in dataclasses.fields(value)])


def find_all(subject):
    """Every Cause that there is, in no order."""
    found = [uneven_batch(subject)]
    if subject.shards is not None:
        found += [small_shuffle(subject), large_shuffle(subject), unread_features(subject)]
    return [cause for cause in found if cause is not None]
