"""Fixtures of the tests of remote storage: servers on loopback, and an environment without anybody's credentials."""

import os

import pytest

import remote_servers as servers
from number_shards import write_numbers


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """No settings but the test's own; short waits."""
    prefixes = ("AWS_", "GOOGLE_", "GS_", "GCE_", "CLOUDSDK_", "STORAGE_", "HEADRACE_", "http", "HTTP", "no_proxy", "NO_PROXY")
    prefixes += ("CURL_", "REQUESTS_", "SSL_", "all_proxy", "ALL_PROXY")
    for name in [name for name in os.environ if name.startswith(prefixes)]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("HEADRACE_REMOTE_TIMEOUT", "2")
    monkeypatch.setenv("HEADRACE_REMOTE_ATTEMPTS", "3")
    return monkeypatch

@pytest.fixture
def shards(tmp_path):
    """A folder with four shards of the records 0 … 99."""
    folder = tmp_path / "shards"
    folder.mkdir()
    write_numbers(folder)
    return folder

@pytest.fixture
def web(shards, tmp_path):
    """The URL of an nginx that serves `shards`."""
    own = tmp_path / "nginx"
    own.mkdir()
    with servers.nginx(shards, own) as url:
        yield url

@pytest.fixture
def bad():
    """A server that misbehaves as it is told."""
    server = servers.Misbehaving()
    yield server
    server.close()

@pytest.fixture(scope="session")
def moto_url():
    with servers.moto() as url:
        yield url
