"""Does the doctor name what is wrong, is it silent where nothing is, and do its fixes gain what it predicts?

Faults are planted in pipelines (faults.py). The first cause that the doctor names is compared with the planted one; each fix that
it can apply is applied, and the gain that it predicted compared with the one achieved. A pair is *not resolved* where the achieved
gain is smaller than what the measurement tells.
"""

import statistics
import tempfile

from benchmarks.doctor import faults
from benchmarks.harness import tables
from benchmarks.workloads.catalog import WORKLOADS

NAMES = ["ctr", "tensorproto", "cifar", "ragged"]
# Of a share: right first causes of all faults; of the relative error of predicted gains: median, and 95th percentile.
CAUSE_GOAL, MEDIAN_GOAL, HIGH_GOAL = 0.95, 0.05, 0.12


def run(plan):
    seconds = {"tiny": 0.2, "quick": 1.0, "full": 2.0}[plan.scale]
    rows, cases = [], []
    for name in plan.pick(NAMES):
        shards = plan.prepare(name)
        with tempfile.TemporaryDirectory(prefix="headrace-doctor-") as folder:
            for case in [*faults.healthy(WORKLOADS[name], shards)] + [*faults.faulty(WORKLOADS[name], shards, folder)]:
                plan.say(case.name)
                found = case.dataset.doctor(case.step_time, case.replicas, seconds, verify=True)
                cases.append(_result(case, found))
                rows += _rows(cases[-1])
    summary = _summary(cases)
    header = ("pipeline", "first cause", "fix", "by the model", "predicted", "achieved", "error")
    return {
        "json": {"cases": cases, "summary": summary},
        "tables": [("every pipeline", tables.markdown(header, rows)), ("in all", _summary_table(summary))],
    }


def _result(case, diagnosis):
    named = [finding.name for finding in diagnosis.findings]
    right = named[0] in case.expected if case.expected and named else not case.expected and not named
    pairs = [
        {"fix": finding.name, "predicted": finding.predicted.ratio, "error_bar": finding.predicted.error,
         "modelled": (finding.modelled or finding.predicted).ratio,
         "achieved": finding.achieved.ratio, "resolved": finding.achieved.resolved}
        for finding in diagnosis.findings
        if finding.predicted is not None and finding.achieved is not None
    ]  # fmt: skip
    return {"name": case.name, "healthy": not case.expected, "named": named, "right": right, "pairs": pairs, "facts": diagnosis.facts}


def _error(pair, of="predicted"):
    return abs(pair[of] / pair["achieved"] - 1)


def _rows(case):
    mark = "" if case["right"] else " (wrong)"
    first = (case["named"][0] if case["named"] else "none") + mark
    if not case["pairs"]:
        yield case["name"], first, "", "", "", "", ""
    for number, pair in enumerate(case["pairs"]):
        error = f"{100 * _error(pair):.0f} %" if pair["resolved"] else "not resolved"
        predicted = f"{pair['predicted']:.2f}x ± {pair['error_bar']:.2f}"
        gains = (f"{pair['modelled']:.2f}x", predicted, f"{pair['achieved']:.2f}x")
        yield ("" if number else case["name"], "" if number else first, pair["fix"], *gains, error)


def _summary(cases):
    planted = [case for case in cases if not case["healthy"]]
    healthy = [case for case in cases if case["healthy"]]
    pairs = [pair for case in cases for pair in case["pairs"]]
    resolved = [pair for pair in pairs if pair["resolved"]]
    errors = sorted(map(_error, resolved))
    of_model = sorted(_error(pair, "modelled") for pair in resolved)
    within = [abs(pair["predicted"] - pair["achieved"]) <= 2 * pair["error_bar"] for pair in resolved]
    return {
        "faults": len(planted),
        "right": sum(case["right"] for case in planted),
        "healthy": len(healthy),
        "false_alarms": sum(not case["right"] for case in healthy),
        "pairs": len(pairs),
        "not_resolved": len(pairs) - len(resolved),
        "median_error": statistics.median(errors) if errors else None,
        "high_error": _high(errors),
        "median_error_of_model": statistics.median(of_model) if of_model else None,
        "high_error_of_model": _high(of_model),
        "within_two_error_bars": sum(within),
        "foreign_cores": statistics.median(case["facts"]["foreign_cores"] for case in cases),
    }


def _high(errors):
    """The 95th percentile of a sorted list."""
    return errors[min(len(errors) - 1, int(0.95 * len(errors)))] if errors else None


def _summary_table(summary):
    def goal(value, limit):
        return "" if value is None else "yes" if value <= limit else "no"

    def percent(value):
        return "" if value is None else f"{100 * value:.1f} %"

    right = summary["right"] / max(1, summary["faults"])
    return tables.markdown(
        ("what", "measured", "goal", "met"),
        [
            ("right first cause", f"{summary['right']} of {summary['faults']}", percent(CAUSE_GOAL), goal(CAUSE_GOAL, right)),
            ("false alarms", f"{summary['false_alarms']} of {summary['healthy']}", "0", goal(summary["false_alarms"], 0)),
            ("median error of a predicted gain", percent(summary["median_error"]), "5 %", goal(summary["median_error"], MEDIAN_GOAL)),
            ("95th percentile", percent(summary["high_error"]), "12 %", goal(summary["high_error"], HIGH_GOAL)),
            ("median error of the model alone", percent(summary["median_error_of_model"]), "", ""),
            ("95th percentile", percent(summary["high_error_of_model"]), "", ""),
            ("pairs, of which not resolved", f"{summary['pairs']}, {summary['not_resolved']}", "", ""),
            ("within two error bars", f"{summary['within_two_error_bars']} of {summary['pairs'] - summary['not_resolved']}", "", ""),
            ("cores that other programs used", f"{summary['foreign_cores']:.2f}", "", ""),
        ],
    )
