"""Four processes that train in one cgroup with a quota: for how much of the time does the kernel stop them?

Each takes batches at a pace at which all four together need at most 0.7 of the quota: who reads at full speed has used up any quota,
with one thread each. What throttles then are bursts: more threads at once than the quota has CPUs.

The group is made where this process may make one: below its own, in version 2 with the cpu controller, else in version 1. The
quota is two CPUs; on a machine that has no more than these it is one, since two would never be reached.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.harness import machine, tables

PROCESSES = 4
NEEDED = 0.7  # of the quota, by all together
GOAL = 0.02
_PERIOD_US = 100_000
_MEASURED = 200  # batches that tell what one costs
_VERSION_2 = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
_VERSION_1 = Path("/sys/fs/cgroup/cpu")


class Group:
    """A cgroup below that of this process, with a quota of so many CPUs."""

    def __init__(self, parent, cpus, is_version_2):
        self.path = parent / f"headrace-benchmark-{os.getpid()}"
        self._is_version_2 = is_version_2
        if is_version_2:
            (parent / "cgroup.subtree_control").write_text("+cpu")
        self.path.mkdir()
        if is_version_2:
            (self.path / "cpu.max").write_text(f"{cpus * _PERIOD_US} {_PERIOD_US}")
        else:
            (self.path / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (self.path / "cpu.cfs_quota_us").write_text(str(cpus * _PERIOD_US))

    def enter(self):
        """Of a child, before it is another program."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def stat(self):
        return dict(line.split() for line in (self.path / "cpu.stat").read_text().splitlines())

    def throttled_s(self):
        """Seconds that its CPUs stood still, all CPUs together."""
        stat = self.stat()
        return int(stat["throttled_usec"]) / 1e6 if self._is_version_2 else int(stat["throttled_time"]) / 1e9

    def periods(self):
        """(periods in which it ran, those of them in which it was stopped)."""
        stat = self.stat()
        return int(stat["nr_periods"]), int(stat["nr_throttled"])


@contextlib.contextmanager
def group(cpus):
    """A Group, or the text why there is none."""
    made, reasons = None, []
    for parent, is_version_2 in [*((path, True) for path in _VERSION_2), (_VERSION_1, False)]:
        if is_version_2 and "cpu" not in _controllers(parent):
            reasons.append(f"{parent}: no cpu controller of version 2")
            continue
        try:
            made = Group(parent, cpus, is_version_2)
            break
        except OSError as error:
            reasons.append(f"{parent}: {error}")
    try:
        yield made or "; ".join(reasons)
    finally:
        if made is not None:
            made.path.rmdir()


def _controllers(parent):
    try:
        return (parent / "cgroup.controllers").read_text().split()
    except OSError:
        return []


def run(plan):
    """(table as text, numbers)."""
    cpus = min(2, max(1, machine.describe()["machine"]["cores"] - 1))
    shards = plan.prepare("ctr")
    with group(cpus) as made:
        if isinstance(made, str):
            return f"Not measured: {made}.", {"not measured": made}
        plan.say(f"{PROCESSES} processes in {made.path}")
        numbers = _measure(made, shards, cpus, 1.0 if plan.scale == "tiny" else 10.0)
    share = numbers["throttled_share"]
    row = (cpus, PROCESSES, f"{numbers['cpus']:.2f}", f"{share * 100:.1f} %", numbers["periods"], numbers["throttled_periods"])
    header = ("CPUs of the group", "processes", "CPUs used", "throttled", "periods", "with a stop")
    return tables.markdown(header, [row]) + ("" if share <= GOAL else f"\n\n**missed**: at most {GOAL:.0%}"), numbers


def _measure(made, shards, cpus, seconds):
    request = json.dumps({"shards": shards, "seconds": seconds, "cpus": NEEDED * cpus / PROCESSES})
    environment = {**os.environ, "LOCAL_WORLD_SIZE": str(PROCESSES)}
    command = [sys.executable, "-m", "benchmarks.knobs.shared_quota", request]
    readers = [
        subprocess.Popen(command, cwd=machine.ROOT, env=environment, preexec_fn=made.enter, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    for reader in readers:
        assert reader.stdout.readline() == "ready\n"
    before, (periods, stopped) = made.throttled_s(), made.periods()
    for reader in readers:
        reader.stdin.write("go\n")
        reader.stdin.flush()
    used = [json.loads(reader.stdout.readline()) for reader in readers]
    throttled, (periods_then, stopped_then) = made.throttled_s(), made.periods()
    for reader in readers:
        reader.communicate("done\n")
    wall = max(one["wall_s"] for one in used)
    return {
        "cpus": sum(one["cpu_s"] for one in used) / wall,
        "throttled_share": (throttled - before) / wall,
        "periods": periods_then - periods,
        "throttled_periods": stopped_then - stopped,
        "records_per_s": sum(one["records"] / one["wall_s"] for one in used),
    }


def main(request):
    """A reader: says that it is ready, waits for a line, reads with so many CPUs, says what it used."""
    import time

    from benchmarks.knobs import pipelines
    from benchmarks.workloads.catalog import WORKLOADS

    case = pipelines.CASES["ids"]
    with iter(pipelines.dataset(case, request["shards"], WORKLOADS[case.workload], None)) as batches:
        next(batches)
        cpu = time.process_time()
        for _ in range(_MEASURED):
            next(batches)
        step_s = (time.process_time() - cpu) / _MEASURED / request["cpus"]
        print("ready", flush=True)
        sys.stdin.readline()
        cpu, begin, records = time.process_time(), time.perf_counter(), 0
        while (wall := time.perf_counter() - begin) < request["seconds"]:
            next(batches)
            records += case.batch
            time.sleep(step_s)  # the accelerator's; who was late does not catch up
        print(json.dumps({"cpu_s": time.process_time() - cpu, "wall_s": wall, "records": records}), flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
