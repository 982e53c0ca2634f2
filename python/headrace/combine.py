"""Datasets of the records of several: at random, by weights, or as a pattern of choices says.

What is combined is not batched yet, and is read with the same options. Steps behind a combination work on its records, steps
before it on those of one dataset: repeat the small ones there, shuffle behind.
"""

from . import _core, arguments
from .dataset import Dataset
from .errors import ArgumentError


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=False):
    """Each record comes from one of `datasets`, at random.

    Args:
        datasets: Datasets without batch().
        weights: a number >= 0 for each, in proportion to which they are chosen; None: all alike.
        seed: int; None draws one now.
        stop_on_empty_dataset: True ends the stream where a dataset is chosen that has no more records; False passes over it.
        rerandomize_each_iteration: True chooses anew in each epoch.

    Returns:
        A Dataset. Its length is known where those of `datasets` are, unless it stops on an empty one.

    Raises:
        ValueError: naming parameter and value, or the dataset that cannot be combined.
    """
    cores = _cores(datasets)
    if weights is not None:
        try:
            weights = [float(weight) for weight in weights]
        except (TypeError, ValueError):
            raise ArgumentError(f"weights={weights!r}: must be a number for each dataset") from None
        if not weights:
            raise ArgumentError("weights is empty: give one for each dataset, or None")
    return Dataset(
        _core.sample_from_datasets(
            cores,
            weights=weights or [],
            seed=arguments.optional_integer("seed", seed),
            stop_on_empty=bool(stop_on_empty_dataset),
            rerandomize_each_iteration=bool(rerandomize_each_iteration),
        )
    )


def choose_from_datasets(datasets, choices, stop_on_empty_dataset=True):
    """Record p comes from `datasets[choices[p % len(choices)]]`.

    Args:
        datasets: Datasets without batch().
        choices: ints, taken again from the first one when they are used up.
        stop_on_empty_dataset: True ends the stream where a dataset is chosen that has no more records; False passes over it.

    Raises:
        ValueError: naming parameter and value, or the dataset that cannot be combined.
    """
    cores = _cores(datasets)
    if isinstance(choices, (str, bytes)) or not hasattr(choices, "__iter__"):
        raise ArgumentError(f"choices={choices!r}: must be a list of ints")
    choices = [arguments.integer("choices", choice) for choice in choices]
    return Dataset(_core.choose_from_datasets(cores, choices=choices, stop_on_empty=bool(stop_on_empty_dataset)))


def _cores(datasets):
    datasets = list(datasets)
    for dataset in datasets:
        if not isinstance(dataset, Dataset):
            raise ArgumentError(f"datasets: has {dataset!r}, which is no headrace Dataset")
    return [dataset._core for dataset in datasets]
