"""Dataset.map: compiled functions in the engine's threads, Python functions on their own; errors, positions, ends."""

import ctypes
import gc
import os
import subprocess
import threading
import time
import weakref

import headrace as hr
import numpy as np
import pytest
from headrace import mapped as mapped_module

ROWS = 50
SPEC = {"n": hr.FixedLenFeature([], hr.int64), "x": hr.FixedLenFeature([3], hr.float32), "s": hr.FixedLenFeature([], hr.string)}

SOURCE = """
#include <cstdint>
extern "C" std::int32_t add_to_both(std::int64_t rows, void** columns) {
  auto* numbers = static_cast<std::int64_t*>(columns[0]);
  auto* floats = static_cast<float*>(columns[1]);
  for (std::int64_t row = 0; row < rows; ++row) {
    numbers[row] += 1000;
    floats[3 * row + 1] = static_cast<float>(numbers[row]);
  }
  return 0;
}
extern "C" std::int32_t refuse_the_second_batch(std::int64_t, void** columns) {
  return *static_cast<std::int64_t*>(columns[0]) == 8 ? 7 : 0;
}
"""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "functions.cc").write_text(SOURCE)
    compiler = [os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", "functions.so", "functions.cc"]
    subprocess.run(compiler, cwd=folder, check=True, timeout=100)
    return ctypes.CDLL(str(folder / "functions.so"))


@pytest.fixture
def batches(tmp_path):
    path = str(tmp_path / "map.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for n in range(ROWS):
            writer.write(hr.make_example({"n": n, "x": np.float32([n, 1, 2]), "s": b"text"}))
    return hr.TFRecordDataset(path).batch(8).parse(SPEC)


def test_a_compiled_function_changes_columns_in_place(batches, compiled):
    mapped = batches.map(compiled.add_to_both, columns=["n", "x"], name="add").prefetch_to_device(["/CPU:0", "/CPU:1"])
    numbers = []
    with iter(mapped) as pipeline:
        for batch in pipeline:
            for share in batch.replicas:
                np.testing.assert_array_equal(share["x"].numpy()[:, 1], share["n"].numpy())
            numbers += batch["n"].numpy().tolist()
        stages = {stage.name: stage for stage in pipeline.report().stages}
    assert numbers == list(range(1000, 1000 + ROWS))
    assert stages["map add"].records == ROWS and stages["map add"].busy_seconds > 0


def test_numba(batches):
    numba = pytest.importorskip("numba")
    types = numba.types

    @numba.cfunc(types.int32(types.int64, types.CPointer(types.voidptr)))
    def double(rows, columns):
        numbers = numba.carray(columns[0], (rows,), np.int64)
        numbers *= 2
        return 0

    found = [n for batch in batches.map(double, columns=["n"]) for n in batch["n"].numpy()]
    assert found == [2 * n for n in range(ROWS)]


def test_what_a_compiled_function_returns_is_an_error_in_its_place(batches, compiled):
    with iter(batches.map(compiled.refuse_the_second_batch, columns=["n"], name="second")) as pipeline:
        assert next(pipeline)["n"].numpy().tolist() == list(range(8))
        for _ in range(2):
            with pytest.raises(ValueError, match=r"map\(second\): the function returned 7"):
                next(pipeline)


def test_what_is_refused(batches, compiled):
    with pytest.raises(ValueError, match="makes no column 'y'"):
        batches.map(compiled.add_to_both, columns=["y"])
    with pytest.raises(ValueError, match="column 's' is not a dense column of numbers"):
        next(iter(batches.map(compiled.add_to_both, columns=["s"])))
    with pytest.raises(ValueError, match="function=3"):
        batches.map(3)
    with pytest.raises(ValueError, match="for compiled functions only"):
        batches.map(len, columns=["n"])
    wrapper = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p))(lambda rows, columns: 0)
    with pytest.raises(ValueError, match="a ctypes wrapper around a Python function; pass the function itself"):
        batches.map(wrapper, columns=["n"])
    mapped = batches.map(len)
    with pytest.raises(ValueError, match=r"a compiled function cannot stand behind map\(len\)"):
        mapped.map(compiled.add_to_both, columns=["n"])
    with pytest.raises(ValueError, match="use next"):
        iter(mapped).next_slice(0)
    unparsed = hr.TFRecordDataset("nowhere").batch(2)
    for function in (len, compiled.add_to_both):
        with pytest.raises(ValueError, match=r"needs batch\(\) and parse\(\) before it"):
            unparsed.map(function)


def sums(batch):
    return int(batch["n"].numpy().sum()), batch.global_rows


