"""What a parse op reads: a feature, and the tensors that it becomes."""

import dataclasses
from typing import Any

import tensorflow as tf


@dataclasses.dataclass
class Parsed:
    """One feature of one parse op."""

    key: str
    kind: str  # fixed, sequence (dense with any number of steps), var (sparse), ragged
    dtype: tf.DType
    parts: dict  # dense, lengths | values, splits, inner_splits | indices, values, shape -> ref
    shape: list = dataclasses.field(default_factory=list)  # of fixed; of one step of sequence
    default: Any = None  # NumPy array
    splits_dtype: Any = None
    in_sequence_example: bool = False
    in_list: bool = False  # a feature list of a SequenceExample
    may_be_missing: bool = True  # of sequence
