"""Datasets side by side: the k-th element is the tuple of the k-th elements of all, as with tf.data.Dataset.zip.

    pairs = hr.zip(images.shuffle(2000, seed=1).batch(64).parse(image_features),
                   labels.shuffle(2000, seed=1).batch(64).parse(label_features))
    for image, label in pairs: step(image["image"], label["label"])

Each dataset is read by a pipeline of its own; all share the threads of the process. Datasets of equally many records come in the
same order from shuffles of one size and one seed, so that rows stay side by side.
"""

import builtins

from .dataset import Dataset
from .errors import ArgumentError
from .pipeline import Pipeline

_FORMAT = 1


def zip(*datasets):
    """The elements of all `datasets`, as tuples, up to the end of the shortest.

    Args:
        datasets: Datasets, at least one, or one list or tuple of them. Each may end with any step.

    Returns:
        A ZippedDataset: to iterate over, with len(), cardinality(), set_epoch() and check() as a Dataset has them.

    Raises:
        ValueError: for what is no Dataset.
    """
    if len(datasets) == 1 and isinstance(datasets[0], (list, tuple)):
        datasets = datasets[0]
    for dataset in datasets:
        if not isinstance(dataset, Dataset):
            raise ArgumentError(f"datasets: has {dataset!r}, which is no headrace Dataset")
    if not datasets:
        raise ArgumentError("datasets: there is none")
    return ZippedDataset(datasets)


class ZippedDataset:
    """What zip() gives; immutable. Iterating over it starts a ZippedPipeline."""

    def __init__(self, datasets):
        self.datasets = tuple(datasets)

    def __iter__(self):
        return ZippedPipeline(self.datasets)

    def __len__(self):
        """That of the shortest.

        Raises:
            TypeError: when one of them is not known (see Dataset).
        """
        return min(map(len, self.datasets))

    def __bool__(self):
        return True

    def __repr__(self):
        return f"<headrace.ZippedDataset of {', '.join(map(repr, self.datasets))}>"

    def cardinality(self, scan=False):
        """That of the shortest: -1 when none has an end, -2 when one is not known (TensorFlow's numbers)."""
        counts = [dataset.cardinality(scan) for dataset in self.datasets]
        if -2 in counts:
            return -2
        return min((count for count in counts if count >= 0), default=-1)

    def set_epoch(self, epoch):
        """The next iterator starts at `epoch` (>= 0) in all of them."""
        for dataset in self.datasets:
            dataset.set_epoch(epoch)

    def check(self):
        """Finds and checks the files of all; the warnings about them, as a list of str. Raises as Dataset.check()."""
        return [warning for dataset in self.datasets for warning in dataset.check()]


class ZippedPipeline:
    """Iterator over the tuples. It ends by close(), by leaving its `with` block, or when nobody refers to it any more.

    `datasets` may be anything whose iterators have the state and the close() of a Pipeline.
    """

    def __init__(self, datasets):
        self.pipelines: tuple[Pipeline, ...] = tuple(map(iter, datasets))
        self._ended = None  # the one that came to its end, or failed, first: what it raised, it raises again

    def __iter__(self):
        return self

    def __next__(self):
        """The next tuple.

        Raises:
            as the next() of each dataset; what one of them raised is raised by every later call.
        """
        if self._ended is not None:
            return next(self._ended)
        elements = []
        for pipeline in self.pipelines:
            self._ended = pipeline
            elements.append(next(pipeline))
        self._ended = None
        return tuple(elements)

    def __len__(self):
        return min(map(len, self.pipelines))

    def __bool__(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stops all of them. Idempotent."""
        for pipeline in self.pipelines:
            pipeline.close()

    def report(self):
        """The report of each dataset, as a tuple."""
        return tuple(pipeline.report() for pipeline in self.pipelines)

    def state_dict(self):
        """Where the stream stands behind the last tuple delivered; fit for JSON."""
        return {"format": _FORMAT, "zipped": [pipeline.state_dict() for pipeline in self.pipelines]}

    def load_state_dict(self, state):
        """Continues where `state` was taken. To be called before the first next().

        Raises:
            ValueError: after the first next(), or for what state_dict() of as many datasets did not make.
        """
        for pipeline, own in builtins.zip(self.pipelines, states_of(state, len(self.pipelines))):
            pipeline.load_state_dict(own)

    def get_state(self):
        """The same as state_dict()."""
        return self.state_dict()

    def set_state(self, state):
        """The same as load_state_dict()."""
        self.load_state_dict(state)


def states_of(state, count):
    """The states of the datasets in the one of so many zipped ones, as a list.

    Raises:
        ValueError: for what is none.
    """
    states = state.get("zipped") if isinstance(state, dict) and state.get("format") == _FORMAT else None
    if not isinstance(states, list) or len(states) != count:
        raise ArgumentError(f"state: must be the dict that state_dict() of {count} zipped datasets made")
    return states


def structures_of(structure, count):
    """The structure of each of so many zipped datasets (see headrace.structure), as a list.

    Raises:
        ValueError: for what is neither None nor a tuple or list with one for each.
    """
    if structure is None:
        return [None] * count
    if not isinstance(structure, (tuple, list)) or len(structure) != count:
        raise ArgumentError(f"structure={structure!r}: must be a tuple with the structure of each of the {count} zipped datasets")
    return list(structure)
