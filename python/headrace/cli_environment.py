"""The commands `headrace env` and `headrace check`: the settings in effect, and whether the fast ways work here."""

import sys

import click

from .gpu_environment import recommended_environment, unwanted_environment
from .settings import environment


@click.command()
@click.option("--gpus", type=click.IntRange(min=1), help="Print what TensorFlow on so many GPUs should find, as sh source.")
def env(gpus):
    """Print the settings in effect and where each comes from.

    With --gpus, variables for `eval "$(headrace env --gpus 4)"` instead, each with its reason; the ones in the environment that
    do nothing or harm are named on stderr.
    """
    if gpus is None:
        for setting in environment():
            click.echo(f"{setting.name}={setting.value} ({setting.source})")
        return
    for name, value, reason in recommended_environment(gpus):
        click.echo(f"export {name}={value}  # {reason}")
    for name, _, reason in unwanted_environment():
        click.echo(f"headrace: unset {name}: {reason}", err=True)


@click.command()
@click.argument("framework", type=click.Choice(["tensorflow"]))
def check(framework):
    """Try how FRAMEWORK takes batches. Exit status: 0 the best way works, 1 it does not, 2 FRAMEWORK cannot be imported."""
    try:
        from . import tensorflow
    except ImportError as error:
        click.echo(f"headrace: {framework} cannot be imported: {error}", err=True)
        sys.exit(2)
    route = tensorflow.check_routes()
    click.echo(f"TensorFlow {route.version}: route {route.name!r}, because {route.reason}")
    for name, _, reason in unwanted_environment():
        click.echo(f"unset {name}: {reason}")
    sys.exit(0 if route.name == "direct" else 1)
