"""Markdown tables, and medians of interleaved repeats."""

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
