"""A tf.data program as plain values: where its records come from, and the stages behind them."""

import dataclasses
from typing import Any


@dataclasses.dataclass
class Stage:
    """One dataset op, named as in the graph without its version and without "Parallel": Map, Shuffle, Batch, …"""

    op: str
    arguments: dict = dataclasses.field(default_factory=dict)  # name -> plain value
    function: Any = None  # of Map and Filter: a ConcreteFunction whose captures are live, or a graph.LibraryFunction
    spec: Any = None  # element_spec behind the stage


@dataclasses.dataclass
class Files:
    """Records of TFRecord files."""

    paths: list
    compression: str  # as tf.data has it: "", "GZIP", "ZLIB"
    cycle_length: int = 1  # 1: one file after another; -1: TensorFlow's own choice, which depends on the machine
    block_length: int = 1
    shuffled: bool = False  # the order of the files changes from epoch to epoch
    file_seed: int = 0  # 0: not given
    repeat: int = 1  # of the list of files; -1: for ever
    file_stages: tuple = ()  # Stages of each file by itself, inside interleave


@dataclasses.dataclass
class Combined:
    """Records of several chains: concatenated, sampled or chosen."""

    op: str  # Concatenate, Sample, Choose
    chains: list
    arguments: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Chain:
    """A source and the stages behind it, records first."""

    source: Any  # Files or Combined
    stages: list
