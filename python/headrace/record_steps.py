"""The steps on records: what a Dataset has before batch(). take, skip and repeat stand behind it, too, and count batches there."""

from . import arguments
from .errors import ArgumentError
from .filters import Condition
from .steps import step


class RecordSteps:
    """Part of Dataset."""

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

    @step
    def assert_cardinality(self, records):
        """States the number of records of one epoch of the source; another number is an error at its end.

        With on_corrupt="skip" it only serves len(): damaged records are missing. With on_mismatch="skip" the number of batches
        behind parse() is not known in any case.
        """
        return self._with(self._core.assert_cardinality(arguments.integer("records", records)))
