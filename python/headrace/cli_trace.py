"""The command `headrace trace`: a program of Python's, recorded from its start to its end."""

import runpy
import sys

import click

from .tracing import trace as recording


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False))
@click.argument("script", metavar="SCRIPT.py", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", metavar="[ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
def trace(folder, script, arguments):
    """Run SCRIPT.py and write what its pipelines did into FOLDER: for TensorBoard's Profile plugin and for ui.perfetto.dev.

    The last 131,072 spans are kept, which are some thousand batches. Exit status: that of the script.
    """
    sys.argv = [script, *arguments]
    recorded = recording(folder)
    try:
        with recorded:
            runpy.run_path(script, run_name="__main__")
    finally:
        for path in recorded.files:
            click.echo(path, err=True)
        if not recorded.files:
            click.echo("headrace: no pipeline ran", err=True)
