"""Servers that misbehave: what is tried again, what is an error, and what never happens."""

import threading
import time

import headrace as hr
import numpy as np
import pytest
import remote_servers as servers
from number_shards import number_record, write_shard

RECORDS = [number_record(i) for i in range(2000)]


@pytest.fixture
def shard(bad, tmp_path):
    """The URL of a shard of 2000 records on the server that misbehaves."""
    bad.files["/a.tfrecord"] = open(write_shard(tmp_path / "a", RECORDS), "rb").read()
    return f"{bad.url}/a.tfrecord"


FAULTS = {
    "drop": servers.dropped,
    "500": servers.status(500),
    "503": servers.status(503, ("Retry-After", "0")),
    "429": servers.status(429),
    "cut": servers.cut_after(1000),
    "cut at once": servers.cut_after(0),
    "whole": servers.without_ranges,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_tried_again(bad, shard, fault):
    bad.faults = [servers.well, FAULTS[fault], servers.well, FAULTS[fault]]
    assert list(hr.TFRecordDataset(shard)) == RECORDS
    bad.faults = [FAULTS[fault], FAULTS[fault]]
    assert list(hr.open_records(shard)) == RECORDS


def test_a_broken_answer_is_resumed_where_it_broke(bad, shard):
    size = len(bad.files["/a.tfrecord"])
    bad.faults = [servers.well, servers.cut_after(1000), servers.cut_after(500)]
    assert list(hr.TFRecordDataset(shard)) == RECORDS
    assert [request.range() for request in bad.requests] == [(0, 0), (0, size - 1), (1000, size - 1), (1500, size - 1)]


def test_a_connection_that_breaks_all_the_time_still_brings_the_whole(bad, shard):
    bad.faults = [servers.well, *[servers.cut_after(10_000)] * 200]
    assert list(hr.TFRecordDataset(shard)) == RECORDS


def test_too_many_failures_end_the_stream_behind_what_came(bad, shard):
    bad.faults = [servers.well, servers.cut_after(40_000)]
    bad.faults += [servers.status(503)] * 20
    got = []
    with pytest.raises(OSError, match=r"the server answers 503.*after 3 attempts.*at byte 40000") as caught:
        got.extend(iter_into(got, hr.TFRecordDataset(shard)))
    assert caught.value.path == shard
    assert 0 < len(got) < 2000 and got == RECORDS[: len(got)]


def iter_into(got, dataset):
    for record in dataset:
        got.append(record)
    return []


def test_skipping_damage_does_not_skip_what_a_server_keeps_back(bad, shard):
    bad.faults = [servers.well, servers.cut_after(40_000), *[servers.status(500)] * 20]
    with pytest.raises(OSError, match="500"):
        list(hr.TFRecordDataset(shard, on_corrupt="skip"))


@pytest.mark.parametrize("code, kind", [(400, OSError), (403, PermissionError), (404, FileNotFoundError), (410, FileNotFoundError)])
def test_refusals_are_not_tried_again(bad, shard, code, kind):
    bad.faults = [servers.well, servers.status(code)]
    with pytest.raises(kind, match=f"{code}"):
        list(hr.TFRecordDataset(shard))
    assert len(bad.requests) == 2


def test_other_bytes_than_asked_for(bad, shard):
    bad.faults = [servers.well, servers.other_range]
    with pytest.raises(OSError, match="other bytes than those asked for"):
        list(hr.TFRecordDataset(shard))


def test_a_replaced_file_is_an_error_that_names_it(bad, shard):
    def replaced(server, request):
        server.etags["/a.tfrecord"] = '"two"'
        server.serve(request)

    bad.faults = [servers.well, replaced]
    with pytest.raises(OSError, match="the object was replaced while it was read") as caught:
        list(hr.TFRecordDataset(shard))
    assert caught.value.filename == shard


def test_a_replaced_file_of_a_server_that_ignores_if_match(bad, shard):
    def other_tag(server, request):
        request.headers.pop("if-match", None)
        server.etags["/a.tfrecord"] = '"two"'
        server.serve(request)

    bad.faults = [servers.well, servers.cut_after(1000), other_tag]
    with pytest.raises(OSError, match="replaced"):
        list(hr.TFRecordDataset(shard))


@pytest.mark.parametrize("change", [b"", b"more"])
def test_a_file_of_another_size(bad, shard, change):
    def other_size(server, request):
        request.headers.pop("if-match", None)
        server.files["/a.tfrecord"] = server.files["/a.tfrecord"][: None if change else -10] + change
        server.serve(request)

    bad.faults = [servers.well, other_size]
    with pytest.raises(OSError, match="replaced"):
        list(hr.TFRecordDataset(shard))


def test_the_version_is_that_of_the_start_in_later_epochs(bad, shard):
    records = iter(hr.TFRecordDataset(shard).repeat(2))
    assert [next(records) for _ in range(1500)] == RECORDS[:1500]
    bad.etags["/a.tfrecord"] = '"two"'
    with pytest.raises(OSError, match="replaced"):
        for _ in records:
            pass


def test_a_server_without_ranges(bad, tmp_path):
    records = [np.random.default_rng(i).bytes(1 << 20) for i in range(3)]
    bad.files["/a"] = open(write_shard(tmp_path / "large", records), "rb").read()
    bad.always = servers.without_ranges
    assert list(hr.TFRecordDataset(f"{bad.url}/a")) == records


def test_a_server_that_tells_no_size(bad, shard):
    def chunked(server, request):
        request._handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
        request.drop()

    bad.always = chunked
    with pytest.raises(OSError, match="does not tell the size"):
        hr.TFRecordDataset(shard).check()


def test_silence_is_broken_off_and_tried_again(bad, shard, environment):
    environment.setenv("HEADRACE_REMOTE_TIMEOUT", "1")
    over = threading.Event()

    def silent(server, request):
        server.serve(request, pause=lambda: over.wait(20), pause_at=1000)

    bad.faults = [servers.well, silent]
    begin = time.monotonic()
    assert list(hr.TFRecordDataset(shard)) == RECORDS
    assert time.monotonic() - begin < 15
    over.set()


def test_what_came_is_delivered_before_the_rest_is_there(bad, shard):
    over = threading.Event()
    bad.faults = [servers.well, lambda server, request: server.serve(request, pause=over.wait, pause_at=100_000)]
    records = hr.open_records(shard)
    assert [next(records) for _ in range(500)] == RECORDS[:500]
    over.set()
    assert list(records) == RECORDS[500:]


def test_close_wakes_a_wait_at_once(bad, shard, environment):
    environment.setenv("HEADRACE_REMOTE_TIMEOUT", "60")
    over = threading.Event()
    bad.faults = [servers.well, lambda server, request: server.serve(request, pause=lambda: over.wait(30), pause_at=0)]
    pipeline = iter(hr.TFRecordDataset(shard).batch(10))
    outcome = []

    def wait():
        try:
            outcome.append(next(pipeline))
        except hr.ClosedError as error:
            outcome.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.5)
    begin = time.monotonic()
    pipeline.close()
    thread.join(10)
    assert time.monotonic() - begin < 1
    assert isinstance(outcome[0], hr.ClosedError)
    over.set()


