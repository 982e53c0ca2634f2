"""The steps that make batches, and those on batches: what a Dataset has from batch() on."""

from . import _core, arguments, key_patterns, padding
from .compiled import address_of
from .errors import ArgumentError
from .features import to_schema
from .sequences import to_sequence_schema
from .steps import step


class BatchSteps:
    """Part of Dataset."""

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
