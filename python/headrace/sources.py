"""Where records come from: the datasets that name files."""

import os

from . import _core, arguments, provided, steps
from .dataset import Dataset
from .errors import ArgumentError


class TFRecordDataset(Dataset):
    """The records of TFRecord shards.

    Args:
        files: a str or path: an existing file, else a pattern (`*`, `?`, `[...]`), or a folder (its record files, by
            content); or a list of literal paths. Patterns and folders are read in byte order, lists as given. All of them may
            be URLs: s3:// and gs:// with patterns and folders, https:// and http:// without; those of other schemes are read
            through fsspec, when it is installed.
        compression: "auto" (by content), "none", "gzip", "zlib", "zstd", "snappy" (its framing format).
        verify: which checksums are checked: "full", "header", "off".
        on_corrupt: "raise", or "skip": leave damaged records out and report them (report().skipped_regions).
        on_mismatch: "raise", or "skip": leave records out that do not fit the schema or that filter() cannot compare; the next
            records take their place in the batch. One batch is parsed at a time then.
        max_skipped: distinct records left out before skipping becomes an error.
        max_record_bytes: larger records are a BudgetError; None: 4 GiB - 1, of compressed files also a quarter of the memory
            budget, since nothing else bounds what a few bytes may claim.
        deterministic: False lets the interleave take whichever shard is ready; not for records that processes share by order.
        num_threads: worker threads; None: the CPUs this process may use.
        memory_bytes: budget for records and batches; None: no limit.
        open: a function of one path that gives a binary file object with seek(); for files that only Python can read
            (report().io is "Python IO" then). The paths are literal. It and the files are used by threads of the engine.
        cache_bytes: what may be kept on the local disk of files behind URLs, for later epochs and other processes; None: nothing.
        cache_dir: where; None: `objects` in the folder of HEADRACE_CACHE_DIR.
        progress: show a live line of what the pipelines do, on the terminal of stderr or in a notebook; elsewhere nothing. Datasets
            that are combined show none.
        stream_version: version of the order; 1 is the only one.

    Raises:
        ValueError: naming parameter and value. Files are looked at when reading starts, or by check().
    """

    @steps.source
    def __init__(
        self,
        files,
        compression="auto",
        verify="full",
        on_corrupt="raise",
        on_mismatch="raise",
        max_skipped=1000,
        max_record_bytes=None,
        deterministic=True,
        num_threads=None,
        memory_bytes=None,
        stream_version=1,
        open=None,
        cache_bytes=None,
        cache_dir=None,
        progress=False,
    ):
        super().__init__(
            _source(
                False,
                files,
                compression=arguments.compression(compression),
                verify=str(verify),
                on_corrupt=str(on_corrupt),
                on_mismatch=on_mismatch,
                max_skipped=max_skipped,
                max_record_bytes=max_record_bytes,
                deterministic=deterministic,
                num_threads=num_threads,
                memory_bytes=memory_bytes,
                stream_version=stream_version,
                open=open,
                cache_bytes=cache_bytes,
                cache_dir=cache_dir,
            )
        )
        self._progress = bool(progress)


class FileDataset(Dataset):
    """Whole files, one record each: the bytes of each file as they are, in the order of TFRecordDataset.

    The length is the number of files. Behind parse(), a record is an Example of two features: "path", as the file was found,
    and "bytes". Nothing is inflated and there are no checksums.

        photos = hr.FileDataset("photos").shuffle(1000).batch(32).parse(
            {"image": hr.ImageFeature(224, 224, key="bytes"), "path": hr.FixedLenFeature([], hr.string)}
        )

    Args:
        files: as of TFRecordDataset, except that a folder means all its files but hidden and side files (`_SUCCESS`, `.crc`).
        on_mismatch, max_skipped, deterministic, num_threads, memory_bytes, open, cache_bytes, cache_dir, stream_version: as of
            TFRecordDataset.
        max_record_bytes: larger files are a BudgetError; None: 4 GiB - 1.

    Raises:
        ValueError: naming parameter and value. Files are looked at when reading starts, or by check().
    """

    @steps.source
    def __init__(
        self,
        files,
        on_mismatch="raise",
        max_skipped=1000,
        max_record_bytes=None,
        deterministic=True,
        num_threads=None,
        memory_bytes=None,
        stream_version=1,
        open=None,
        cache_bytes=None,
        cache_dir=None,
    ):
        super().__init__(
            _source(
                True,
                files,
                compression="none",
                verify="off",
                on_corrupt="raise",
                on_mismatch=on_mismatch,
                max_skipped=max_skipped,
                max_record_bytes=max_record_bytes,
                deterministic=deterministic,
                num_threads=num_threads,
                memory_bytes=memory_bytes,
                stream_version=stream_version,
                open=open,
                cache_bytes=cache_bytes,
                cache_dir=cache_dir,
            )
        )


def _source(
    whole_files,
    files,
    *,
    on_mismatch,
    max_skipped,
    max_record_bytes,
    deterministic,
    num_threads,
    memory_bytes,
    stream_version,
    open,
    cache_bytes,
    cache_dir,
    **options,
):
    is_list = not isinstance(files, (str, bytes, os.PathLike))
    if is_list and not hasattr(files, "__iter__"):
        raise ArgumentError(f"files={files!r}: must be a path or a list of paths")
    paths = [arguments.path("files", file) for file in (files if is_list else [files])]
    if cache_dir is not None and cache_bytes is None:
        raise ArgumentError("cache_dir: says where, cache_bytes must say how much")
    return _core.source_dataset(
        whole_files=whole_files,
        files=paths,
        is_list=is_list,
        on_mismatch=str(on_mismatch),
        max_skipped=arguments.integer("max_skipped", max_skipped, minimum=0),
        max_record_bytes=arguments.optional_integer("max_record_bytes", max_record_bytes, minimum=1),
        deterministic=bool(deterministic),
        num_threads=None if num_threads is None else arguments.small_integer("num_threads", num_threads, minimum=1),
        memory_bytes=arguments.optional_integer("memory_bytes", memory_bytes, minimum=1),
        stream_version=arguments.small_integer("stream_version", stream_version),
        provider=provided.provider(open, paths),
        cache_bytes=arguments.optional_integer("cache_bytes", cache_bytes, minimum=1),
        cache_dir=b"" if cache_dir is None else arguments.path("cache_dir", cache_dir),
        **options,
    )
