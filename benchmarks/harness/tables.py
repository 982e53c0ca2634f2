"""Markdown tables, and medians of interleaved repeats."""

import math
import statistics


def markdown(header, rows):
    """A Markdown table with columns padded to equal width; numbers are given as text."""
    cells = [list(map(str, header)), *[list(map(str, row)) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def thousands(value):
    """Three significant digits in thousands."""
    value /= 1000
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(ours, theirs):
    """Median, lowest and highest of the pairwise ratios of interleaved repeats."""
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    return {"median": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]}


def ratio_text(value):
    return f"{value['median']:.1f}x ({value['low']:.1f}-{value['high']:.1f})"


def median_interval(values):
    """(median, low, high): an interval that holds the true median in at least 95 of 100 cases, whatever the
    distribution (order statistics); low and high are None below six values, which cannot give one."""
    values = sorted(values)
    count = len(values)
    outside, below = 0.0, 0
    while below < count // 2 and outside + math.comb(count, below) / 2**count <= 0.025:
        outside += math.comb(count, below) / 2**count
        below += 1
    middle = statistics.median(values)
    return (middle, values[below - 1], values[-below]) if below else (middle, None, None)


def limit_text(values, limit):
    """Is the median of `values` (shares) at most `limit`? Said only when the limit lies outside the interval."""
    middle, low, high = median_interval(values)
    if low is None:
        return f"{middle * 100:+.1f} %, not resolved ({len(values)} pairs)"
    verdict = "met" if high <= limit else "MISSED" if low > limit else "not resolved"
    return f"{middle * 100:+.1f} % (95 %: {low * 100:+.1f} to {high * 100:+.1f}), limit {limit * 100:.0f} %: {verdict}"
