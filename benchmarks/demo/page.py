"""What the demo shows: the table and strip charts, in the terminal and as one self-contained page."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import jinja2
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from benchmarks.demo import chart
from benchmarks.harness import machine

TITLES = {
    "tfdata_before": "tf.data, as written first",
    "tfdata_advice": "tf.data, as advised",
    "tfdata_accelerated": "tf.data, one line more",
    "headrace": "headrace",
    "resident": "resident (control)",
}
EXPLANATIONS = {
    "tfdata_before": "Each record is parsed on its own, then shuffled and batched.",
    "tfdata_advice": "Parallel interleave, repeat, shuffle, batch, then parse the batch; prefetch; no forced order.",
    "tfdata_accelerated": "The first program, its dataset passed through headrace.tensorflow.accelerate.",
    "headrace": "Shards straight into the slices of all accelerators.",
    "resident": "One batch that stays in memory, given again and again: what the accelerators alone reach.",
}


@dataclasses.dataclass(frozen=True)
class Column:
    key: str
    title: str
    text: Callable[[float], str]


COLUMNS = (
    Column("utilisation", "utilisation", lambda v: f"{v * 100:.2f} %"),
    Column("wait_ms_p50", "wait p50 ms", lambda v: f"{v:.3f}"),
    Column("wait_ms_p99", "p99 ms", lambda v: f"{v:.2f}"),
    Column("wait_ms_max", "max ms", lambda v: f"{v:.2f}"),
    Column("records_per_s", "rec / s", lambda v: f"{v:,.0f}"),
    Column("records_per_cpu_s", "rec / CPU-s", lambda v: f"{v:,.0f}"),
    Column("cpu_cores", "CPU cores", lambda v: f"{v:.2f}"),
    Column("peak_rss_mb", "peak RSS MB", lambda v: f"{v:,.0f}"),
)


def strip_text(values, width):
    text = Text()
    for character, value in chart.blocks(values, width):
        text.append(character, style=chart.colour(value, "red", "yellow", "green"))
    return text


def terminal(runs, setup, width):
    """A rich renderable: the table, then one strip per contender."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("contender")
    for column in COLUMNS:
        table.add_column(column.title, justify="right")
    for name, run in runs.items():
        style = "bold" if name == "headrace" else None
        table.add_row(name, *(column.text(run["figures"][column.key]) for column in COLUMNS), style=style)
    label = max(map(len, runs)) + 2
    bars = max(20, min(width - label - 2, chart_width(runs)))
    strips = [Text(f"utilisation over {setup['seconds']:g} s, each character {setup['seconds'] / bars:.2f} s")]
    for name, run in runs.items():
        strips.append(Text(name.ljust(label)).append_text(strip_text(run["timeline"], bars)))
    return Group(table, Text(), *strips)


def distance(runs):
    """How far headrace is from the control, as a sentence."""
    points = (runs["resident"]["figures"]["utilisation"] - runs["headrace"]["figures"]["utilisation"]) * 100
    return f"headrace: {points:.2f} points of utilisation below a batch that is always there (resident)."


def chart_width(runs):
    return min(len(run["timeline"]) for run in runs.values())


def html(runs, setup, answers, description):
    template = jinja2.Environment(autoescape=True).from_string((Path(__file__).parent / "page.html.j2").read_text())
    return template.render(
        runs=runs,
        setup=setup,
        answers=answers,
        distance=distance(runs),
        columns=COLUMNS,
        titles=TITLES,
        explanations=EXPLANATIONS,
        legend=chart.LEGEND,
        strips={name: chart.strip(run["timeline"]) for name, run in runs.items()},
        environment=machine.one_line(description),
    )


def picture(runs, setup):
    return chart.picture(
        [(TITLES[name], run["figures"]["utilisation"], run["timeline"]) for name, run in runs.items()], setup["seconds"]
    )
