"""
The C++ engine of headrace. Use the package headrace; this module is its inside.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


def set_leak_warnings(on: bool) -> None:
    """
    Whether objects that outlive the interpreter are reported on stderr; for tests. Off.
    """

def environment() -> list:
    """The settings from environment variables as (name, value, is_default)."""

def available_cpus() -> int:
    """CPUs that this process may use, now (int >= 1)."""

class DenseColumn:
    """
    One feature of a batch as a dense, writable, C-contiguous array [rows, ...]. Speaks DLPack, in host memory also the buffer protocol and NumPy, all without a copy.
    """

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object:
        """
        A DLPack capsule, of version 1.0 when max_version allows it. On a CUDA device the copy is over, and the memory is not written to before the work that `stream` has when the tensor is dropped is done (None, -1: the work of all streams); the stream must live until then. BufferError for another device than __dlpack_device__.
        """

    def __dlpack_device__(self) -> tuple:
        """(1, 0): host memory; (2, n): CUDA device n."""

    def capsule(self) -> object:
        """
        A fresh capsule named 'dltensor', as tf.experimental.dlpack.from_dlpack takes it. It may be read by any stream.
        """

    def numpy(self) -> object:
        """A writable numpy.ndarray over the same memory."""

    def __array__(self, dtype: object | None = None, copy: bool | None = None) -> object: ...

    def __arrow_array__(self, type: object | None = None) -> object:
        """
        A pyarrow.Array of the rows, of fixed-size lists where they have dimensions (pyarrow.array calls this).
        """

    @property
    def shape(self) -> tuple:
        """Dimensions, rows first."""

    @property
    def dtype(self) -> object:
        """NumPy's name of the type."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    def __len__(self) -> int: ...

    def __getitem__(self, arg: object, /) -> object: ...

    def __repr__(self) -> str: ...

class BytesColumn:
    """
    One feature of a batch as byte strings. `payload` holds all of them in row order, `offsets` where each begins.
    """

    def numpy(self) -> object:
        """
        A numpy object array of bytes, shaped as the column. Copies every string.
        """

    def __array__(self, dtype: object | None = None, copy: bool | None = None) -> object: ...

    def tolist(self) -> object:
        """The strings as (nested) lists of bytes."""

    @property
    def shape(self) -> tuple:
        """Dimensions, rows first."""

    @property
    def dtype(self) -> object:
        """Always 'bytes'."""

    @property
    def offsets(self) -> DenseColumn:
        """int64 [elements + 1]: byte offsets into payload. ValueError for views."""

    @property
    def payload(self) -> object:
        """uint8 [bytes]: all strings one after another. ValueError for views."""

    @property
    def is_view(self) -> bool:
        """
        Whether the strings still lie in their records, which live as long as the column.
        """

    def view(self, index: int) -> object:
        """
        A read-only memoryview of one string, without a copy; it keeps the column's memory.
        """

    def copy(self) -> BytesColumn:
        """
        The same strings in memory of their own, one after another. BudgetError from 4 GiB on.
        """

    def __arrow_array__(self, type: object | None = None) -> object:
        """
        A pyarrow.LargeBinaryArray over the same memory (pyarrow.array calls this).
        """

    def __len__(self) -> int: ...

    def __getitem__(self, arg: object, /) -> object: ...

    def __repr__(self) -> str: ...

class Ragged:
    """
    One feature of a batch with rows of different length: row i is values[row_splits[i]:row_splits[i + 1]].
    """

    @property
    def values(self) -> object:
        """
        What the rows are cut from: DenseColumn or BytesColumn, or a Ragged when the rows are ragged too.
        """

    @property
    def row_splits(self) -> DenseColumn:
        """int64 [rows + 1], from 0."""

    @property
    def flat_values(self) -> object:
        """The values below the innermost ragged dimension."""

    @property
    def nested_row_splits(self) -> tuple:
        """The row splits of every ragged dimension, outermost first."""

    @property
    def dtype(self) -> object:
        """NumPy's name of the type of the values."""

    def to_sparse(self) -> object:
        """
        (indices int64 [n, rank], values [n], dense_shape int64 [rank]) as TensorFlow's sparse tensors have them.
        """

    def tolist(self) -> object:
        """The rows as nested lists."""

    def __arrow_array__(self, type: object | None = None) -> object:
        """
        A pyarrow.LargeListArray over the same memory (pyarrow.array calls this).
        """

    def __len__(self) -> int: ...

    def __getitem__(self, arg: int, /) -> object: ...

    def __repr__(self) -> str: ...

