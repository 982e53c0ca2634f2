"""What a process used between two moments: CPU, wall time, context switches, page faults, and the CPU of everybody
else."""

import dataclasses
import os
import resource
import time
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Usage:
    """Counters at a moment, or, after `-`, what was used in between. Seconds of CPU are user + system of the process
    and of its finished children."""

    wall_s: float
    cpu_s: float
    context_switches: int
    page_faults: int
    machine_cpu_s: float

    def __sub__(self, earlier):
        return Usage(*(a - b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(earlier))))

    @property
    def foreign_share(self):
        """CPU that others used, as a share of what the machine could give in that time."""
        possible = self.wall_s * (os.cpu_count() or 1)
        return max(0.0, (self.machine_cpu_s - self.cpu_s) / possible) if possible > 0 else 0.0


def _machine_cpu_s():
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _idle, _iowait, irq, softirq, *_rest = map(int, fields)
    return (user + nice + system + irq + softirq) / _TICK


def now():
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(
        wall_s=time.perf_counter(),
        cpu_s=own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        context_switches=own.ru_nvcsw + own.ru_nivcsw,
        page_faults=own.ru_minflt,
        machine_cpu_s=_machine_cpu_s(),
    )


def peak_rss_mb():
    """High-water mark of this process' own memory. (getrusage's figure would include what the parent had before
    exec.)"""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
