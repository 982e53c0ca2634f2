"""Delivery to CUDA devices from Python, with the fake driver in place of a real one."""

import gc
import os

import headrace as hr
import numpy as np
import pytest

from fake_cuda import FakeCuda, build, capsule_name, versioned_in
from number_shards import NUMBERS, ids

OUT_OF_MEMORY, LAUNCH_FAILED = 2, 719
LEGACY_STREAM = 1


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(tmp_path_factory.mktemp("fake_cuda"))


@pytest.fixture
def cuda(library, monkeypatch):
    monkeypatch.setenv("HEADRACE_CUDA_LIBRARY", str(library))
    driver = FakeCuda(library)
    yield driver
    gc.collect()
    assert driver.leftovers() == ({}, "")


def batches(numbers, devices=("/GPU:0", "cuda:1"), **options):
    return hr.TFRecordDataset(numbers).batch(20).parse(NUMBERS).prefetch_to_device(list(devices), **options)


def read(cuda, column):
    """A column on a device as a numpy array, by its capsule."""
    capsule = column.__dlpack__(stream=LEGACY_STREAM, max_version=(1, 0))
    array = np.frombuffer(cuda.read(versioned_in(capsule).tensor.data, column.nbytes), column.dtype)
    return array.reshape(column.shape)


def test_every_share_is_on_its_device(cuda, numbers):
    dataset = batches(numbers)
    assert dataset.devices == ("/GPU:0", "/GPU:1")
    seen = []
    with iter(dataset) as pipeline:
        for batch in pipeline:
            for place, share in enumerate(batch.replicas):
                assert share["id"].__dlpack_device__() == share["x"].__dlpack_device__() == (2, place)
                rows = read(cuda, share["id"])
                np.testing.assert_array_equal(read(cuda, share["x"])[:, 0], rows)
                seen += rows.tolist()
        assert pipeline.report().warnings == []
        del batch, share
    assert seen == list(range(100))


def test_a_versioned_capsule_frees_the_memory_when_it_goes(cuda, numbers):
    with iter(batches(numbers, ["/GPU:3"])) as pipeline:
        column = next(pipeline).replicas[0]["id"]
        capsule = column.__dlpack__(stream=LEGACY_STREAM, max_version=(1, 1))
        assert capsule_name(capsule) == "dltensor_versioned"
        managed = versioned_in(capsule)
        assert tuple(managed.version) == (1, 0) and managed.flags == 0
        assert tuple(managed.tensor.device) == (2, 3) and managed.tensor.shape[0] == 20
        address = managed.tensor.data
        del column
    assert np.frombuffer(cuda.read(address, 160), np.int64).tolist() == list(range(20))
    assert "allocations" in cuda.leftovers()[0]
    del capsule
    assert "allocations" not in cuda.leftovers()[0]


def test_streams_of_dlpack(cuda, numbers):
    with iter(batches(numbers, ["/GPU:0"])) as pipeline:
        column = next(pipeline).replicas[0]["id"]
        for stream in (None, -1, 1, 2):
            assert capsule_name(column.__dlpack__(stream=stream)) == "dltensor"
        assert capsule_name(column.capsule()) == "dltensor"
        for stream in (0, -2):
            with pytest.raises(BufferError, match=f"stream={stream}"):
                column.__dlpack__(stream=stream)
        assert versioned_in(column.__dlpack__(max_version=(1, 0), dl_device=(2, 0))).tensor.device[0] == 2
        for device in ((1, 0), (2, 1)):
            with pytest.raises(BufferError, match=r"the memory of device \(2, 0\)"):
                column.__dlpack__(dl_device=device)
        with pytest.raises(BufferError, match="not copied"):
            column.__dlpack__(copy=True)
        del column


def test_the_host_cannot_read_a_device(cuda, numbers):
    features = {**NUMBERS, "v": hr.VarLenFeature(hr.int64)}
    dataset = hr.TFRecordDataset(numbers).batch(20).parse(features)
    with iter(dataset.prefetch_to_device(["/GPU:0", "/GPU:1"])) as pipeline:
        batch = next(pipeline)
        share = batch.replicas[1]
        reads = [
            lambda: batch["id"],
            share["id"].numpy,
            lambda: np.asarray(share["x"]),
            lambda: share["x"][0],
            share["v"].tolist,
            share["v"].to_sparse,
            lambda: share["v"][0],
        ]
        for look in reads:
            with pytest.raises(hr.DeviceError, match="in the memory of /GPU:[01]"):
                look()
        with pytest.raises(BufferError, match="/GPU:1"):
            memoryview(share["id"])
        assert share["v"].row_splits.__dlpack_device__() == (2, 1)
        del batch, share, reads, look


