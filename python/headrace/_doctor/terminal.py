"""A Diagnosis for the terminal."""

import rich.box
import rich.console
import rich.markup
import rich.padding
import rich.syntax
import rich.table
import rich.text

from . import strip


def form(diagnosis):
    """Something that rich prints: the verdict, the facts, then the findings, the most gainful first."""
    bound = {True: "input-bound", False: "not input-bound", None: "step time not known"}[diagnosis.input_bound]
    verdict = rich.text.Text(f"{bound}, limited by {diagnosis.limit}", style="bold")
    parts = [rich.text.Text(diagnosis.subject), verdict]
    if diagnosis.timeline:
        seconds = diagnosis.facts["timeline_seconds"]
        parts.append(rich.text.Text(f"{strip.line(diagnosis.timeline)}  accelerators busy, {seconds:.3g} s"))
    parts.append(_facts(diagnosis.facts))
    for number, finding in enumerate(diagnosis.findings, 1):
        parts.append(rich.text.Text(f"{number}. {finding.name}{_gains(finding)}", style="bold"))
        parts.append(rich.padding.Padding(rich.text.Text(f"{finding.cause}\n{finding.evidence}"), (0, 0, 0, 3)))
        code = rich.syntax.Syntax(finding.fix, "python", background_color="default", word_wrap=True)
        parts.append(rich.padding.Padding(code, (1, 0, 1, 6)))
    if not diagnosis.findings:
        parts.append(rich.text.Text("nothing to gain was found", style="bold"))
    return rich.console.Group(*parts)


def _gains(finding):
    gains = [f"{word} {gain}" for word, gain in finding.gains.items()]
    return f"  {', '.join(gains)}" if gains else ""


def _facts(facts):
    table = rich.table.Table(box=rich.box.SIMPLE, show_header=False, padding=(0, 1))
    items = [(name.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else str(value)) for name, value in facts.items()]
    half = -(-len(items) // 2)
    for left, right in zip(items[:half], [*items[half:], ("", "")]):
        table.add_row(*map(rich.markup.escape, (*left, *right)))
    return table
