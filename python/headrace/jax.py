"""Batches as global jax.Arrays, one share of the rows per device of a sharding.

    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    for batch in headrace.jax.arrays(train, sharding): step(batch["image"], batch["label"])

A number column becomes one jax.Array over all devices; on host devices its shares alias the batch's memory (no copy).
A batch that is smaller than the others has their shape all the same, so that nothing is compiled anew: rows of its own make it
up to their size, and the bool column `_mask` is false there (prefetch_to_device(remainder="pad"), the default here unless the
dataset drops such batches). Without jax_enable_x64, JAX narrows 64-bit types to 32 bits, which copies. Raggeds and columns of strings have no jax.Array:
leave them out by `structure`.
"""

import jax

from . import _core
from .errors import ArgumentError
from .structure import Weight, resolve
from .zipped import ZippedDataset, ZippedPipeline, structures_of

# The profiler's analysis of the input takes what begins like this for waits for a batch.
_TRACED_AS = "IteratorGetNext headrace"


def arrays(pipeline, sharding, structure=None):
    """An iterator over the batches of a Dataset, each in the form of `structure` with jax.Arrays as leaves.

    Args:
        pipeline: a Dataset with parse(), whose global batch divides by the devices of the sharding. Without
            prefetch_to_device, or with as many devices as the sharding has. Of zipped ones each element is a tuple.
        sharding: a jax.sharding.Sharding that splits the first dimension over its addressable devices and nothing else.
        structure: the nested tuple or dict to yield (see headrace.structure); None: a dict of all columns. Of zipped
            datasets a tuple with one for each.

    Raises:
        ValueError: naming what does not fit.
    """
    if isinstance(pipeline, ZippedDataset):
        structures = structures_of(structure, len(pipeline.datasets))
        return ZippedPipeline([Arrays(part, sharding, own) for part, own in zip(pipeline.datasets, structures)])
    return Arrays(pipeline, sharding, structure)


class Arrays:
    """What arrays() gives: an iterator, with the state of its pipeline and its close()."""

    def __init__(self, pipeline, sharding, structure):
        if pipeline._spec is None:
            raise ArgumentError("arrays: the pipeline needs batch() and parse()")
        pipeline.refuse_functions("arrays")
        pipeline.refuse_cuda("arrays")
        self._sharding = sharding
        self._devices = _devices_in_row_order(sharding)
        count = len(self._devices)
        if not pipeline.devices:
            remainder = "drop" if pipeline._core.drops_remainder else "pad"
            pipeline = pipeline.prefetch_to_device([f"/CPU:{index}" for index in range(count)], remainder=remainder)
        if pipeline.replicas != count:
            raise ArgumentError(
                f"arrays: the pipeline cuts batches into {pipeline.replicas} shares, but the sharding has {count} devices"
            )
        self._structure = structure
        self._batches = iter(pipeline)
        self._build = None  # once the columns are known, like
        self._leaves = []  # what it asks for, in order: names of columns, and Weights

    def __iter__(self):
        return self

    def __next__(self):
        with jax.profiler.TraceAnnotation(_TRACED_AS):
            batch = next(self._batches)
            if self._build is None:
                self._build = resolve(self._structure, batch.keys())
                self._build(_Asked(self._leaves), self._ask_weight)
            arrays = self._joined([_shares(leaf, batch) for leaf in self._leaves])
            return self._build(_Answers(arrays), lambda leaf, weights: weights)

    def __len__(self):
        return len(self._batches)

    def __bool__(self):
        return True

    def close(self):
        """Stops the pipeline."""
        self._batches.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def report(self):
        """That of the pipeline."""
        return self._batches.report()

    def state_dict(self):
        """Where the stream stands behind the last batch delivered."""
        return self._batches.state_dict()

    def load_state_dict(self, state):
        """Continues where `state` was taken; before the first batch."""
        self._batches.load_state_dict(state)

    def get_state(self):
        """The same as state_dict()."""
        return self.state_dict()

    def set_state(self, state):
        """The same as load_state_dict()."""
        self.load_state_dict(state)

    def _ask_weight(self, leaf, _labels):
        self._leaves[-1] = leaf  # its labels were asked for just now

    def _joined(self, leaves):
        """A jax.Array of the numpy shares of all devices for each leaf. One call puts all: each costs as much as a small array."""
        for shares in leaves:
            rows = [share.shape[0] for share in shares]
            if len(set(rows)) > 1:
                raise ArgumentError(f"arrays: the shares have {rows} rows; JAX needs equal ones: remainder=\"pad\" or \"drop\"")
        count = len(self._devices)
        put = jax.device_put([share for shares in leaves for share in shares], self._devices * len(leaves))
        for place in range(0, len(put), count):
            shape = (count * put[place].shape[0], *put[place].shape[1:])
            yield jax.make_array_from_single_device_arrays(shape, self._sharding, put[place : place + count])


class _Asked:
    """Columns that note their names in the order in which they are asked for."""

    def __init__(self, leaves):
        self._leaves = leaves

    def __getitem__(self, name):
        self._leaves.append(name)


class _Answers:
    """Columns whose arrays come in that order."""

    def __init__(self, arrays):
        self._arrays = arrays

    def __getitem__(self, _name):
        return next(self._arrays)


def _shares(leaf, batch):
    """The numpy arrays of a leaf, one for each device."""
    if isinstance(leaf, Weight):
        return [leaf.of(share[leaf.name].numpy()) for share in batch.replicas]
    shares = [share[leaf] for share in batch.replicas]
    if not all(isinstance(share, _core.DenseColumn) for share in shares):
        kind = type(shares[0]).__name__
        raise ArgumentError(f"arrays: feature {leaf!r} is a {kind}; JAX takes arrays of numbers: leave it out", key=leaf)
    return [share.numpy() for share in shares]


def _devices_in_row_order(sharding):
    """The devices of `sharding` by the rows that they hold."""
    count = len(sharding.device_set)
    if len(sharding.addressable_devices) != count:
        raise ArgumentError("arrays: the sharding spans several processes, which is not supported")
    rows = sharding.devices_indices_map((count,))
    starts = {device: index[0].indices(count)[:2] for device, index in rows.items()}
    if sorted(starts.values()) != [(place, place + 1) for place in range(count)]:
        raise ArgumentError(f"arrays: {sharding} does not split the first dimension over all of its devices")
    return sorted(starts, key=starts.get)
