"""Datasets: declared pipelines. Every step returns a new Dataset and checks its arguments at once.

The steps and their order: a source (headrace.sources) or several combined (headrace.combine), then {shard, take, skip, filter,
interleave, repeat, shuffle, concatenate}, then batch, padded_batch or bucket_by_sequence_length, parse, {map, take, skip},
resident, prefetch_to_device.
"""

import logging

from . import _core, arguments, key_patterns, padding, status_line
from .compiled import address_of
from .errors import ArgumentError, Error
from .features import to_schema
from .filters import Condition
from .mapped import MappedPipeline
from .pipeline import Pipeline, RecordBatchPipeline, RecordPipeline, open_core
from .sequences import to_sequence_schema
from .steps import step

# Records that the engine hands over together when the user iterates over single ones: enough to make the hand-over
# cheap for small records, few enough to hold little of large ones.
_RECORDS_AT_A_TIME = 64

_logger = logging.getLogger("headrace.dataset")


class Dataset:
    """A declared pipeline; immutable. Iterating over it starts a Pipeline.

    The elements are bytes (one record) without batch(), BytesColumns with batch(), Batches with parse().
    The k-th iterator that delivered something starts at epoch k; see set_epoch.
    """

    _steps = ()  # the calls that made it (headrace.steps); none of datasets that were combined
    _progress = False  # whether the pipelines of what is made from this source show a live line

    def __init__(self, core, spec=None, is_batched=False, devices=(), source=None, functions=()):
        self._core = core
        self._spec = spec
        self._source = source or self  # the records as they lie in the shards
        self._is_batched = is_batched
        self._devices = tuple(devices)
        self._functions = tuple(functions)  # (name, Python function) of map()
        # What is opened: the engine only ever delivers batches.
        self._runnable = core if is_batched else core.batch(_RECORDS_AT_A_TIME)

    @step
    def interleave(self, cycle_length=16, block_length=1):
        """Reads `cycle_length` shards in turn, `block_length` records (>= 1) of each: TensorFlow's deterministic order."""
        cycle_length = arguments.integer("cycle_length", cycle_length)
        block_length = arguments.integer("block_length", block_length)
        return self._with(self._core.interleave(cycle_length, block_length))

    @step
    def repeat(self, count=None):
        """The input `count` times; None or -1: for ever."""
        return self._with(self._core.repeat(arguments.optional_integer("count", count)))

    @step
    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, mix_epochs=False, window_bytes=None):
        """Each record comes out of a buffer of `buffer_size` records (>= 1) at random.

        shuffle("global") permutes all records of an epoch, without a buffer: each is read where the index of its file says that
        it is (headrace index makes indexes; those of local files are made now when that takes at most 10 seconds). The files
        have to be plain. What stands before it can be shard, take, skip and repeat.

        Args:
            seed: int; None draws one now (report().seeds shows it).
            reshuffle_each_iteration: another order in each epoch.
            mix_epochs: with repeat() before it: records of the next epoch may come before this one has ended, as in
                TensorFlow. False: every record exactly once an epoch.
            window_bytes: with "global": pieces of about 64 KiB come in random order, and the records of as many as fill
                `window_bytes` (>= 1) in an order of their own, so that reads are near-sequential. Two windows are in memory,
                unless the records are large. None: each record is read by itself.
        """
        is_global = isinstance(buffer_size, str)
        if is_global and buffer_size != "global":
            raise ArgumentError(f"buffer_size={buffer_size!r}: must be an int or 'global'")
        core = self._core.shuffle(
            0 if is_global else arguments.integer("buffer_size", buffer_size),
            arguments.optional_integer("seed", seed),
            bool(reshuffle_each_iteration),
            bool(mix_epochs),
            is_global,
            arguments.optional_integer("window_bytes", window_bytes, minimum=1),
        )
        return self._with(core)

    @step
    def shard(self, num_shards, index, by="record", drop_remainder=False):
        """The share of one of several workers.

        Args:
            by: "record": the records index, index + num_shards, … of what comes. "file": all records of files index,
                index + num_shards, … of the list. "range": one of num_shards ranges of neighbouring records of all files, as
                equal as can be. The last two stand before all other steps but interleave(); a range needs indexes, as
                shuffle("global") does.
            drop_remainder: every worker gets the same number of records, that of the worker with the fewest, and so makes the
                same number of steps. Known from the indexes when reading starts; not with a skip policy.
        """
        core = self._core.shard(
            arguments.integer("num_shards", num_shards),
            arguments.integer("index", index),
            str(by),
            bool(drop_remainder),
        )
        return self._with(core)

    @step
    def filter(self, condition):
        """The records that meet `condition`, such as `hr.feature("label") == 3`; see headrace.feature.

        Evaluated on the serialized Examples, without parsing anything else. The length of what follows is not known.

        Raises:
            SchemaError: when reading: a record cannot be compared; in its place in the stream.
        """
        if not isinstance(condition, Condition):
            raise ArgumentError(f"condition={condition!r}: must be a comparison of headrace.feature(...)")
        return self._with(self._core.filter(condition.to_core()))

    @step
    def take(self, count):
        """The first `count` elements: records before batch(), batches after it; -1: all."""
        return self._with(self._core.take(arguments.integer("count", count)))

    @step
    def skip(self, count):
        """All but the first `count` elements: records before batch(), batches after it; -1: none is left."""
        return self._with(self._core.skip(arguments.integer("count", count)))

    def concatenate(self, dataset):
        """The records of this dataset, then those of `dataset`. Neither is batched; both are read with the same options."""
        if not isinstance(dataset, Dataset):
            raise ArgumentError(f"dataset={dataset!r}: must be a headrace Dataset")
        return Dataset(_core.concatenate(self._core, dataset._core))

    @step
    def batch(self, batch_size, drop_remainder=False):
        """Batches of `batch_size` records (>= 1): the global batch, over all devices.

        Args:
            drop_remainder: leave out a last batch that is smaller.
        """
        core = self._core.batch(arguments.integer("batch_size", batch_size), bool(drop_remainder))
        return self._with(core, is_batched=True)

    @step
    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False):
        """batch(), with features of varying length filled up to one length by parse(): dense columns [rows, length, …].

        These are VarLenFeature, RaggedFeature without partitions and FixedLenSequenceFeature, and tensors of unknown
        dimensions, which are padded by themselves. Features that stay sparse or ragged are refused by parse().
        As in TensorFlow, but for: names may be left out; VarLenFeature is padded, too; a fixed shape stays as it is.

        Args:
            padded_shapes: {name: shape of a row}. None as first dimension, or no entry: the longest row of the batch. A number:
                that many, and a record with more is a SchemaError.
            padding_values: {name: value}, or one value for all; it stands behind all transforms. Without one: the
                default_value of a FixedLenSequenceFeature, which its transforms apply to, else 0 or b"".
            drop_remainder: leave out a last batch that is smaller.
        """
        core = self._core.padded_batch(
            arguments.integer("batch_size", batch_size),
            bool(drop_remainder),
            *padding.to_core(padded_shapes, padding_values),
        )
        return self._with(core, is_batched=True)

    @step
    def unbatch(self):
        """The records of batches again, to be batched anew: all steps on records may stand behind it.

        It stands before parse(): records are parsed as they are batched last, none is copied in between. What take, skip and
        repeat before it did to whole batches stays done.
        """
        return self._with(self._core.unbatch(), is_batched=False)

    @step
    def enumerate(self, start=0):
        """Counts from `start`: an int64 column `_index` [rows] beside the features of parse().

        Right before batch() or padded_batch(), each row has the number of its record; behind it, each has the number of its
        batch. TensorFlow makes pairs (number, element) of it. What comes is counted over epochs; a repeat() behind it begins
        anew. Not with on_mismatch="skip".
        """
        return self._with(self._core.enumerate(arguments.integer("start", start)))

    @step
    def bucket_by_sequence_length(
        self, key, bucket_boundaries, bucket_batch_sizes, drop_remainder=False, sequence=False
    ):
        """Instead of batch(): batches of records of similar length, which is the number of values of the feature `key`.

        A bucket is a batch as soon as it is full. Where the records end, what is left in the buckets comes in their order. The
        specs of parse() decide how the values are delivered: ragged, or padded to the longest row of the batch.

        Args:
            key: name of the feature; a record without it has the length 0.
            bucket_boundaries: ascending ints: bucket i has the lengths below bucket_boundaries[i], one more has the rest.
            bucket_batch_sizes: rows of the batches of each bucket, one more than boundaries; over all devices.
            drop_remainder: leave out what does not fill a batch.
            sequence: the records are SequenceExamples, and `key` is a feature list whose steps are counted.
        """
        if not isinstance(key, str):
            raise ArgumentError(f"key={key!r}: must be the name of a feature")
        core = self._core.bucket_by_sequence_length(
            key,
            bool(sequence),
            [arguments.integer("bucket_boundaries", boundary) for boundary in bucket_boundaries],
            [arguments.integer("bucket_batch_sizes", size) for size in bucket_batch_sizes],
            bool(drop_remainder),
        )
        return self._with(core, is_batched=True)

    @step
    def parse(self, features, origin=False):
        """Batches become mappings from feature name to column, in the order of `features`.

        Patterns of keys among the specs (match, Stack, Jagged) are replaced by the keys of the first 256 records, which
        are read now; `features` of the result has what came out.

        Args:
            features: {name: spec}, specs of headrace or of tf.io.
            origin: add int64 columns `_shard` (place in the list of files) and `_record` (ordinal in the shard).
        """
        expanded = key_patterns.expand(features, lambda: self._source.take(key_patterns.RECORDS))
        schema, spec = to_schema(expanded, origin)
        return self._with(self._core.parse(schema), spec=spec)

    @step
    def parse_sequence(self, context_features=None, sequence_features=None, origin=False):
        """The same for tf.train.SequenceExamples: batches become mappings from name to column.

        The columns: the context features, then the feature lists, each in the order given; a dense list `x` is followed by
        `x_lengths`, int64 [rows], the steps of each row. What the columns of lists look like: see parse_sequence_example.

        Args:
            context_features: {name: spec}, any spec but FixedLenSequenceFeature; of headrace or of tf.io.
            sequence_features: {name: spec}, FixedLenSequenceFeature, VarLenFeature or RaggedFeature. A name that the
                context has, too, must be changed in one of them (the specs take a key).
            origin: as for parse.
        """
        schema, spec = to_sequence_schema(context_features, sequence_features, origin)
        return self._with(self._core.parse(schema), spec=spec)

    @step
    def cache(self, path=None):
        """The batches of the first pass are kept and handed out by every later one, also of other iterations.

        What stands before it is read once, as epoch 0: the same batches come in the same order each time. A pass that is not
        read to its end keeps nothing. A resumed iteration whose batches are not cached yet reads the files from their start, and
        hands out what follows its position.

        Args:
            path: a file, which is there when it is whole and serves later processes; None: memory, which counts as that of the
                pipeline (memory_bytes).

        Raises:
            ValueError: when reading: the file is of other files, steps or features.
            DataLossError: when reading: the file is damaged.
            BudgetError: when reading: memory_bytes is too small; names the number needed.
        """
        self.refuse_functions("cache()")
        return self._with(self._core.cache(b"" if path is None else arguments.path("path", path)))

    @step
    def map(self, function, columns=None, name=None):
        """Each batch passes through `function`.

        A compiled function, `int32 f(int64 rows, void** columns)`, as a numba cfunc or a ctypes function: it is called by the
        engine's threads without Python's lock, for several batches at once, once for each device's share. columns[i] is the
        first value of the i-th of `columns`, which it may change in place. Anything but 0 ends the stream with a ValueError.

        Any other function takes a Batch, or what the function before it returned, and returns what the iteration then gives.
        These run on one thread, up to two results ahead of the consumer, and stand behind everything else.

        report() has a stage `map NAME` for each, with its time.

        Args:
            columns: names of dense columns of numbers; for compiled functions only.
            name: in the report; the function's own name when None.
        """
        name = name or getattr(function, "__name__", type(function).__name__)
        address = address_of(function)
        if address is not None:
            self.refuse_functions("a compiled function")
            return self._with(self._core.map(name, [str(column) for column in columns or ()], address))
        if not callable(function):
            raise ArgumentError(f"function={function!r}: must be a function")
        if columns is not None:
            raise ArgumentError("columns: for compiled functions only; a Python function gets the whole batch")
        if self._spec is None:
            raise ArgumentError("map() needs batch() and parse() before it")
        return self._with(self._core, functions=[*self._functions, (name, function)])

    @step
    def prefetch_to_device(self, devices, depth=2, remainder="split", weights=None, local=None):
        """Cuts each batch into one share per device, resident there, `depth` of them (>= 1) ahead of the consumer.

        Args:
            devices: "/CPU:0", "/GPU:1" or "cuda:1", …; the global batch must divide by their number. On CUDA devices columns of
                numbers are in the memory of the device and leave it by DLPack, columns of strings stay with the host.
            remainder: what becomes of a batch that is smaller than the others. "split": its shares are smaller, some may have no
                rows (`replica_rows` of the batch tells). "pad": rows of its own make it up to their size, so that all shares
                are equal; the bool column `_mask` is false there, `global_rows` and `replica_rows` do not count them. "drop":
                it is left out.
            weights: rows of each device, in proportion, as ints from 1 to 1000: [2, 1] for devices of unequal speed. None: equal
                shares. The global batch must divide in that proportion.
            local: a range of places in `devices`, those of this process, where several processes train on one global batch. Each
                declares the same devices, orders the same records, parses the rows of its own devices alone, and raises the
                failures of these; `replicas` counts them. None: all devices are of this process.

        Raises:
            ValueError: naming the two nearest global batches that can be shared.
            DeviceError: at the first next(), when there is no CUDA driver or no such device; later, when one fails.
        """
        if isinstance(devices, str):
            devices = [devices]
        names = [device if isinstance(device, str) else str(device) for device in devices]
        shares = [] if weights is None else [arguments.integer("weights", weight) for weight in weights]
        if local is not None and not (isinstance(local, range) and local.step == 1):
            raise ArgumentError(f"local={local!r}: must be a range of places in devices, such as range(4, 8)")
        here = None if local is None else (local.start, len(local))
        core = self._core.prefetch_to_device(names, arguments.small_integer("depth", depth), str(remainder), shares, here)
        return self._with(core, devices=[_core.parse_device(name) for name in (names if local is None else names[local.start : local.stop])])

    @step
    def resident(self, batches=2, count=None):
        """The first `batches` (>= 1) again and again, without reading: what the training reaches when the input costs nothing.

        The one-line test for "is it my input?": put it behind the dataset and compare the time of a step. Functions of
        Python's that map() runs are run all the same. Such a stream has no state_dict(), and what changes a batch in place
        changes the later ones.

        Args:
            count: batches to deliver; -1: without end; None: as many as the dataset is known to have, or without end.
        """
        count = None if count is None else arguments.integer("count", count, minimum=-1)
        return self._with(self._core.resident(arguments.integer("batches", batches, minimum=1), count))

    @step
    def assert_cardinality(self, records):
        """States the number of records of one epoch of the source; another number is an error at its end.

        With on_corrupt="skip" it only serves len(): damaged records are missing. With on_mismatch="skip" the number of batches
        behind parse() is not known in any case.
        """
        return self._with(self._core.assert_cardinality(arguments.integer("records", records)))

    def set_epoch(self, epoch):
        """The next iterator starts at `epoch` (>= 0), those after it count on from there."""
        self._runnable.set_epoch(arguments.integer("epoch", epoch, minimum=0))

    def doctor(self, step_time=None, replicas=None, seconds=2.0, verify=False):
        """Says whether this input keeps the accelerators waiting, what limits it, and what each fix gains.

        Runs a pipeline of its own at full speed for `seconds`, looks at the shards, the storage and the CPUs, and replays what was
        measured through a model of the engine's queues (docs/design/doctor.md). The iterators of this dataset and their epochs
        are left alone; functions of map() are called.

        Args:
            step_time: seconds of a training step on the accelerators, without waiting for data. None: not known; the fixes are
                then those that make the input itself faster.
            replicas: number of devices that share a batch; None: those of prefetch_to_device.
            seconds: how long each measurement lasts (> 0).
            verify: apply each fix to a copy of the pipeline and measure what it achieves, twice `seconds` or longer each.
                Fixes of the files are tried with copies of the first shards, up to 256 MiB, in the folder of TMPDIR.

        Returns:
            A headrace.findings.Diagnosis; str() gives text, as_dict() plain values.

        Raises:
            ValueError: naming parameter and value; for a dataset without batch().
            What next() raises, where the stream fails.
        """
        from ._doctor.diagnose import diagnose

        return diagnose(self, step_time, replicas, seconds, verify)

    def check(self):
        """Finds and checks the files without reading them; the warnings about them, as a list of str.

        Raises:
            FileNotFoundError, PermissionError, OSError: naming all files that cannot be read.
        """
        return self._runnable.check()

    @property
    def features(self):
        """{name: spec} of parse(), in headrace's own specs and without patterns; None before parse()."""
        return None if self._spec is None else dict(self._spec)

    @property
    def replicas(self):
        """Number of shares each batch is cut into; 1 without prefetch_to_device."""
        return max(1, len(self._devices))

    @property
    def devices(self):
        """The devices of prefetch_to_device, by their canonical names."""
        return self._devices

    def refuse_functions(self, what):
        """ValueError when Python functions stand behind the batches: `what` needs the batches themselves."""
        if self._functions:
            raise ArgumentError(f"{what} cannot stand behind map({self._functions[-1][0]}), a Python function")

    def refuse_cuda(self, what):
        """ValueError when batches go to CUDA devices: `what` takes them from host memory."""
        cuda = [name for name in self._devices if not name.startswith("/CPU")]
        if cuda:
            raise ArgumentError(f"{what} takes batches from host memory, not from {cuda[0]}: name /CPU:n in prefetch_to_device")

    def __iter__(self):
        if self._functions:
            return MappedPipeline(self, self._functions)
        if self._spec is not None:
            return Pipeline(self)
        return RecordBatchPipeline(self) if self._is_batched else RecordPipeline(self)

    def __len__(self):
        """Elements of the stream, or of an epoch when it is repeated for ever.

        Raises:
            TypeError: when that is not known. It is with assert_cardinality(), with an index of every file (`headrace index`),
                or once an epoch was read, unless a filter or on_mismatch="skip" leaves records out.
        """
        count = self._known_length()
        if count is None:
            unknown = TypeError(
                "the length is not known: state it with assert_cardinality(), make indexes (headrace index), or read one "
                "epoch first"
            )
            try:
                self._core.find_indexes()
            except Error as error:
                raise unknown from error
            count = self._known_length()
            if count is None:
                raise unknown
        return count

    def cardinality(self, scan=False):
        """Elements of the stream: -1 when it has no end, -2 when that is not known (TensorFlow's numbers).

        Args:
            scan: make the indexes that are missing, whatever time it takes: the headers of plain files are read, compressed
                files are inflated. They are kept in the cache folder, as `headrace index` does.

        Raises:
            DataLossError: with scan: a file is damaged.
        """
        if self._core.cardinality() is None and not self._core.find_indexes() and scan:
            for text in self._core.make_indexes():
                _logger.warning(text)
        count = self._core.cardinality()
        return -2 if count is None else count

    def _known_length(self):
        count = self._core.cardinality()
        if count == -1:
            count = self._core.epoch_cardinality()
        return None if count is None or count < 0 else count

    def __bool__(self):
        return True

    def __repr__(self):
        steps = "".join(f".{name}({arguments_})" for _, name, arguments_ in self._core.ops())
        return f"<headrace.Dataset {steps.lstrip('.')}>"

    def _open(self, position=None):
        pipeline = open_core(self._runnable, position)
        if self._source._progress:
            status_line.begin(pipeline)
        return pipeline

    def _with(self, core, **changes):
        parts = {"spec": self._spec, "is_batched": self._is_batched, "devices": self._devices}
        parts.update(source=self._source, functions=self._functions)
        parts.update(changes)
        return Dataset(core, **parts)
