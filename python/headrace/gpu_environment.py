"""What a TensorFlow program on several GPUs should find in its environment, and what it should not.

TensorFlow and NCCL read these variables when they start, so that they have to be set before the import of TensorFlow:

    os.environ.update((name, value) for name, value, _ in hr.recommended_environment(gpus=4))
    import tensorflow as tf
"""

import os
from typing import NamedTuple

from . import arguments, settings


class Recommendation(NamedTuple):
    """One environment variable.

    Attributes:
        name: of the variable.
        value: that it should have, as a str; None: it should not be set.
        reason: what it does, in one sentence.
    """

    name: str
    value: str | None
    reason: str


# With a thread pool for each GPU, work of the input no longer queues between two kernel launches of a step.
_THREAD_MODE = "kernels are launched from threads of their own, which work of the input on the CPU cannot delay"
_THREAD_COUNT = "launching threads of each GPU, beside {cpus} CPUs for {gpus} of them"

# Variables that advice names, and what is wrong with having them.
_UNWANTED = {
    "TF_NCCL_USE_STREAM_MEMCPY": "TensorFlow 2.21 reads no variable of that name: it does nothing",
    "NCCL_P2P_DISABLE": "the GPUs of this host then exchange gradients through host memory",
    "NCCL_SHM_DISABLE": "GPUs without a direct path then exchange gradients over the network",
    "NCCL_LAUNCH_MODE": "the default lets each GPU start its part alone; GROUP makes all wait for the last",
    "CUDA_LAUNCH_BLOCKING": "every kernel launch then waits for its end, so that no copy or input overlaps with a step",
}


def recommended_environment(gpus):
    """The variables that matter on a host with that many GPUs, as a list of Recommendation, none of which has the value None.

    Args:
        gpus: of this host that one process trains on, >= 1.

    Raises:
        ValueError: for another number.
    """
    gpus = arguments.integer("gpus", gpus, minimum=1)
    cpus = settings.available_cpus()
    return [
        Recommendation("TF_GPU_THREAD_MODE", "gpu_private", _THREAD_MODE),
        Recommendation("TF_GPU_THREAD_COUNT", "2" if cpus >= 4 * gpus else "1", _THREAD_COUNT.format(cpus=cpus, gpus=gpus)),
        Recommendation("NCCL_DEBUG", "WARN", "NCCL says when it takes a slower way between the GPUs"),
    ]


def unwanted_environment(environ=None):
    """Variables that are set, in `environ` or the process, and that do nothing or harm: a list of Recommendation, values None."""
    environ = os.environ if environ is None else environ
    return [Recommendation(name, None, reason) for name, reason in _UNWANTED.items() if environ.get(name, "0") not in ("", "0")]
