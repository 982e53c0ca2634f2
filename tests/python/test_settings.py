"""Settings from the environment: values, sources, errors, and what they do in Python."""

import os

import headrace as hr
import pytest


def by_name():
    return {setting.name: (setting.value, setting.source) for setting in hr.environment()}


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for name in [name for name in os.environ if name.startswith("HEADRACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")


def test_defaults():
    cpus = by_name().pop("HEADRACE_THREADS")
    assert 1 <= int(cpus[0]) <= len(os.sched_getaffinity(0)) and cpus[1] == "default"
    assert {name: value for name, value in by_name().items() if name != "HEADRACE_THREADS"} == {
        "HEADRACE_MEMORY_LIMIT": ("none", "default"),
        "HEADRACE_CPU": ("auto", "default"),
        "HEADRACE_STALL_SECONDS": ("30", "default"),
        "HEADRACE_LOG_LEVEL": ("notset", "default"),
        "HEADRACE_CACHE_DIR": ("/cache/headrace", "default"),
        "HEADRACE_REMOTE_TIMEOUT": ("30", "default"),
        "HEADRACE_REMOTE_ATTEMPTS": ("8", "default"),
        "HEADRACE_TF_ROUTE": ("auto", "default"),
        "HEADRACE_CUDA_LIBRARY": ("libcuda.so.1", "default"),
    }


def test_the_threads_of_one_process_among_several(monkeypatch):
    alone = int(by_name()["HEADRACE_THREADS"][0])
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1000")
    assert by_name()["HEADRACE_THREADS"] == ("1", "default")
    monkeypatch.setenv("HEADRACE_THREADS", str(alone + 7))
    assert by_name()["HEADRACE_THREADS"] == (str(alone + 7), "environment")


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("HEADRACE_MEMORY_LIMIT", "2G", str(2 << 30)),
        ("HEADRACE_CPU", "scalar", "scalar"),
        ("HEADRACE_STALL_SECONDS", "0.25", "0.25"),
        ("HEADRACE_LOG_LEVEL", "error", "error"),
        ("HEADRACE_CACHE_DIR", "/elsewhere", "/elsewhere"),
        ("HEADRACE_TF_ROUTE", "dataset", "dataset"),
        ("HEADRACE_CUDA_LIBRARY", "/opt/driver.so", "/opt/driver.so"),
    ],
)
def test_a_value_from_the_environment(monkeypatch, name, text, value):
    monkeypatch.setenv(name, text)
    assert by_name()[name] == (value, "environment")


@pytest.mark.parametrize("name", [name for name in by_name() if name != "HEADRACE_CUDA_LIBRARY"])  # any text names a file
def test_a_bad_value_is_named(monkeypatch, name):
    monkeypatch.setenv(name, "nonsense")
    for read in (hr.environment, lambda: hr.TFRecordDataset("nowhere")):
        with pytest.raises(ValueError, match=f"^{name}='nonsense' is not "):
            read()


LOG_LEVEL = """
import logging, os
logging.basicConfig(format="%(name)s: %(message)s")
logging.getLogger("headrace").setLevel(logging.ERROR)
import headrace as hr
logger = logging.getLogger("headrace")
logging.getLogger("headrace.pipeline").warning("a warning")
print(logger.level)
"""


@pytest.mark.parametrize("level, number, said", [("", 40, ""), ("debug", 10, "headrace.pipeline: a warning\n")])
def test_the_log_level_of_the_environment_comes_first(script, monkeypatch, level, number, said):
    monkeypatch.setenv("HEADRACE_LOG_LEVEL", level)
    done = script(LOG_LEVEL)
    assert (done.stdout, done.stderr) == (f"{number}\n", said)


def test_a_bad_log_level_does_not_stop_the_import(script, monkeypatch):
    monkeypatch.setenv("HEADRACE_LOG_LEVEL", "loud")
    text = script("import headrace\ntry: headrace.TFRecordDataset('x')\nexcept ValueError as error: print(error)").stdout
    assert text == "HEADRACE_LOG_LEVEL='loud' is not one of notset, debug, info, warning, error, critical\n"
