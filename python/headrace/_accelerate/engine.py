"""A Plan as a headrace dataset, and as the Python source that makes it."""

import random

from .. import combine, sources, spec_text
from .chain import Files
from .refusal import Refused

_COMPRESSIONS = {"": "none", "GZIP": "gzip", "ZLIB": "zlib"}
_DEFAULT_CYCLE = 16
_UNLIMITED = 1 << 62


class Engine:
    """Makes the dataset of a Plan. `seed` stands for the seeds that the program does not give."""

    def __init__(self, plan, seed, num_threads=None):
        self._plan = plan
        self._seed = seed
        self._num_threads = num_threads

    def dataset(self):
        """The headrace Dataset of parsed batches."""
        plan = self._plan
        dataset = _applied(self._records(plan.chain), [_step(stage) for stage in (plan.batch, *plan.on_batches)])
        return self._parsed(dataset)

    def _features(self, in_lists):
        columns = self._plan.split.columns
        return {column.name: column.spec() for column in columns if column.parsed.in_list == in_lists}

    def _parsed(self, dataset):
        if self._plan.split.columns[0].parsed.in_sequence_example:
            return dataset.parse_sequence(self._features(False), self._features(True))
        return dataset.parse(self._features(False))

    def first_records(self, count):
        """The same records in the order of the files, parsed as one batch and as they are: two Datasets."""
        records = self._records(self._plan.chain, in_order=True).take(count).batch(count)
        return self._parsed(records), records

    def source(self, form):
        """Python source that makes the same elements; `form` is what dataset() is told about them, as source."""
        plan = self._plan
        steps = "".join(f"\n    .{_call(step)}" for step in self._written_steps())
        text = spec_text.to_code(self._features(False))
        text = text.replace("import headrace as hr\n", "import headrace as hr\nimport headrace.tensorflow\n", 1)
        parse = "parse(features)"
        if plan.split.columns[0].parsed.in_sequence_example:
            lists = spec_text.to_code(self._features(True)).partition("features = ")[2]
            text, parse = text + f"lists = {lists}", "parse_sequence(features, lists)"
        text += f"\npipeline = (\n    {self._written(plan.chain)}{steps}\n    .{parse}\n)\n"
        return text + f"dataset = headrace.tensorflow.dataset(pipeline, {form})\n"

    def _written_steps(self):
        return [_step(stage) for stage in (self._plan.batch, *self._plan.on_batches)]

    def _written(self, chain):
        calls = "".join(f"\n    .{_call(step)}" for step in self._record_steps(chain))
        if isinstance(chain.source, Files):
            return f"hr.TFRecordDataset({_arguments(self._files(chain.source))}){calls}"
        name, options = _combination(chain.source, self._seed)
        inner = [self._written(each).replace("\n    ", "") for each in chain.source.chains]
        if name == "concatenate":
            return f"{inner[0]}.concatenate({inner[1]}){calls}"
        return f"hr.{name}([{', '.join(inner)}], {_arguments(options)}){calls}"

    def _records(self, chain, in_order=False):
        source = chain.source
        if isinstance(source, Files):
            made = sources.TFRecordDataset(**self._files(source))
        else:
            name, options = _combination(source, self._seed)
            inner = [self._records(each, in_order) for each in source.chains]
            made = inner[0].concatenate(inner[1]) if name == "concatenate" else getattr(combine, name)(inner, **options)
        return _applied(made, self._record_steps(chain, in_order))

    def _files(self, files):
        if files.compression not in _COMPRESSIONS:
            raise Refused(f"compression {files.compression!r}")
        options = {"files": _drawn_order(files, self._seed), "compression": _COMPRESSIONS[files.compression]}
        if self._plan.skips:
            options.update({option: "skip" for option in sorted(self._plan.skips)}, max_skipped=_UNLIMITED)
        if self._num_threads:
            options["num_threads"] = self._num_threads
        return options

    def _record_steps(self, chain, in_order=False):
        """(method, {argument: value}) of the stages on records."""
        steps, repeated = [], False
        if isinstance(chain.source, Files):
            cycle = chain.source.cycle_length if chain.source.cycle_length > 0 else _DEFAULT_CYCLE
            if cycle != 1:
                steps.append(("interleave", {"cycle_length": cycle, "block_length": chain.source.block_length}))
        elif chain.source.op == "Choose" and not chain.source.arguments["endless"]:
            steps.append(("take", {"count": len(chain.source.arguments["choices"])}))
        for stage in chain.stages:
            if in_order and stage.op in ("Shuffle", "Repeat", "AssertCardinality"):
                continue
            if stage.op == "Shuffle":
                steps.append(self._shuffle(stage, repeated))
            else:
                steps.append(_step(stage))
            repeated |= stage.op == "Repeat"
        return steps

    def _shuffle(self, stage, repeated):
        arguments = {"buffer_size": stage.arguments["buffer_size"], "seed": seed_of(stage, self._seed)}
        if not stage.arguments["reshuffle"]:
            arguments["reshuffle_each_iteration"] = False
        if repeated:
            arguments["mix_epochs"] = True
        return "shuffle", arguments


def seed_of(stage, otherwise):
    """The seed that the user gave a shuffle; `otherwise` when there is none."""
    pair = stage.arguments["seed"], stage.arguments["seed2"]
    return otherwise if pair == (0, 0) else pair[1] ^ (pair[0] if pair[0] != 87654321 else 0)


def _step(stage):
    given = stage.arguments
    if stage.op in ("Batch", "PaddedBatch"):
        return "batch", {"batch_size": given["batch_size"], "drop_remainder": given["drop_remainder"]}
    if stage.op == "Shard":
        return "shard", {"num_shards": given["num_shards"], "index": given["index"]}
    if stage.op == "Filter":
        return "filter", {"condition": given["predicate"]}
    if stage.op == "AssertCardinality":
        return "assert_cardinality", {"records": given["count"]}
    count = given["count"]
    return stage.op.lower(), {"count": None if stage.op == "Repeat" and count < 0 else count}


def _combination(combined, seed):
    given = combined.arguments
    if combined.op == "Concatenate":
        return "concatenate", {}
    stop = {"stop_on_empty_dataset": given["stop_on_empty_dataset"]}
    if combined.op == "Choose":
        return "choose_from_datasets", {"choices": given["choices"], **stop}
    draws = {"seed": given["seed"] or seed, "rerandomize_each_iteration": given["rerandomize"]}
    return "sample_from_datasets", {"weights": given["weights"], **draws, **stop}


def _drawn_order(files, seed):
    if not files.shuffled:
        return list(files.paths)
    order = list(files.paths)
    random.Random(files.file_seed or seed).shuffle(order)
    return order


def _applied(dataset, steps):
    for name, arguments in steps:
        if name == "filter":
            arguments = {"condition": arguments["condition"].condition}
        dataset = getattr(dataset, name)(**arguments)
    return dataset


def _arguments(arguments):
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _call(step):
    name, arguments = step
    return f"{name}({_arguments(arguments)})"