class JaggedColumn:
    """
    The lists of several features of a batch in one array: all rows of the first key, then all rows of the next. List i = key * rows + row is values[offsets[i]:offsets[i + 1]].
    """

    @property
    def keys(self) -> tuple:
        """The keys, in order."""

    @property
    def values(self) -> object:
        """What the lists are cut from: DenseColumn or BytesColumn [total]."""

    @property
    def offsets(self) -> DenseColumn:
        """int64 [keys * rows + 1], from 0."""

    @property
    def lengths(self) -> DenseColumn:
        """int64 [keys * rows]."""

    @property
    def dtype(self) -> object:
        """NumPy's name of the type of the values."""

    def to_keyed_jagged_tensor(self) -> object:
        """A torchrec KeyedJaggedTensor over the same memory; imports torchrec."""

    def todict(self) -> object:
        """{key: the rows as nested lists}."""

    def __len__(self) -> int:
        """Rows."""

    def __repr__(self) -> str: ...

class Sparse:
    """
    One feature of a batch as values at indices: element i is values[i] at indices[i] of an array of dense_shape, which is empty elsewhere.
    """

    @property
    def indices(self) -> DenseColumn:
        """
        int64 [n, rank]: row and index in every dimension of each value, in row order.
        """

    @property
    def values(self) -> object:
        """[n]: a DenseColumn or a BytesColumn."""

    @property
    def dense_shape(self) -> tuple:
        """(rows, *sizes), a tuple of int."""

    @property
    def dtype(self) -> object:
        """NumPy's name of the type of the values."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

class Slice:
    """One replica's share of a batch: a mapping from name to column."""

    def __getitem__(self, arg: object, /) -> object:
        """The column of that name; KeyError."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator: ...

    def __contains__(self, arg: object, /) -> bool: ...

    def keys(self) -> list:
        """The names, in schema order."""

    def values(self) -> list: ...

    def items(self) -> list: ...

    def get(self, key: object, default: object | None = None) -> object: ...

    def to_numpy(self) -> object:
        """
        A dict of name to numpy array: numbers without a copy, strings as objects of bytes. A Ragged, a Sparse or a JaggedColumn stays what it is.
        """

    @property
    def rows(self) -> int:
        """Rows of this share."""

    def __repr__(self) -> str: ...

class Batch:
    """
    One global batch: a mapping from name to column over all replicas (joined by a copy at the first access when there are several; DeviceError where some are on CUDA devices), and their shares.
    """

    def __getitem__(self, arg: object, /) -> object:
        """The column of that name; KeyError."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator: ...

    def __contains__(self, arg: object, /) -> bool: ...

    def keys(self) -> list:
        """The names, in schema order."""

    def values(self) -> list: ...

    def items(self) -> list: ...

    def get(self, key: object, default: object | None = None) -> object: ...

    def to_numpy(self) -> object:
        """
        A dict of name to numpy array: numbers without a copy, strings as objects of bytes. A Ragged, a Sparse or a JaggedColumn stays what it is.
        """

    @property
    def replicas(self) -> tuple:
        """The shares, one Slice per device."""

    @property
    def replica_rows(self) -> tuple:
        """Records of each share; without padding."""

    @property
    def global_rows(self) -> int:
        """
        Records of all shares, those of other processes included, by which a sum of losses is divided.
        """

    @property
    def mask(self) -> object:
        """
        With remainder="pad" the bool column `_mask`: false where a row is padding; else None.
        """

    @property
    def number(self) -> int:
        """Batches of this stream before this one."""

    @property
    def epoch(self) -> int:
        """Epoch of the first row, from 0."""

    def __repr__(self) -> str: ...

