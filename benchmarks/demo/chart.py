"""Strip charts of utilisation over time: block characters for the terminal, SVG for the page and for documents."""

from html import escape

BLOCKS = "▁▂▃▄▅▆▇█"
_RED, _AMBER, _GREEN = "#c8553d", "#d9a441", "#4f9d69"
LEGEND = ((_GREEN, "95 % and more"), (_AMBER, "70 to 95 %"), (_RED, "less than 70 %"))


def blocks(values, width):
    """[(character, value)] of `width` characters; each shows the mean of its part."""
    strip = []
    for i in range(width):
        part = values[i * len(values) // width : max((i + 1) * len(values) // width, i * len(values) // width + 1)]
        mean = sum(part) / len(part)
        strip.append((BLOCKS[min(int(mean * len(BLOCKS)), len(BLOCKS) - 1)], mean))
    return strip


def colour(value, low=_RED, middle=_AMBER, high=_GREEN):
    return high if value >= 0.95 else middle if value >= 0.7 else low


def bars(values, width, height, x=0.0, y=0.0):
    """The bars alone, as SVG elements."""
    step = width / len(values)
    elements = [f'<rect x="{x:.1f}" y="{y:.1f}" width="{width}" height="{height}" fill="#8881" />']
    for i, value in enumerate(values):
        bar = max(value * height, 0.5)
        elements.append(
            f'<rect x="{x + i * step:.2f}" y="{y + height - bar:.2f}" width="{step * 0.92:.2f}" height="{bar:.2f}" '
            f'fill="{colour(value)}" />'
        )
    return "".join(elements)


def strip(values, width=720, height=64):
    """One stand-alone strip for the page, which stretches it to its width."""
    return (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" aria-label="utilisation over time">'
        f"{bars(values, width, height)}</svg>"
    )


def picture(runs, seconds):
    """One SVG file with a strip per contender. `runs`: [(title, utilisation, timeline)]."""
    width, label, row, height = 960, 240, 92, 64
    elements = []
    for number, (title, utilisation, values) in enumerate(runs):
        top = 20 + number * row
        elements.append(f'<text x="12" y="{top + 28}" class="title">{escape(title)}</text>')
        elements.append(f'<text x="12" y="{top + 52}" class="figure">{utilisation * 100:.1f} % busy</text>')
        elements.append(bars(values, width - label - 16, height, label, top))
    total = 20 + len(runs) * row + 14
    elements.append(f'<text x="{label}" y="{total - 8}" class="axis">0 s</text>')
    elements.append(f'<text x="{width - 16}" y="{total - 8}" class="axis" text-anchor="end">{seconds:.0f} s</text>')
    for number, (fill, text) in enumerate(LEGEND):
        x = label + 190 + number * 130
        elements.append(f'<rect x="{x}" y="{total - 18}" width="11" height="11" fill="{fill}" />')
        elements.append(f'<text x="{x + 16}" y="{total - 8}" class="axis">{text}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" height="{total}">'
        "<style>text{font-family:system-ui,sans-serif;fill:#444}.title{font-size:17px;font-weight:600}"
        ".figure{font-size:15px}.axis{font-size:12px}</style>"
        f'<rect width="{width}" height="{total}" fill="#fff" />{"".join(elements)}</svg>\n'
    )
