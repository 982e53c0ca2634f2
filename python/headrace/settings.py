"""Settings from the environment: what they are, and where each comes from. The engine reads them, at one place."""

import logging
from typing import NamedTuple

from . import _core
from .errors import ArgumentError


class Setting(NamedTuple):
    """One environment variable of headrace.

    Attributes:
        name: of the variable.
        value: what is in effect where no argument says otherwise, as a str.
        source: "environment", or "default" when the variable is unset or empty.
    """

    name: str
    value: str
    source: str


def environment():
    """The settings that headrace takes from environment variables, as a list of Setting.

    HEADRACE_THREADS: worker threads of the process; default: the CPUs it may use, shared among LOCAL_WORLD_SIZE processes.
    HEADRACE_MEMORY_LIMIT: budget of a pipeline in bytes, or with suffix K, M, G; default: "none".
    HEADRACE_CPU: highest set of kernels: auto, scalar, sse42, avx2, avx512.
    HEADRACE_STALL_SECONDS: a consumer that waits longer gets one warning; default: 30.
    HEADRACE_LOG_LEVEL: level of the logger "headrace", set when headrace is imported: notset (default: the program's own
        configuration holds), debug, info, warning, error, critical.
    HEADRACE_CACHE_DIR: folder for what can be made again, such as indexes; default: headrace in XDG_CACHE_HOME or ~/.cache.
    HEADRACE_TF_ROUTE: what route="auto" of headrace.tensorflow.distribute means: auto, direct, dataset.
    HEADRACE_CUDA_LIBRARY: the CUDA driver that is loaded for CUDA devices; default: libcuda.so.1.

    Raises:
        ValueError: naming variable and value of the first that cannot be used; so does TFRecordDataset().
    """
    return [
        Setting(name, value, "default" if is_default else "environment") for name, value, is_default in _core.environment()
    ]


def value_of(name):
    """The value in effect of one variable."""
    return next(setting.value for setting in environment() if setting.name == name)


def available_cpus():
    """CPUs that this process may use, now: affinity and cgroup quota, divided among the processes of a job on this host; int >= 1."""
    return _core.available_cpus()


def apply_log_level():
    """Gives the logger "headrace" the level that the environment asks for."""
    try:
        level = value_of("HEADRACE_LOG_LEVEL")
    except ArgumentError:
        return  # the first dataset raises it
    if level != "notset":
        logging.getLogger("headrace").setLevel(level.upper())