class Transform:
    """One transform as the engine sees it; see headrace/transform.h."""

    @staticmethod
    def cast(dtype: str) -> Transform: ...

    @staticmethod
    def scale(mul: Sequence[float], add: Sequence[float]) -> Transform: ...

    @staticmethod
    def normalize(mean: Sequence[float], std: Sequence[float]) -> Transform: ...

    @staticmethod
    def clip(lo: object, hi: object) -> Transform: ...

    @staticmethod
    def log1p() -> Transform: ...

    @staticmethod
    def fill_nan(value: float) -> Transform: ...

    @staticmethod
    def bucketize(boundaries: Sequence[float]) -> Transform: ...

    @staticmethod
    def one_hot(depth: int, dtype: str) -> Transform: ...

    @staticmethod
    def hash_bucket(buckets: int) -> Transform: ...

    @staticmethod
    def mod(divisor: int) -> Transform: ...

    @staticmethod
    def lookup(vocabulary: list, oov: object | None, num_oov_buckets: int) -> Transform: ...

    @staticmethod
    def truncate(count: int) -> Transform: ...

    @staticmethod
    def pad(count: int, value: object | None) -> Transform: ...

class ImageOptions:
    """What becomes of an image file; see headrace/image.h."""

    def __init__(self) -> None: ...

    def set_layout(self, name: str) -> None: ...

    def set_resize(self, name: str) -> None: ...

    def set_dct_method(self, name: str) -> None: ...

    def central_crop(self, fraction: float, square: bool) -> None: ...

    def fixed_crop(self, top: int, left: int, height: int, width: int) -> None: ...

    def random_crop(self, height: int, width: int) -> None: ...

    def random_resized_crop(self, min_area: float, max_area: float, min_ratio: float, max_ratio: float) -> None: ...

    @property
    def random_flip(self) -> bool: ...

    @random_flip.setter
    def random_flip(self, arg: bool, /) -> None: ...

    @property
    def mean(self) -> list[float]: ...

    @mean.setter
    def mean(self, arg: Sequence[float], /) -> None: ...

    @property
    def std(self) -> list[float]: ...

    @std.setter
    def std(self, arg: Sequence[float], /) -> None: ...

    @property
    def reduce(self) -> bool: ...

    @reduce.setter
    def reduce(self, arg: bool, /) -> None: ...

    @property
    def max_pixels(self) -> int: ...

    @max_pixels.setter
    def max_pixels(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

class Feature:
    """One feature as the engine sees it; see headrace/schema.h."""

    def __init__(self, name: str, kind: str, dtype: str, shape: Sequence[int], key: str = '') -> None: ...

    def set_default(self, value: object) -> None:
        """
        bytes: the elements of a number type, little-endian; a list of bytes: strings.
        """

    def add_partition(self, kind: str, key: str = '', row_length: int = 0) -> None: ...

    def add_index(self, key: str, size: int) -> None: ...

    def add_transform(self, transform: Transform) -> None: ...

    @property
    def dtype(self) -> str: ...

    @property
    def row_splits_dtype(self) -> str: ...

    @row_splits_dtype.setter
    def row_splits_dtype(self, arg: str, /) -> None: ...

    def set_unknown_dims(self, name: str) -> None:
        """'ragged', 'padded' or 'equal'."""

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, arg: str, /) -> None: ...

    @property
    def key(self) -> str: ...

    @key.setter
    def key(self, arg: str, /) -> None: ...

    @property
    def shape(self) -> tuple:
        """Dimensions per record."""

    @property
    def keys(self) -> list[str]: ...

    @keys.setter
    def keys(self, arg: Sequence[str], /) -> None: ...

    @property
    def image(self) -> ImageOptions: ...

    @image.setter
    def image(self, arg: ImageOptions, /) -> None: ...

    @property
    def allow_missing(self) -> bool: ...

    @allow_missing.setter
    def allow_missing(self, arg: bool, /) -> None: ...

    @property
    def reshape(self) -> bool: ...

    @reshape.setter
    def reshape(self, arg: bool, /) -> None: ...

    @property
    def little_endian(self) -> bool: ...

    @little_endian.setter
    def little_endian(self, arg: bool, /) -> None: ...

    @property
    def fixed_length(self) -> int: ...

    @fixed_length.setter
    def fixed_length(self, arg: int, /) -> None: ...

    @property
    def unknown_rank(self) -> bool: ...

    @unknown_rank.setter
    def unknown_rank(self, arg: bool, /) -> None: ...

    @property
    def view(self) -> bool: ...

    @view.setter
    def view(self, arg: bool, /) -> None: ...

    @property
    def sparse(self) -> bool: ...

    @sparse.setter
    def sparse(self, arg: bool, /) -> None: ...

    @property
    def already_sorted(self) -> bool: ...

    @already_sorted.setter
    def already_sorted(self, arg: bool, /) -> None: ...

    @property
    def feature_list(self) -> bool: ...

    @feature_list.setter
    def feature_list(self, arg: bool, /) -> None: ...

