"""Prometheus text of the process, and the server for it."""

import re
import urllib.error
import urllib.request

import headrace as hr
import pytest

from number_shards import NUMBERS

SAMPLE = re.compile(r"^([a-z_]+)(\{[^}]*\})? ([0-9.e+-]+|\+Inf)$")


def samples():
    """{name with labels: value} of metrics_text(), each line checked."""
    found = {}
    for line in hr.metrics_text().splitlines():
        if line.startswith("# "):
            assert re.match(r"^# (HELP [a-z_]+ [A-Z].*\.|TYPE [a-z_]+ (counter|gauge|histogram))$", line)
            continue
        name, labels, value = SAMPLE.match(line).groups()
        found[name + (labels or "")] = float(value)
    return found


def test_closed_and_open_pipelines_are_added_up(numbers):
    before = samples()
    dataset = hr.TFRecordDataset(numbers).batch(10).parse(NUMBERS)
    assert len(list(dataset)) == 10
    with iter(dataset) as batches:
        for _ in range(3):
            next(batches)
        during = samples()
        assert during["headrace_pipelines"] == before["headrace_pipelines"] + 1
    after = samples()
    assert after["headrace_pipelines"] == before["headrace_pipelines"]

    def grown(name, then=before, now=after):
        return now[name] - then.get(name, 0)

    for now in (during, after):
        assert grown("headrace_batches_total", now=now) == 13
        assert grown('headrace_stage_records_total{stage="deliver"}', now=now) == 130
        assert grown("headrace_consumer_wait_seconds_count", now=now) == 13
        assert grown('headrace_consumer_wait_seconds_bucket{le="+Inf"}', now=now) == 13
    assert grown('headrace_stage_busy_seconds_total{stage="parse"}') > 0
    buckets = [value for name, value in after.items() if name.startswith("headrace_consumer_wait_seconds_bucket")]
    assert len(buckets) == 16 and buckets == sorted(buckets)


def test_names_of_functions_are_escaped(numbers):
    def odd(batch):
        return batch

    odd.__name__ = 'a"b\\c'
    list(hr.TFRecordDataset(numbers).batch(50).parse(NUMBERS).map(odd))
    assert 'headrace_stage_records_total{stage="map a\\"b\\\\c"} 100' in hr.metrics_text()


def test_the_server(numbers):
    with hr.MetricsServer() as server:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert b"headrace_pipelines " in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/", timeout=10)
        with pytest.raises(OSError):
            hr.MetricsServer(server.port)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10)


def test_a_forked_child_counts_its_own(numbers, script):
    done = script(
        f"""
import os
import headrace as hr
list(hr.TFRecordDataset({numbers!r}))
child = os.fork()
text = [line for line in hr.metrics_text().splitlines() if line.startswith("headrace_stage_records_total")]
if child == 0:
    assert text == [], text
    os._exit(len(list(hr.TFRecordDataset({numbers!r}))) - 100)
assert os.waitpid(child, 0)[1] == 0 and text != []
"""
    )
    assert done.returncode == 0
