"""The commands of `headrace`. Exit status: 0 all is well, 1 the data are not what they should be, 2 the command failed."""

import sys

import click
import rich.box
import rich.console
import rich.markup
import rich.table

from . import __version__
from .cli_environment import check, env
from .cli_files import repair, verify
from .cli_index import index
from .cli_running import report, top
from .cli_trace import trace
from .errors import Error
from .infer import first_records, summarise
from .schema_diff import differences
from .spec_sources import features_from


class _Commands(click.Group):
    """Failures of the engine and of the system become one line and exit status 2."""

    def invoke(self, context):
        try:
            return super().invoke(context)
        except (Error, OSError) as error:
            click.echo(f"headrace: {error}", err=True)
            context.exit(2)


@click.group(cls=_Commands)
@click.version_option(__version__)
def command():
    """TFRecord shards to batches resident on several devices."""


command.add_command(check)
command.add_command(env)
command.add_command(index)
command.add_command(verify)
command.add_command(repair)
command.add_command(report)
command.add_command(top)
command.add_command(trace)


@command.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--records", default=1000, show_default=True, help="Records to look at, from the first 16 shards in turn.")
@click.option("--code", "form", flag_value="code", help="Print the Python source of the specs alone.")
@click.option("--json", "form", flag_value="json", help="Print the specs as JSON, for --against and features_from().")
@click.option(
    "--against",
    metavar="SCHEMA",
    help="List what does not fit these specs: headrace's JSON, a TFX schema.pbtxt or a TFDS features.json. Exit status 1 "
    "when there is something.",
)
def inspect(files, records, form, against):
    """Show what is in the records of FILES: keys, types, counts, sizes, and the specs that parse them.

    FILES are paths, or one pattern or folder.
    """
    # Read once, so that --against may look at the records again.
    sample = list(first_records(files[0] if len(files) == 1 else list(files), records))
    if against is not None:
        sys.exit(_print_differences(differences(features_from(against), sample), against, len(sample)))
    schema = summarise(sample)
    if form == "json":
        click.echo(schema.to_json())
    elif form == "code":
        click.echo(schema.to_code(), nl=False)
    else:
        _print_table(schema)
        click.echo()
        click.echo(schema.to_code(), nl=False)


def _print_table(schema):
    heading, *rows = schema.rows()
    table = rich.table.Table(*heading, box=rich.box.SIMPLE_HEAD, title=schema.headline(), title_justify="left")
    for row in rows:
        table.add_row(*map(rich.markup.escape, row))
    # What reads a pipe wants whole lines.
    console = rich.console.Console(width=None if sys.stdout.isatty() else 1000)
    console.print(table)


def _print_differences(found, against, records):
    for line in found:
        click.echo(line)
    if not found:
        click.echo(f"{records} records fit {against}")
    return 1 if found else 0
