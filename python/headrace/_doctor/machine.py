"""The machine: its CPUs and memory, and how many of the CPUs others use meanwhile."""

import dataclasses
import os
import resource
import time


@dataclasses.dataclass(frozen=True)
class CpuUse:
    """CPU seconds up to a moment (`seconds`, of time.monotonic): of this process, and of the whole machine, None without /proc."""

    seconds: float
    own: float
    machine: float | None


def cpu_use():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return CpuUse(time.monotonic(), used.ru_utime + used.ru_stime, _machine_cpu_seconds())


def machine_cores():
    """CPUs of the machine."""
    return os.cpu_count() or 1


def foreign_cores(before, after):
    """CPUs that other processes kept busy between two moments, a mean; 0.0 where that is not known."""
    if before.machine is None or after.machine is None or after.seconds <= before.seconds:
        return 0.0
    foreign = (after.machine - before.machine) - (after.own - before.own)
    return max(0.0, foreign / (after.seconds - before.seconds))


def runnable_threads():
    """Threads of the machine that run or want to, now; None without /proc."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("procs_running"))
    except (OSError, StopIteration):
        return None


def memory_bytes():
    """Memory of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def idle_seconds():
    """Seconds that the machine's CPUs were idle since it started, all together; 0.0 without /proc."""
    seconds = _seconds_by_kind()
    return 0.0 if seconds is None else sum(seconds[3:5])


def _machine_cpu_seconds():
    seconds = _seconds_by_kind()
    return None if seconds is None else sum(seconds) - sum(seconds[3:5])


def _seconds_by_kind():
    """Of all CPUs together: user, nice, system, idle, iowait, irq, softirq, steal; None without /proc."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return [int(field) / os.sysconf("SC_CLK_TCK") for field in file.readline().split()[1:9]]
    except (OSError, ValueError):
        return None
