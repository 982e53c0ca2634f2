"""Diagnoses as one HTML page that needs nothing else: no script, no font, no image from anywhere."""

import datetime
import os
import platform

import jinja2

from .tf_cli import programs

# The facts that are milliseconds of a batch, in the order of its way, and what they are called on the page.
_STAGES = (
    ("storage_wait_ms_per_batch", "waiting for storage"),
    ("inflate_ms_per_batch", "inflating"),
    ("read_ms_per_batch", "reading"),
    ("order_ms_per_batch", "order"),
    ("parse_ms_per_batch", "parsing"),
    ("python_functions_ms_per_batch", "Python functions"),
)


def render(diagnoses, command):
    """The page of a list of Diagnosis as text. `command` is how to make it again."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace._doctor", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        reports=[_report(diagnosis) for diagnosis in diagnoses],
        command=command,
        machine=f"{platform.node()}, {platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
        time=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
    )


def _report(diagnosis):
    """What the page says of one Diagnosis."""
    facts = diagnosis.facts
    return {
        "diagnosis": diagnosis,
        "stages": _stages(facts),
        "step": _step(facts),
        "strip": [(number, 100 * share) for number, share in enumerate(diagnosis.timeline)],
        "facts": [(name.replace("_", " "), _number(value)) for name, value in facts.items()],
        "bars": [_bars(finding) for finding in diagnosis.findings],
        "programs": programs(diagnosis),
    }


def _stages(facts):
    """(name, milliseconds, percent of the longest) of each stage that takes time."""
    times = {key: facts.get(key, 0.0) for key, _ in _STAGES}
    times["read_ms_per_batch"] = max(0.0, times["read_ms_per_batch"] - times["inflate_ms_per_batch"])
    longest = max(times.values())
    return [(name, times[key], 100 * times[key] / longest) for key, name in _STAGES if times[key] > 0]


def _step(facts):
    """(percent computing, milliseconds of a step, milliseconds of waiting) or None where the step time is not known."""
    if not facts.get("accelerator_utilisation"):
        return None
    share, step = facts["accelerator_utilisation"], facts["step_ms"]
    return 100 * share, step, step / share - step


def _bars(finding):
    """(what, text, percent of the longer one, percent of its error) of the gains of a finding."""
    longest = max((gain.ratio + gain.error for gain in finding.gains.values()), default=1.0)
    return [(what, str(gain), 100 * gain.ratio / longest, 100 * gain.error / longest) for what, gain in finding.gains.items()]


def _number(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)
