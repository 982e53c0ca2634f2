"""The command `headrace doctor`, and the page that it writes."""

import html.parser
import json

import pytest
from headrace.findings import Diagnosis, Finding, Gain

from test_cli import headrace  # noqa: F401  (the fixture)

pytest.importorskip("jinja2")
SPEC = """
import headrace as hr

features = {"label": hr.FixedLenFeature([], hr.int64), "score": hr.FixedLenFeature([], hr.float32)}
"""
QUICK = ("--batch", "4", "--step-time", "60s", "--seconds", "0.2")


def test_nothing_to_gain(headrace):  # noqa: F811
    (headrace.folder / "spec.py").write_text(SPEC)
    done = headrace("doctor", "part-*.tfrecord", "--features", "spec.py", "--replicas", "2", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "not input-bound, limited by the accelerators" in done.stdout and "nothing to gain was found" in done.stdout


def test_a_finding_in_all_forms(headrace):  # noqa: F811
    done = headrace("doctor", "part-*.tfrecord", "--replicas", "3", *QUICK, "--html", "page.html", "--json", "all.json", "--verify")
    assert done.returncode == 1, done.stderr
    assert "1. uneven batch" in done.stdout and "dataset.batch(3)" in done.stdout
    document = json.loads((headrace.folder / "all.json").read_text())
    assert [finding["name"] for finding in document["findings"]] == ["uneven batch"]
    assert document["input_bound"] is False and document["facts"]["step_ms"] == 60_000
    page = (headrace.folder / "page.html").read_text()
    assert "uneven batch" in page and "headrace doctor &#39;part-*.tfrecord&#39; --replicas 3" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--step-time", "120 parsecs"), "is no time"),
        (("--step-time", "0"), "step_time=0"),
        (("--features", "empty.py"), "defines no `features`"),
        (("--features", "missing.json"), "missing.json"),
    ],
)
def test_what_cannot_be_done(headrace, arguments, message):  # noqa: F811
    (headrace.folder / "empty.py").write_text("")
    done = headrace("doctor", "part-*.tfrecord", *arguments)
    assert done.returncode == 2 and message in done.stderr


class _Elements(html.parser.HTMLParser):
    """Open elements, and the attributes that name something elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.elsewhere, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)
        self.elsewhere += [value for name, value in attributes if name in ("src", "href", "srcset")]
        assert tag not in ("script", "link", "img")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("input_bound", [True, False, None])
def test_the_page_stands_alone(input_bound):
    from headrace._doctor import page

    facts = {"step_ms": 20.0, "accelerator_utilisation": 0.4, "inflate_ms_per_batch": 30.0, "read_ms_per_batch": 35.0}
    findings = (
        Finding("compressed shards", "They are <gzip>.", "30 ms", "x = 1 < 2", Gain(2.0, 0.2), Gain(1.9, 0.1)),
        Finding("uneven batch", "It is.", "3", "pass"),
    )
    known = facts if input_bound is not None else {"worker_threads": 2}
    timeline = (1.0, 0.25) if input_bound is not None else ()
    known = known | ({"timeline_seconds": 2.5} if timeline else {})
    text = page.render([Diagnosis("data/<x>.tfrecord", input_bound, "cores", findings, known, timeline)], "headrace doctor")
    elements = _Elements()
    elements.feed(text)
    assert elements.open == [] and elements.elsewhere == [] and "url(" not in text and "@import" not in text
    shown = "".join(elements.text)
    for words in ("data/<x>.tfrecord", "They are <gzip>.", "x = 1 < 2", "2.00x ± 0.20", "1.90x ± 0.10", "uneven batch"):
        assert words in shown
    assert ("40.0 % busy" in shown) == (input_bound is not None)
    assert ("inflating" in shown) == (input_bound is not None)
    bars = ('y="0.0" width="1" height="100.0"', 'y="75.0" width="1" height="25.0"')
    assert [bar in text for bar in bars] == [input_bound is not None] * 2
