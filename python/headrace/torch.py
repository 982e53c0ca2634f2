"""Batches as PyTorch tensors: a DataLoader that needs no worker processes, as the engine's threads do the work.

    loader = headrace.torch.DataLoader(train, structure=("image", "label"))
    for image, label in loader: ...

Number columns become tensors that share the batch's memory (torch.from_dlpack, no copy, writable), a Ragged becomes
RaggedTensor(values, row_splits), a JaggedColumn JaggedTensor(keys, values, lengths, offsets), a column of strings stays a
BytesColumn.
"""

import collections
import contextlib
import os

import torch
from torch.utils.data import IterableDataset, get_worker_info

from . import _core
from .errors import ArgumentError
from .progress import progress_of
from .structure import resolve
from .zipped import ZippedDataset, structures_of

RaggedTensor = collections.namedtuple("RaggedTensor", ("values", "row_splits"))
JaggedTensor = collections.namedtuple("JaggedTensor", ("keys", "values", "lengths", "offsets"))

# What torch's own loader calls itself in a profile; readers of profiles take it for waits for a batch.
_TRACED_AS = "enumerate(DataLoader)#headrace.DataLoader.__next__"
# A mark that nobody reads costs half of a step. Without the question, which is no public one, every step is marked.
_is_profiled = getattr(torch.autograd, "_profiler_enabled", lambda: True)


class DataLoader(IterableDataset):
    """Iterates over the batches of a Dataset as tensors; to be used as it is, or inside
    torch.utils.data.DataLoader(loader, batch_size=None, num_workers=0).

    With a world of several ranks every rank gets its share of the same global batch: the stream is the one that a single
    process with as many replicas sees. Each rank reads all records and parses those of its share.

    Args:
        pipeline: a Dataset with parse(). Without prefetch_to_device, or with as many devices as the world has ranks, of which
            local= may name the one of this rank. In a world of one, a CUDA device gives tensors on that device. Or zipped ones: each
            element is a tuple.
        structure: the nested tuple or dict to yield (see headrace.structure); None: a dict of all columns. Of zipped datasets a
            tuple with one for each.
        rank, world_size: None: from torch.distributed when it is initialized, else from RANK and WORLD_SIZE, else 0 of 1.

    Raises:
        ValueError: naming what does not fit.
    """

    def __init__(self, pipeline, structure=None, rank=None, world_size=None):
        super().__init__()
        self.rank, self.world_size = _place(rank, world_size)
        if isinstance(pipeline, ZippedDataset):
            structures = structures_of(structure, len(pipeline.datasets))
            self._sides = [_Side(*side, self.rank, self.world_size) for side in zip(pipeline.datasets, structures)]
            self._dataset = ZippedDataset([side.dataset for side in self._sides])
        else:
            self._sides = [_Side(pipeline, structure, self.rank, self.world_size)]
            self._dataset = self._sides[0].dataset
        self._progress = progress_of(self._dataset)
        self._running = None

    def __len__(self):
        return len(self._dataset)

    def __iter__(self):
        """A new iteration; one that still ran is closed.

        Raises:
            RuntimeError: in a worker process of torch's DataLoader.
        """
        if get_worker_info() is not None:
            raise RuntimeError("headrace: use num_workers=0; the engine's own threads read and parse")
        if self._running is not None:
            self._running.close()
        self._running = batches = iter(self._dataset)
        state = self._progress.take_loaded()
        if state is not None:
            batches.load_state_dict(state)
        return self._iterate(batches, self._progress.follow(batches))

    def _iterate(self, batches, followed):
        is_zipped = isinstance(self._dataset, ZippedDataset)
        while True:
            with torch.profiler.record_function(_TRACED_AS) if _is_profiled() else contextlib.nullcontext():
                taken = next(batches, None)
                if taken is None:
                    break
                if is_zipped:
                    element = tuple(side.element(batch) for side, batch in zip(self._sides, taken))
                else:
                    element = self._sides[0].element(taken)
            yield element
        self._progress.end(followed, batches.state_dict() if batches.has_position else None)
        batches.close()
        if self._running is batches:
            self._running = None

    def state_dict(self):
        """Where the iteration stands behind the last batch it yielded: a dict of str and int, {} before the first.

        Behind the last batch of an iteration, once it has ended, it is where the next one starts, its epoch included.
        """
        return self._progress.state_dict()

    def load_state_dict(self, state):
        """The next iteration continues where `state` was taken."""
        self._progress.load_state_dict(state)


class _Side:
    """One dataset of a loader: `dataset` with batches cut for the ranks, and what becomes of this rank's share."""

    def __init__(self, pipeline, structure, rank, world_size):
        if pipeline._spec is None:
            raise ArgumentError("DataLoader: the pipeline needs batch() and parse()")
        self._place = rank  # of its share, among those of the pipeline
        if not pipeline.devices and world_size > 1:
            devices = [f"/CPU:{index}" for index in range(world_size)]
            pipeline = pipeline.prefetch_to_device(devices, local=range(rank, rank + 1))
        if world_size > 1 and pipeline.replicas < pipeline.places[2]:
            if pipeline.places != (rank, 1, world_size):
                first, count, everything = pipeline.places
                raise ArgumentError(
                    f"DataLoader: rank {rank} of {world_size} takes share {rank} of {world_size}, but prefetch_to_device "
                    f"gives it {count} from {first} on of {everything}: leave local= out, or give it range({rank}, {rank + 1})"
                )
            self._place = 0
        elif pipeline.replicas != world_size:
            raise ArgumentError(
                f"DataLoader: the pipeline cuts batches into {pipeline.replicas} shares, but the world has {world_size} ranks"
            )
        pipeline.refuse_functions("DataLoader")
        if world_size > 1:
            pipeline.refuse_cuda("DataLoader with several ranks")
        self.dataset = pipeline
        self._structure = structure
        self._build = None  # once the columns are known

    def element(self, batch):
        """What the loop gets of a batch."""
        share = batch.replicas[self._place]
        if self._build is None:
            self._build = resolve(self._structure, share.keys())
        return self._build({name: to_torch(column) for name, column in share.items()}, _weigh)


def to_torch(column):
    """A column as torch has it; see the module."""
    if isinstance(column, _core.DenseColumn):
        return torch.from_dlpack(column)
    if isinstance(column, _core.Ragged):
        return RaggedTensor(to_torch(column.values), to_torch(column.row_splits))
    if isinstance(column, _core.Sparse) and isinstance(column.values, _core.DenseColumn):
        return torch.sparse_coo_tensor(to_torch(column.indices).T, to_torch(column.values), column.dense_shape)
    if isinstance(column, _core.JaggedColumn):
        return JaggedTensor(column.keys, *map(to_torch, (column.values, column.lengths, column.offsets)))
    return column


def _weigh(leaf, labels):
    return torch.from_numpy(leaf.of(labels.numpy()))


def _place(rank, world_size):
    distributed = torch.distributed
    if rank is None and world_size is None:
        if distributed.is_available() and distributed.is_initialized():
            rank, world_size = distributed.get_rank(), distributed.get_world_size()
        else:
            rank, world_size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    elif rank is None or world_size is None:
        raise ArgumentError(f"DataLoader: rank={rank} and world_size={world_size}: give both or neither")
    try:
        rank, world_size = int(rank), int(world_size)
    except ValueError:
        raise ArgumentError(f"DataLoader: RANK={rank!r} and WORLD_SIZE={world_size!r} must be whole numbers") from None
    if not 0 <= rank < world_size:
        raise ArgumentError(f"DataLoader: rank={rank} must be at least 0 and below world_size={world_size}")
    return rank, world_size
