"""The command `headrace doctor`."""

import json
import re
import runpy
import shlex
import sys

import click
import rich.console

from ._doctor import terminal, tf_cli
from .errors import ArgumentError
from .infer import infer_schema
from .sources import TFRecordDataset
from .spec_sources import features_from

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class _Duration(click.ParamType):
    """A time as people write it: 120ms, 0.12s, 850us; a number alone is seconds."""

    name = "TIME"

    def convert(self, value, parameter, context):
        match = re.fullmatch(r"\s*([0-9.]+(?:e-?[0-9]+)?)\s*(us|ms|s)?\s*", str(value))
        try:
            return float(match[1]) * _UNITS[match[2] or "s"]
        except (TypeError, ValueError):
            self.fail(f"{value!r} is no time; write 120ms or 0.12s", parameter, context)


@click.command()
@click.argument("files", nargs=-1)
@tf_cli.options
@click.option(
    "--features",
    metavar="SPEC",
    help="A Python file that defines `features`, or what features_from() reads.  [default: told from the records]",
)
@click.option("--batch", default=256, show_default=True, help="Records of a global batch.")
@click.option("--replicas", default=1, show_default=True, help="Devices that share a batch.")
@click.option("--step-time", type=_Duration(), help="Of a training step that does not wait for data, such as 120ms.")
@click.option("--shuffle", default=2000, show_default=True, help="Records of the shuffle buffer; 0: no shuffle.")
@click.option("--cycle", default=16, show_default=True, help="Shards that are read in turn; 1: one after another.")
@click.option("--threads", type=int, help="Worker threads.  [default: the CPUs this process may use]")
@click.option("--seconds", default=2.0, show_default=True, help="How long each measurement lasts.")
@click.option("--verify", is_flag=True, help="Apply each fix to a copy of the pipeline and print what it achieves.")
@click.option("--html", "page_path", metavar="FILE", help="Write the diagnosis as one page there.")
@click.option("--json", "json_path", metavar="FILE", help="Write it as JSON there.")
def doctor(files, script, profile, step_time, verify, page_path, json_path, **declared):
    """Say whether the input of a training keeps its accelerators waiting, what limits it, and what each fix gains.

    FILES are paths, or one pattern or folder, read as the options say. With --script, what stands there is the command line of the
    script; with --profile, nothing. Exit status: 0 nothing to gain was found, 1 something was, 2 the command failed.
    """
    if tf_cli.is_asked(script, profile):
        found = tf_cli.diagnoses(script, profile, files, step_time, verify)
    elif files:
        found = [_dataset(files, **declared).doctor(step_time, declared["replicas"], declared["seconds"], verify)]
    else:
        raise click.UsageError("give FILES, --script or --profile")
    console = rich.console.Console(width=None if sys.stdout.isatty() else 120)
    for diagnosis in found:
        console.print(terminal.form(diagnosis))
        for title, source in tf_cli.programs(diagnosis):
            console.print(f"\n{title}:\n", markup=False)
            click.echo(source)
    if json_path is not None:
        values = [diagnosis.as_dict() for diagnosis in found]
        with open(json_path, "w", encoding="utf-8") as file:
            json.dump(values[0] if len(values) == 1 else values, file, indent=1)
    if page_path is not None:
        from ._doctor import page  # needs jinja2

        with open(page_path, "w", encoding="utf-8") as file:
            file.write(page.render(found, "headrace " + shlex.join(sys.argv[1:])))
    sys.exit(1 if any(diagnosis.findings for diagnosis in found) else 0)


def _dataset(files, features, batch, replicas, shuffle, cycle, threads, seconds):
    """The pipeline that the options declare."""
    wanted = files[0] if len(files) == 1 else list(files)
    specs = infer_schema(wanted).features if features is None else _features(features)
    dataset = TFRecordDataset(wanted, num_threads=threads)
    if cycle > 1:
        dataset = dataset.interleave(cycle_length=cycle, block_length=16)
    dataset = dataset.repeat()
    if shuffle > 0:
        dataset = dataset.shuffle(shuffle)
    dataset = dataset.batch(batch, drop_remainder=True).parse(specs)
    if batch % replicas == 0:
        dataset = dataset.prefetch_to_device([f"/CPU:{number}" for number in range(replicas)])
    return dataset


def _features(source):
    if not source.endswith(".py"):
        return features_from(source)
    specs = runpy.run_path(source).get("features")
    if specs is None:
        raise ArgumentError(f"{source}: defines no `features`")
    return specs