class Schema:
    """The features of a record, in the order of the columns."""

    def __init__(self, features: Sequence[Feature], origin: bool = False, sequence: bool = False) -> None:
        """ValueError naming feature and value of what is wrong."""

    @property
    def origin(self) -> bool: ...

class ExampleBuilder:
    """Builds one serialized tf.train.Example."""

    def __init__(self) -> None: ...

    def add_int64(self, key: str, values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def add_float(self, key: str, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def add_bytes(self, key: str, values: Sequence) -> None: ...

    def build(self) -> bytes: ...

def dtype_size(dtype: str) -> int:
    """Bytes of one element."""

def make_tensor_proto(dtype: str, shape: Sequence[int], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """A serialized TensorProto; data is uint8, the elements in native order."""

def parse_example(serialized: object, schema: Schema, num_threads: int = 1) -> Slice: ...

def parse_single_example(serialized: bytes, schema: Schema) -> Slice: ...

def parse_tensor(serialized: object, dtype: str, num_threads: int = 1) -> object: ...

def decode_raw(input_bytes: object, dtype: str, little_endian: bool = True, fixed_length: int | None = None, num_threads: int = 1) -> object: ...

def read_example(serialized: bytes) -> tuple:
    """
    ([(key, type or None, number of values, byte strings)], has feature_lists) of an Example.
    """

def describe_tensor(serialized: bytes) -> object:
    """(type, shape) of a TensorProto, or None."""

class RecordReader:
    """The records of one file, one after another, as bytes."""

    def __init__(self, path: bytes, compression: str = 'auto', verify: str = 'full', max_record_bytes: int | None = None, provider: object | None = None) -> None: ...

    def __iter__(self) -> object: ...

    def __next__(self) -> bytes: ...

    def close(self) -> None: ...

class RecordWriter:
    """Writes one file of records; it has its final name once closed."""

    def __init__(self, path: bytes, compression: str = 'none', level: int | None = None, index: bool = False) -> None: ...

    def write(self, record: bytes) -> None: ...

    def close(self) -> None:
        """Flushes and gives the file its name. Idempotent."""

    def discard(self) -> None:
        """Ends writing; a file that was not closed is removed."""

class SkippedRegion:
    """
    A piece of a shard that was left out. Offsets are those of the uncompressed stream.
    """

    @property
    def path(self) -> object: ...

    @property
    def record(self) -> object:
        """Ordinal in the shard of its first record."""

    @property
    def begin(self) -> object:
        """Offset of its first byte."""

    @property
    def end(self) -> object:
        """Offset of the first byte behind it; None when that is not known."""

    @property
    def records(self) -> object:
        """Records lost with it; None when that is not known."""

    @property
    def cause(self) -> str:
        """'data_loss': damaged; 'schema_mismatch': does not fit the schema."""

    @property
    def reason(self) -> object: ...

    @property
    def key(self) -> object:
        """Of the feature that does not fit; else None."""

    def __str__(self) -> object: ...

    def to_json(self) -> object:
        """One line of JSON, without its line end."""

class ShardVerifier:
    """Reads one file of records to its end; see headrace/verify.h."""

    def __init__(self, path: bytes, compression: str = 'auto', max_record_bytes: int | None = None, copy_to: bytes | None = None, copy_compression: str = 'none', copy_level: int | None = None, provider: object | None = None) -> None: ...

    def step(self) -> bool:
        """Reads on for some megabytes; False at the end."""

    def close_copy(self) -> None:
        """Behind the end: gives the copy its name."""

    def take_regions(self) -> list[SkippedRegion]:
        """The damaged regions found since the last call."""

    @property
    def compression(self) -> str: ...

    @property
    def file_position(self) -> int:
        """Bytes of the file that were read."""

    @property
    def records(self) -> int:
        """Whole ones."""

    @property
    def bytes(self) -> int:
        """Of their payloads."""

    @property
    def regions(self) -> int:
        """Damaged ones."""

def find_files(files: Sequence[bytes], is_list: bool, provider: object | None = None) -> list:
    """
    The (path, bytes, name) of each file, in reading order; see headrace/verify.h.
    """

class StopFlag:
    """Ends a call on another thread."""

    def __init__(self) -> None: ...

    def set(self) -> None: ...

def write_index(path: bytes, beside: bool, compression: str, stop: StopFlag) -> object:
    """
    Makes the index of a file; the path of the index. Ends when `stop` is set.
    """

def read_index(path: bytes) -> list[int]:
    """The lengths of the records that an index file tells of."""

def parse_device(name: str) -> str:
    """
    The canonical name of a device: '/CPU:0' for 'cpu:0'. ValueError when it is none.
    """

class Position:
    """Where a stream stands; see headrace/position.h."""

    def __init__(self, format: int, stream_version: int, files: str, spec: str, epoch: int, batches: int, data: str) -> None: ...

    @property
    def format(self) -> int: ...

    @property
    def stream_version(self) -> int: ...

    @property
    def files(self) -> str: ...

    @property
    def spec(self) -> str: ...

    @property
    def epoch(self) -> int: ...

    @property
    def batches(self) -> int: ...

    @property
    def data(self) -> str: ...

class StageReport:
    """What one stage did."""

    @property
    def name(self) -> str: ...

    @property
    def busy_seconds(self) -> float:
        """Summed over threads."""

    @property
    def starved_seconds(self) -> float:
        """Waiting for input."""

    @property
    def blocked_seconds(self) -> float:
        """Waiting for room downstream."""

    @property
    def records(self) -> int: ...

    @property
    def bytes(self) -> int:
        """Payload bytes that left the stage."""

class TransformReport:
    """What the transforms of one feature cost."""

    @property
    def feature(self) -> object: ...

    @property
    def busy_seconds(self) -> float:
        """Summed over threads; part of what the parse stage was busy."""

class InflateReport:
    """
    What inflating the shards of one format cost, and what other forms of the data would gain.
    """

    @property
    def compression(self) -> str: ...

    @property
    def busy_seconds(self) -> float:
        """Summed over threads; part of what the read stage was busy."""

    @property
    def file_bytes(self) -> int:
        """Bytes that were inflated."""

    @property
    def bytes(self) -> int:
        """Bytes that they became."""

    @property
    def share(self) -> float:
        """Of the busy time of all stages."""

    @property
    def gain_zstd(self) -> float:
        """Part of that time that would go away with zstd; predicted."""

    @property
    def gain_none(self) -> float:
        """The same without compression."""

class WaitReport:
    """Calls of next() that gave a batch, and lasted about as long."""

    @property
    def seconds(self) -> float:
        """At most; and longer than that of the range before."""

    @property
    def count(self) -> int: ...

class ReplicaReport:
    """What the consumer of one replica saw."""

    @property
    def batches(self) -> int: ...

    @property
    def wait_seconds(self) -> float: ...

    @property
    def waiting_seconds(self) -> float:
        """Of the call that lasts now; 0: there is none."""

class Report:
    """What the probes of a pipeline say."""

    @property
    def stages(self) -> list[StageReport]:
        """In flow order."""

    @property
    def transforms(self) -> list[TransformReport]:
        """In the order of the features that have some."""

    @property
    def inflate(self) -> list[InflateReport]:
        """Of each compressed format that was met."""

    @property
    def warnings(self) -> list:
        """One per cause."""

    @property
    def seeds(self) -> list[int]:
        """Of the shuffles, in the order of the steps."""

    @property
    def epoch(self) -> int: ...

    @property
    def batches(self) -> int:
        """Delivered."""

    @property
    def skipped(self) -> int:
        """Distinct regions that were left out."""

    @property
    def skipped_misfits(self) -> int:
        """Of these, records that do not fit the schema; the others are damaged."""

    @property
    def skipped_regions(self) -> list[SkippedRegion]:
        """The first 1000 of them."""

    @property
    def consumer_wait_seconds(self) -> float:
        """Time next() spent waiting."""

    @property
    def waits(self) -> list[WaitReport]:
        """Calls of next() by how long they lasted: 16 ranges, from 50 us on."""

    @property
    def replicas(self) -> list[ReplicaReport]:
        """What the consumer of each replica saw; the first 32."""

    @property
    def threads(self) -> int: ...

    @property
    def record_bytes(self) -> int:
        """Memory in record blocks."""

    @property
    def batch_bytes(self) -> int:
        """Memory in batches that the pipeline still owns."""

    @property
    def io(self) -> str:
        """Who reads the files: 'engine', or 'Python IO' with open= and fsspec."""

    @property
    def route(self) -> str:
        """How a framework takes the batches and why; '' without an adapter."""

    @property
    def held_by_consumer_bytes(self) -> int: ...

    def to_json(self) -> object:
        """The report as JSON text."""

def begin_exit() -> None:
    """
    The interpreter ends: from now on only the calling thread comes back from a wait.
    """

class Pipeline:
    """
    A running dataset; see headrace/pipeline.h. Waits release the GIL and answer Ctrl-C.
    """

    def next(self) -> Batch:
        """
        The next Batch; StopIteration at the end; the failure that ended the stream.
        """

    def __next__(self) -> Batch: ...

    def __iter__(self) -> object: ...

    def next_slice(self, replica: int) -> Slice:
        """
        Slice of one replica; its k-th call gives the slice of batch k. Do not mix with next().
        """

    @property
    def on_wait(self) -> object:
        """None, or what is called about once a second during a wait."""

    @on_wait.setter
    def on_wait(self, arg: object, /) -> None: ...

    @property
    def replicas(self) -> int: ...

    def cardinality(self) -> int | None: ...

    def count_map(self, name: str, busy_ns: int, rows: int) -> None:
        """Adds to the stage `map NAME` of the report."""

    @property
    def has_position(self) -> bool: ...

    def position(self, back: int = 0) -> Position:
        """Behind the last batch delivered, or the `back`-th before it."""

    def close(self) -> None:
        """Stops all work and joins; idempotent; from any thread."""

    @property
    def route(self) -> str:
        """What report().route says; for the adapters of frameworks."""

    @route.setter
    def route(self, arg: str, /) -> None: ...

    def report(self) -> Report: ...

    def write_trace(self, path: bytes) -> None: ...

class RunningPipeline:
    """An open pipeline of a process of this user; see headrace/running.h."""

    @property
    def process(self) -> int:
        """Its number (PID)."""

    @property
    def name(self) -> object:
        """Of its first file, as it was given."""

    @property
    def open_seconds(self) -> float:
        """Since it was opened."""

    @property
    def threads(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def batches(self) -> int:
        """Delivered."""

    @property
    def record_bytes(self) -> int:
        """Memory in record blocks, at the last batch."""

    @property
    def batch_bytes(self) -> int:
        """Memory in ready batches, at the last batch."""

    @property
    def stages(self) -> list[StageReport]:
        """The first 20."""

    @property
    def waits(self) -> list[WaitReport]:
        """Calls of next() by how long they lasted."""

    @property
    def replicas(self) -> list[ReplicaReport]:
        """What the consumer of each saw; the first 32."""

    def to_json(self) -> object:
        """As JSON text; the words are those of Pipeline.stats()."""

class ProcessTotals:
    """All pipelines of this process together; see headrace/running.h."""

    @property
    def open_pipelines(self) -> int: ...

    @property
    def batches(self) -> int:
        """Delivered."""

    @property
    def wait_seconds(self) -> float:
        """Of calls of next() that gave a batch, all replicas."""

    @property
    def stages(self) -> list[StageReport]:
        """Those of one name added up."""

    @property
    def waits(self) -> list[WaitReport]:
        """Empty before the first pipeline."""

    @property
    def record_bytes(self) -> int:
        """Of the open ones, at their last batch."""

    @property
    def batch_bytes(self) -> int:
        """Of the open ones, at their last batch."""

def process_totals() -> ProcessTotals:
    """
    All pipelines of this process together, from its start on, those that were closed included.
    """

def running_pipelines() -> list[RunningPipeline]:
    """
    The open pipelines of this user's processes on this machine, by process, then by age.
    """

class Filter:
    """A postfix expression over terms, for Dataset.filter."""

    def __init__(self) -> None: ...

    def add_ints(self, key: bytes, subject: str, comparison: str, operands: Sequence[int], fallback: int | None = None) -> None: ...

    def add_floats(self, key: bytes, subject: str, comparison: str, operands: Sequence[float], fallback: float | None = None) -> None: ...

    def add_strings(self, key: bytes, subject: str, comparison: str, operands: Sequence[bytes], fallback: bytes | None = None) -> None: ...

    def negate(self) -> None: ...

    def both(self) -> None: ...

    def either(self) -> None: ...

    def text(self) -> str: ...

class Dataset:
    """A declared pipeline; see headrace/dataset.h."""

    def interleave(self, cycle_length: int = 16, block_length: int = 1) -> Dataset: ...

    def repeat(self, count: int | None = None) -> Dataset: ...

    def shuffle(self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True, mix_epochs: bool = False, global_: bool = False, window_bytes: int | None = None) -> Dataset: ...

    def shard(self, num_shards: int, index: int, by: str = 'record', drop_remainder: bool = False) -> Dataset: ...

    def filter(self, filter: Filter) -> Dataset: ...

    def take(self, count: int) -> Dataset: ...

    def skip(self, count: int) -> Dataset: ...

    def assert_cardinality(self, records: int) -> Dataset: ...

    def batch(self, size: int, drop_remainder: bool = False) -> Dataset: ...

    def cache(self, path: bytes) -> Dataset: ...

    def unbatch(self) -> Dataset: ...

    def enumerate(self, start: int) -> Dataset: ...

    def padded_batch(self, size: int, drop_remainder: bool, features: list, value: object | None) -> Dataset: ...

    def bucket_by_sequence_length(self, key: str, sequence: bool, boundaries: Sequence[int], sizes: Sequence[int], drop_remainder: bool) -> Dataset: ...

    def parse(self, schema: Schema) -> Dataset: ...

    def map(self, name: str, columns: Sequence[str], address: int) -> Dataset: ...

    def prefetch_to_device(self, devices: Sequence[str], depth: int, remainder: str, weights: Sequence[int], local: tuple[int, int] | None) -> Dataset: ...

    def resident(self, batches: int, count: int | None) -> Dataset: ...

    def open(self, position: Position | None = None) -> Pipeline:
        """Finds and checks the files and starts reading."""

    def check(self) -> list:
        """Finds and checks the files; the warnings about them."""

    def set_epoch(self, epoch: int) -> None: ...

    @property
    def drops_remainder(self) -> bool: ...

    def next_epoch(self) -> int: ...

    def cardinality(self) -> int | None:
        """
        Elements of the stream; None when that is not known, -1 when there is no end.
        """

    def epoch_cardinality(self) -> int | None:
        """The same for one epoch, as if there were no repeat()."""

    def find_indexes(self) -> bool:
        """
        Whether there is an index of every file; the records of an epoch are known then.
        """

    def make_indexes(self) -> list:
        """Makes the indexes that are missing; warnings about them."""

    def ops(self) -> list:
        """The declared steps as (id, name, arguments), the source first."""

def concatenate(first: Dataset, second: Dataset) -> Dataset: ...

def sample_from_datasets(datasets: Sequence[Dataset], weights: Sequence[float], seed: int | None = None, stop_on_empty: bool, rerandomize_each_iteration: bool) -> Dataset: ...

def choose_from_datasets(datasets: Sequence[Dataset], choices: Sequence[int], stop_on_empty: bool) -> Dataset: ...

def source_dataset(whole_files: bool, files: Sequence[bytes], is_list: bool, compression: str, verify: str, on_corrupt: str, on_mismatch: str, max_skipped: int, max_record_bytes: int | None, deterministic: bool, num_threads: int | None, memory_bytes: int | None, stream_version: int, provider: object | None = None, cache_bytes: int | None = None, cache_dir: bytes = ...) -> Dataset:
    """The source of a Dataset."""

def trace_works_ahead() -> None:
    """The calling thread takes batches to work on them ahead of a consumer."""

def add_to_trace(name: str, begin_ns: int, end_ns: int) -> None:
    """
    A span of the calling thread, 'wait' for a consumer's; times of time.monotonic_ns(). Nothing while nobody records.
    """

def start_trace() -> None:
    """
    Begins to record all pipelines of the process. ValueError while somebody records.
    """

def stop_trace(host: bytes) -> tuple:
    """
    Ends it: (XSpace, Perfetto's packets, Chrome's JSON, batches that consumers got); empty when nobody has begun.
    """

def tensorflow_columns(dataset: Dataset) -> list:
    """
    The columns of a parsed dataset: (name, dtype, shape of a row with -1 for what differs by batch or None, row length of each ragged dimension or -1, dtype of row splits, sparse).
    """

class TensorflowPlan:
    """
    Which arrays TensorFlow gets of a slice: [(column, form)], form 0 dense, 1 ragged with int64 splits, 2 ragged with int32 splits, 3 sparse.
    """

    def __init__(self, arg: Sequence[tuple[str, int]], /) -> None: ...

    def capsules(self, slice: Slice) -> list:
        """
        A DLPack capsule per array of `slice`, in plan order; ValueError for a column of strings.
        """

class TensorflowSource:
    """What the op pulls slices from, known to it by its address."""

    @property
    def address(self) -> int:
        """The input `source` of the op."""

    def set_batch(self, batch: Batch) -> None:
        """
        What a source of tensorflow_batch_source() gives next: slice r for replica r.
        """

    def close(self) -> None:
        """Stops the work behind the source; idempotent."""

def tensorflow_source(pipeline: Pipeline, plan: TensorflowPlan) -> TensorflowSource:
    """A source over the slices of a running pipeline."""

def tensorflow_dataset_source(dataset: Dataset, plan: TensorflowPlan) -> TensorflowSource:
    """A source whose open() starts a pipeline of its own."""

def tensorflow_batch_source(plan: TensorflowPlan) -> TensorflowSource:
    """A source over one batch that Python has taken."""

def tensorflow_seed(seed: int, epoch: int, batch_number: int, replica: int) -> tuple:
    """
    Two int32, a pure function of the arguments: the seed that map functions get.
    """

def close_tensorflow_sources() -> None:
    """Closes every source of this process; for its end."""