def test_python_functions(batches, compiled):
    mapped = batches.map(compiled.add_to_both, columns=["n", "x"]).map(sums).map(lambda pair: pair[0] / pair[1], name="mean")
    with iter(mapped) as pipeline:
        found = list(pipeline)
        stages = {stage.name: stage for stage in pipeline.report().stages}
    rows = [np.arange(first, min(first + 8, ROWS)) for first in range(0, ROWS, 8)]
    assert found == [1000 + row.mean() for row in rows]
    assert stages["map sums"].records == stages["map mean"].records == ROWS
    assert list(mapped.take(2)) == found[:2]


def test_they_run_on_one_thread_ahead_of_the_consumer(batches):
    threads, called = set(), []

    def watch(batch):
        threads.add(threading.current_thread().name)
        called.append(batch.number)
        return batch.number

    with iter(batches.map(watch)) as pipeline:
        assert next(pipeline) == 0
        deadline = time.monotonic() + 30
        while len(called) < 4 and time.monotonic() < deadline:  # two wait, one is at the door
            time.sleep(0.01)
        assert called == [0, 1, 2, 3]
        assert list(pipeline) == [1, 2, 3, 4, 5, 6]
    assert threads == {"headrace map"}
    assert not [thread for thread in threading.enumerate() if thread.name == "headrace map"]


def test_what_a_function_raises_comes_in_its_place_and_stays(batches):
    def fail(batch):
        if batch.number == 2:
            raise KeyError("mine")
        return batch.number

    with iter(batches.map(fail)) as pipeline:
        assert [next(pipeline), next(pipeline)] == [0, 1]
        for _ in range(2):
            with pytest.raises(KeyError, match="mine"):
                next(pipeline)


def test_resume_behind_every_batch(batches):
    mapped = batches.map(sums)
    whole = list(mapped)
    for taken in range(len(whole) + 1):
        with iter(mapped) as first:
            assert [next(first) for _ in range(taken)] == whole[:taken]
            state = first.state_dict()
        with iter(mapped) as second:
            second.load_state_dict(state)
            assert list(second) == whole[taken:]
            with pytest.raises(StopIteration):
                next(second)


def test_ends(batches):
    endless = batches.map(lambda batch: batch.number)
    pipeline = iter(endless)
    assert next(pipeline) == 0
    pipeline.close()
    pipeline.close()
    with pytest.raises(hr.ClosedError):
        next(pipeline)

    dropped = iter(endless)
    next(dropped)
    del dropped
    gc.collect()
    assert not [thread for thread in threading.enumerate() if thread.name == "headrace map"]

    never_started = iter(endless)
    never_started.close()


def test_a_pipeline_that_ended_is_collected(batches):
    def fail(batch):
        raise KeyError("mine")

    for function, failure in [(len, StopIteration), (fail, KeyError)]:
        pipeline = iter(batches.map(function))
        for _ in range(2):  # the failure stays, with the frames that it went through
            with pytest.raises(failure):
                while True:
                    next(pipeline)
        core = weakref.ref(pipeline._core)
        del pipeline
        gc.collect()
        assert core() is None


class SlowToStart(mapped_module._Worker):
    """Its thread runs before the pipeline knows of it."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        time.sleep(0.2)


@pytest.mark.parametrize("worker", [mapped_module._Worker, SlowToStart])
def test_close_wakes_a_waiting_next(batches, monkeypatch, worker):
    monkeypatch.setattr(mapped_module, "_Worker", worker)
    enter = threading.Event()
    leave = threading.Event()

    def wait(batch):
        enter.set()
        leave.wait(30)
        return batch

    pipeline = iter(batches.map(wait))
    raised = []

    def consume():
        try:
            next(pipeline)
        except hr.ClosedError as failure:
            raised.append(failure)

    consumer = threading.Thread(target=consume)
    consumer.start()
    assert enter.wait(30)
    closer = threading.Thread(target=pipeline.close)
    closer.start()
    consumer.join(30)
    leave.set()
    closer.join(30)
    assert len(raised) == 1 and not consumer.is_alive() and not closer.is_alive()


def test_adapters_refuse_python_functions(batches):
    mapped = batches.map(len)
    torch = pytest.importorskip("torch")  # noqa: F841
    from headrace.torch import DataLoader

    with pytest.raises(ValueError, match="DataLoader cannot stand behind map"):
        DataLoader(mapped)


@pytest.mark.parametrize("in_file", [False, True])
def test_before_a_cache_a_function_runs_once_behind_it_each_time(batches, compiled, tmp_path, in_file):
    once = batches.map(compiled.add_to_both, columns=["n", "x"], name="once").cache(tmp_path / "cache" if in_file else None)
    with iter(once.map(compiled.add_to_both, columns=["n", "x"], name="each").repeat(3)) as pipeline:
        numbers = [int(n) for batch in pipeline for n in batch["n"].numpy()]
        rows = {stage.name: stage.records for stage in pipeline.report().stages}
    assert numbers == list(range(2000, 2000 + ROWS)) * 3
    assert (rows["map once"], rows["map each"]) == (ROWS, 3 * ROWS)
