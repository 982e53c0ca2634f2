"""The command `headrace index`."""

import json
import sys

import click

from .errors import Error
from .index import index_files


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--beside", is_flag=True, help="Put each index next to its file, not into the cache folder.")
@click.option("--compression", default="auto", show_default=True, help="That all files must have; auto: by content.")
@click.option("--threads", type=int, help="Files read at once.  [default: the CPUs this process may use]")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each file.")
def index(files, beside, compression, threads, as_json):
    """Write down where the records of FILES are.

    FILES are paths, or one pattern or folder. Exit status: 0 all of them have an index now, 1 some do not, since they are
    damaged or cannot be read, 2 the command failed.
    """
    failed = False
    for path, made in index_files(files[0] if len(files) == 1 else list(files), beside, compression, threads):
        error = str(made) if isinstance(made, Error) else None
        failed = failed or error is not None
        if as_json:
            click.echo(json.dumps({"path": path, "index": None if error else made, "error": error}))
        else:
            click.echo(error if error else f"{path}: {made}")
    sys.exit(1 if failed else 0)
