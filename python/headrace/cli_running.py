"""The commands `headrace top` and `headrace report`: pipelines that run in other processes."""

import sys
import time

import click
import rich.box
import rich.console
import rich.live
import rich.markup
import rich.table

from .running import busiest_stage, input_bound, rates, running_pipelines


@click.command()
@click.argument("process", metavar="[PID]", type=int, required=False)
@click.option("--interval", default=1.0, show_default=True, help="Seconds between two looks; all rates are of this time.")
@click.option("--count", type=int, help="Look so often, then end.  [default: until Ctrl-C, once where stdout is no terminal]")
def top(process, interval, count):
    """Watch the pipelines of your processes on this machine, or of PID alone.

    "waiting" is the share of the time in which the consumers waited for a batch. Exit status: 1 when nothing runs.
    """
    console = rich.console.Console(width=None if sys.stdout.isatty() else 200)
    if count is None and not sys.stdout.isatty():
        count = 1
    before = _by_place(process)
    looks = 0
    with rich.live.Live(console=console, auto_refresh=False, transient=False) as live:
        try:
            while count is None or looks < count:
                time.sleep(interval)
                now = _by_place(process)
                live.update(_table(before, now), refresh=True)
                before = now
                looks += 1
        except KeyboardInterrupt:
            pass
    sys.exit(0 if before else 1)


@click.command()
@click.argument("process", metavar="PID", type=int)
def report(process):
    """Print what the pipelines of the process PID did up to now, as JSON: one line for each."""
    found = [running for running in running_pipelines() if running.process == process]
    for running in found:
        click.echo(running.to_json())
    if not found:
        click.echo(f"headrace: process {process} has no open pipeline that this user may see", err=True)
    sys.exit(0 if found else 1)


def _by_place(process):
    """{(process, order of opening): RunningPipeline}"""
    found = {}
    for running in running_pipelines():
        if process is None or running.process == process:
            order = sum(key[0] == running.process for key in found)
            found[running.process, order] = running
    return found


def _table(before, now):
    headings = ("PID", "epoch", "batches", "batches/s", "records/s", "MB/s", "waiting", "busiest stage", "MB held", "data")
    table = rich.table.Table(*headings, box=rich.box.SIMPLE_HEAD)
    for place, running in now.items():
        table.add_row(*map(rich.markup.escape, _row(before.get(place, running), running)))
    return table


def _row(before, now):
    seconds = now.open_seconds - before.open_seconds
    rate = rates(before, now)
    stage, busy = busiest_stage(before, now)
    return (
        str(now.process),
        str(now.epoch),
        str(now.batches),
        f"{rate.batches:.1f}",
        f"{rate.records:.0f}",
        f"{rate.megabytes:.1f}",
        f"{100 * input_bound(before, now):.1f} %",
        f"{stage} ({busy / seconds:.2f} cores)" if stage and seconds > 0 else "",
        f"{(now.record_bytes + now.batch_bytes) / 1e6:.1f}",
        now.name,
    )