def test_strings_stay_with_the_host(cuda, tmp_path):
    path = tmp_path / "names.tfrecord"
    with hr.TFRecordWriter(path) as writer:
        for i in range(4):
            writer.write(hr.make_example({"id": i, "name": f"n{i}"}))
    features = {"id": hr.FixedLenFeature([], hr.int64), "name": hr.FixedLenFeature([], hr.string)}
    with iter(hr.TFRecordDataset(path).batch(4).parse(features).prefetch_to_device("/GPU:0")) as pipeline:
        share = next(pipeline).replicas[0]
        assert share["name"].tolist() == [b"n0", b"n1", b"n2", b"n3"]
        assert read(cuda, share["id"]).tolist() == [0, 1, 2, 3]
        del share


@pytest.mark.parametrize("taken", [1, 3])
def test_the_state_counts_what_was_handed_over(cuda, numbers, taken):
    with iter(batches(numbers)) as pipeline:
        for _ in range(taken):
            next(pipeline)
        state = pipeline.state_dict()
    host = iter(batches(numbers, ["/CPU:0", "/CPU:1"]))
    host.load_state_dict(state)
    assert ids(host) == list(range(20 * taken, 100))
    with iter(batches(numbers)) as resumed:
        resumed.load_state_dict(state)
        assert read(cuda, next(resumed).replicas[0]["id"])[0] == 20 * taken


def test_slices_of_replicas(cuda, numbers):
    with iter(batches(numbers)) as pipeline:
        assert [read(cuda, pipeline.next_slice(1)["id"])[0] for _ in range(3)] == [10, 30, 50]
        assert read(cuda, pipeline.next_slice(0)["id"])[0] == 0
        assert pipeline.state_dict()["batches"] == 1


def test_no_driver_says_what_to_do(numbers, monkeypatch):
    monkeypatch.setenv("HEADRACE_CUDA_LIBRARY", "libno_such_driver.so.1")
    with pytest.raises(hr.DeviceError, match="no CUDA driver.*libno_such_driver.so.1.*name host devices.*/CPU:0"):
        next(iter(batches(numbers)))


def test_no_such_device(cuda, numbers):
    cuda.reset(devices=1)
    with pytest.raises(hr.DeviceError, match="/GPU:1: the CUDA driver has 1 device"):
        next(iter(batches(numbers)))


def test_a_lost_device_ends_its_replica_alone(cuda, numbers):
    cuda.fail(1, "copy", 0, LAUNCH_FAILED, is_lost=True)
    with iter(batches(numbers)) as pipeline:
        with pytest.raises(hr.DeviceError, match="/GPU:1: .*CUDA_ERROR_LAUNCH_FAILED"):
            pipeline.next_slice(1)
        assert [read(cuda, pipeline.next_slice(0)["id"])[0] for _ in range(5)] == [0, 20, 40, 60, 80]


def test_a_device_without_memory(cuda, numbers):
    cuda.fail(0, "cuMemAllocAsync", 0, OUT_OF_MEMORY)
    with iter(batches(numbers)) as pipeline, pytest.raises(hr.DeviceError, match="/GPU:0: .*OUT_OF_MEMORY.*bytes for a batch"):
        next(pipeline)


def test_pinning_that_is_refused_is_one_warning(cuda, numbers):
    cuda.reset(refuses_pinning=True)
    with iter(batches(numbers)) as pipeline:
        assert read(cuda, next(pipeline).replicas[1]["id"])[0] == 10
        (warning,) = pipeline.report().warnings
    assert "could not be pinned" in warning and "once more on the host" in warning


def test_what_reads_batches_on_the_host_refuses_cuda_devices(numbers):
    with pytest.raises(ValueError, match="reader takes batches from host memory, not from /GPU:1"):
        batches(numbers, ["/CPU:0", "/GPU:1"]).refuse_cuda("reader")
    batches(numbers, ["/CPU:0"]).refuse_cuda("reader")


def test_a_child_of_fork_leaves_the_device_alone(cuda, numbers):
    with iter(batches(numbers, ["/GPU:0"])) as pipeline:
        column = next(pipeline).replicas[0]["id"]
        child = os.fork()
        if child == 0:
            del column
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert read(cuda, column)[3] == 3
        del column
