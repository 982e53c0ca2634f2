"""Which stages of a program the engine runs, which become the function behind it, and which stay on top."""

import dataclasses
from typing import Any

import tensorflow as tf

from . import graph
from .chain import Chain, Files, Stage
from .flatten import TOTAL, Flat, compose, flatten, without_identities
from .predicate import predicate
from .refusal import Refused
from .split import Split, split

_SILENT = ("Prefetch", "Options", "Restructured")  # change no element; the engine has its own prefetch
# On records: commute with a function of one record. On batches: with a function of one batch.
_ORDER = ("Shuffle", "Repeat", "Take", "Skip", "Shard")
_ON_BATCHES = ("Repeat", "Take", "Skip")  # the engine does them behind its batches, too
_ON_TOP = (*_ORDER, "Unbatch", "Batch", "Filter", "Cache", "Map", "AssertCardinality")
_CANNOT_FAIL = (
    *(*TOTAL, *graph.RANDOM, "RealDiv", "OneHot", "StringToHashBucketFast"),
    *("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "Log", "Log1p", "Abs"),
)


@dataclasses.dataclass
class Plan:
    """A program as the engine will run it."""

    chain: Chain  # the source and the stages on records: order, and how many
    batch: Stage
    split: Split  # of the function that parses
    original: Flat  # the same function as the user wrote it, for the check
    after: list  # Flats of the functions on batches behind a function of one record
    on_batches: list  # Stages behind the batch that the engine does
    on_top: list  # Stages that stay tf.data's
    sample_spec: Any  # what the function of one record gives; None when it takes batches
    spec: Any  # element_spec in front of on_top
    specs_between: list  # element_spec in front of each function of `after`
    skips: frozenset = frozenset()  # of "on_corrupt", "on_mismatch"
    differences: list = dataclasses.field(default_factory=list)


def plan(chain):
    """The Plan of a Chain.

    Raises:
        Refused: naming the stage that has no place.
    """
    sorter = _Sorter()
    records = sorter.records(chain)
    return sorter.plan(records)


class _Sorter:
    def __init__(self):
        self.maps = []  # of one record, Stages
        self.batch = None
        self.after = []  # of one batch
        self.behind = []  # other stages behind the batch
        self.skips = set()
        self.differences = []
        self._reshuffles = False
        self._one_source = True

    def records(self, chain):
        """The Chain with only stages of order, sorting the others into this object."""
        source = chain.source
        stages = []
        if isinstance(source, Files):
            stages += self._file_order(source)
        else:
            self._one_source = False
            source = dataclasses.replace(source, chains=self._inputs(source.chains))
        for stage in chain.stages:
            for each in _expanded(stage):
                if self.batch is not None:
                    self._behind(each)
                elif each.op in _ORDER:
                    self._reshuffles |= each.op == "Shuffle" and each.arguments["reshuffle"]
                    stages.append(each)
                else:
                    self._on_record(each, stages)
        return Chain(source, stages)

    def _file_order(self, files):
        if files.cycle_length < 0:
            self.differences.append("cycle_length was TensorFlow's own choice, which depends on the machine: it is 16")
        if files.shuffled:
            self.differences.append("the order of the files is drawn once, not anew in each epoch")
        if files.repeat == 1:
            return []
        self.differences.append("the records are repeated instead of the list of files: epochs do not overlap")
        return [Stage("Repeat", {"count": files.repeat})]

    def _inputs(self, chains):
        """The chains that are combined. Each may have functions of one record when all have the same."""
        sorters = [_Sorter() for _ in chains]
        made = [sorter.records(chain) for sorter, chain in zip(sorters, chains)]
        if any(sorter.batch is not None for sorter in sorters):
            raise Refused("datasets of batches are combined, not of records")
        flats = [[flatten(stage.function, with_conditions=True) for stage in sorter.maps] for sorter in sorters]
        if any(not _same(flats[0], other) for other in flats[1:]):
            raise Refused("the datasets that are combined have different functions")
        self.maps += sorters[0].maps
        self.skips = set().union(*(sorter.skips for sorter in sorters))
        self._reshuffles = any(sorter._reshuffles for sorter in sorters)
        self.differences += dict.fromkeys(text for sorter in sorters for text in sorter.differences)
        return made

    def _on_record(self, stage, stages):
        if stage.op == "Map":
            self.maps.append(stage)
        elif stage.op in ("Batch", "PaddedBatch"):
            self.batch = stage
        elif stage.op == "IgnoreErrors":
            self.skips |= {"on_corrupt", "on_mismatch"} if self.maps else {"on_corrupt"}
        elif stage.op == "AssertCardinality":
            self._cardinality(stage, stages)
        elif stage.op == "Filter":
            flat = compose([flatten(each.function) for each in (*self.maps, stage)])
            stages.append(Stage("Filter", {"predicate": predicate(without_identities(flat))}))
        elif stage.op == "Cache":
            self._cache(stage)
        elif stage.op not in _SILENT:
            raise Refused(f"{stage.op} of single records")

    def _cardinality(self, stage, stages):
        """The engine is told the records of one epoch of one source."""
        if self._one_source and all(other.op == "Shuffle" for other in stages):
            stages.append(stage)
        else:
            self.differences.append("assert_cardinality of the records is left out")

    def _cache(self, stage):
        if stage.arguments["filename"]:
            raise Refused("cache in a file")
        if self._reshuffles:
            raise Refused("cache keeps the shuffled order of the first epoch")
        for each in self.maps:
            flat = flatten(each.function)
            ops = {node.op for node in graph.reached(flat.graph_def, flat.graph_def.node)}
            if ops & {*graph.RANDOM, *graph.GENERATOR}:
                raise Refused("cache keeps the random values of the first epoch")
        self.differences.append("cache is left out: the engine reads and parses again")

    def _behind(self, stage):
        if stage.op == "Map" and all(other.op in _ORDER for other in self.behind):
            self.after.append(stage)
        elif stage.op == "IgnoreErrors" and all(other.op in _ON_BATCHES for other in self.behind):
            self.skips = {"on_corrupt", "on_mismatch"}
            self.differences.append("ignore_errors leaves out the records that cannot be read, not the batches they are in")
        elif stage.op in _ON_TOP:
            self.behind.append(stage)
        elif stage.op not in _SILENT:
            raise Refused(f"{stage.op} of batches")

    def plan(self, records):
        if self.batch is None:
            raise Refused("no batch: the engine delivers batches")
        if not self.maps and not self.after:
            raise Refused("no map parses the records with tf.io.parse_example or parse_single_example")
        by_record = bool(self.maps)
        parsing = [stage.function for stage in self.maps or self.after]
        function = split(compose([flatten(each) for each in parsing]))
        original = without_identities(compose([flatten(each, with_conditions=True) for each in parsing]))
        if by_record and function.batched:
            raise Refused("records are parsed as batches in front of the batch")
        if not by_record and not function.batched:
            raise Refused("records are parsed one by one behind the batch")
        if self.batch.op == "PaddedBatch" and not by_record:
            raise Refused("padded_batch of records that are not parsed yet")
        if by_record and any(isinstance(spec, tf.SparseTensorSpec) for spec in tf.nest.flatten(self.maps[-1].spec)):
            raise Refused("sparse results of single records")
        after = self.after if by_record else []
        on_batches = []
        while self.behind and self.behind[0].op in _ON_BATCHES:
            on_batches.append(self.behind.pop(0))
        flats = [flatten(stage.function) for stage in after]
        ops_behind = []
        for flat in flats:
            nodes = graph.reached(flat.graph_def, flat.graph_def.node)
            ops_behind += [node.op for node in nodes]
            changing = graph.effects(nodes)
            if changing:
                raise Refused(f"a function of batches changes state: {', '.join(changing)}")
        if "on_mismatch" in self.skips:
            _check_cannot_fail([*function.ops, *ops_behind])
        specs = [self.batch.spec, *(stage.spec for stage in self.after)]
        return Plan(
            records,
            self.batch,
            function,
            original,
            flats,
            on_batches,
            self.behind,
            self.maps[-1].spec if by_record else None,
            specs[-1],
            specs[:-1] if by_record else [],
            frozenset(self.skips),
            self.differences,
        )


def _expanded(stage):
    """A stage as simple ones."""
    given = stage.arguments
    if stage.op == "MapAndBatch":
        batch = Stage("Batch", {name: given[name] for name in ("batch_size", "drop_remainder")}, None, stage.spec)
        return [Stage("Map", {}, stage.function, given["sample_spec"]), batch]
    if stage.op == "ShuffleAndRepeat":
        shuffle = {name: given[name] for name in ("buffer_size", "seed", "seed2")}
        repeat = Stage("Repeat", {"count": given["count"]})
        return [Stage("Shuffle", {**shuffle, "reshuffle": True}), repeat]
    if stage.op == "ParseExample":
        batches = tf.data.Dataset.from_tensor_slices([b""]).batch(1)
        parsed = batches.map(lambda serialized: tf.io.parse_example(serialized, given["features"]))
        return [Stage("Map", {}, parsed._map_func.function, stage.spec)]
    return [stage]


def _check_cannot_fail(ops):
    """ignore_errors drops what the functions fail for: only what the parser fails for can be left out here."""
    risky = [op for op in ops if op not in _CANNOT_FAIL]
    if risky:
        raise Refused(f"ignore_errors behind ops that may fail: {', '.join(sorted(set(risky)))}")


def _same(ours, theirs):
    """Whether two lists of Flats do the same: the same nodes on the same captures."""
    if len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs):
        if [id(tensor) for tensor in one.captures.values()] != [id(tensor) for tensor in other.captures.values()]:
            return False
        if any(len(graph.reached(flat.graph_def, flat.graph_def.node)) > len(flat.graph_def.node) for flat in (one, other)):
            return False  # loops and conditions have functions of their own, whose names differ
        texts = [sorted(node.SerializeToString(deterministic=True) for node in flat.graph_def.node) for flat in (one, other)]
        if texts[0] != texts[1] or one.results != other.results:
            return False
    return True
