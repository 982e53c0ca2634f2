"""The commands `headrace verify` and `headrace repair`."""

import contextlib
import json
import sys

import click
import rich.console
import rich.progress

from .verify import find_files, repair_file, verify_files


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--compression", default="auto", show_default=True, help="That all files must have; auto: by content.")
@click.option("--max-record-bytes", type=int, help="A larger record is an error.")
@click.option("--threads", type=int, help="Files read at once.  [default: the CPUs this process may use]")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each region, each file, and the whole.")
def verify(files, compression, max_record_bytes, threads, as_json):
    """Read FILES to their ends and check everything in them.

    FILES are paths, or one pattern or folder. Exit status: 0 all of them are whole, 1 something is damaged, 2 a file could
    not be read.
    """
    wanted = files[0] if len(files) == 1 else list(files)
    total = sum(size for _, size, _ in find_files(wanted))
    checks = []
    with _progress("verify", total) as progress:
        for check in verify_files(wanted, compression, max_record_bytes, threads, progress):
            checks.append(check)
            for line in _json_lines(check) if as_json else _lines(check):
                click.echo(line)
    click.echo(json.dumps({"kind": "total", **_totals(checks)}) if as_json else _summary(_totals(checks)))
    if any(check.error is not None for check in checks):
        sys.exit(2)
    sys.exit(0 if all(check.whole for check in checks) else 1)


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--compression", help="Of OUT.  [default: that of IN]")
@click.option("--level", type=int, help="Of the compression.")
@click.option("--overwrite", is_flag=True, help="OUT may be there.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each region that OUT lacks, and for IN.")
def repair(source, target, compression, level, overwrite, as_json):
    """Copy the whole records of the file IN to a new file OUT.

    Exit status: 0 nothing is missing in OUT, 1 something is, 2 OUT was not written.
    """
    total = sum(size for _, size, _ in find_files([source]))
    with _progress("repair", total) as progress:
        check = repair_file(source, target, compression, level, overwrite, progress=progress)
    for line in _json_lines(check) if as_json else [*_lines(check), f"{target}: {check.records} records"]:
        click.echo(line)
    sys.exit(0 if check.whole else 1)


def _json_lines(check):
    for region in check.regions:
        yield json.dumps({"kind": "region", **json.loads(region.to_json())})
    yield json.dumps(
        {
            "kind": "file",
            "path": check.path,
            "compression": check.compression,
            "records": check.records,
            "bytes": check.bytes,
            "regions": len(check.regions),
            "error": None if check.error is None else str(check.error),
        }
    )


def _lines(check):
    for region in check.regions:
        end = "the end is not known" if region.end is None else f"up to {region.end}"
        lost = "" if region.records is None else f", {region.records} record{'s' if region.records > 1 else ''} lost"
        yield f"{region} ({end}{lost})"
    if check.error is not None:
        yield str(check.error)


def _totals(checks):
    return {
        "files": len(checks),
        "damaged_files": sum(bool(check.regions) for check in checks),
        "unread_files": sum(check.error is not None for check in checks),
        "records": sum(check.records for check in checks),
        "bytes": sum(check.bytes for check in checks),
        "regions": sum(len(check.regions) for check in checks),
    }


def _summary(totals):
    line = f"{totals['files']} files, {totals['records']} whole records of {totals['bytes']} bytes"
    if totals["regions"]:
        line += f"; {totals['regions']} damaged regions in {totals['damaged_files']} files"
    if totals["unread_files"]:
        line += f"; {totals['unread_files']} files could not be read"
    return line


@contextlib.contextmanager
def _progress(what, total):
    """A function that takes the bytes that were read; shows a bar when stderr is a terminal."""
    console = rich.console.Console(stderr=True)
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.DownloadColumn(),
        rich.progress.TransferSpeedColumn(),
        rich.progress.TimeRemainingColumn(),
    )
    with rich.progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)