def test_parts_are_fetched_side_by_side(bad, tmp_path):
    records = [np.random.default_rng(i).bytes(1 << 20) for i in range(48)]
    bad.files["/a"] = open(write_shard(tmp_path / "large", records), "rb").read()
    bad.always = lambda server, request: (time.sleep(0.05), server.serve(request))
    assert list(hr.TFRecordDataset(f"{bad.url}/a")) == records
    assert bad.most_at_once >= 6


def test_a_small_budget_bounds_what_is_on_its_way(bad, tmp_path):
    records = [np.random.default_rng(i).bytes(1 << 20) for i in range(48)]
    bad.files["/a"] = open(write_shard(tmp_path / "large", records), "rb").read()
    budget = 32 << 20
    over = threading.Event()

    def held(server, request):
        if request.range() != (0, 0):
            over.wait(10)
        server.serve(request)

    bad.always = held
    pipeline = iter(hr.TFRecordDataset(f"{bad.url}/a", memory_bytes=budget).batch(1))
    thread = threading.Thread(target=lambda: next(pipeline))
    thread.start()
    time.sleep(1)
    asked = [request.range() for request in bad.requests if request.range() != (0, 0)]
    over.set()
    thread.join()
    pipeline.close()
    assert 0 < sum(last + 1 - first for first, last in asked) <= budget / 4
