"""The JAX adapter (where JAX is installed), on four host devices in an interpreter of their own."""

import importlib.util

import pytest

from number_shards import ROOT

if importlib.util.find_spec("jax") is None:
    pytest.skip("JAX is not installed", allow_module_level=True)

START = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import headrace as hr
features = {"id": hr.FixedLenFeature([], hr.int64), "x": hr.FixedLenFeature([3], hr.float32)}
dataset = hr.TFRecordDataset(sys.argv[1:]).batch(20).parse(features)
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
"""

PROGRAM = """
seen = []
with hr.jax.arrays(dataset, sharding, structure={"x": "x", "y": "id", "w": hr.weight("id", {3: 2.0})}) as arrays:
    for batch in arrays:
        assert batch["x"].shape == (20, 3) and batch["x"].sharding == sharding
        assert len(batch["x"].addressable_shards) == 4 and batch["w"].sum() == 20 + (len(seen) == 0)
        np.testing.assert_array_equal(np.asarray(batch["x"])[:, 0], np.asarray(batch["y"]))
        seen += np.asarray(batch["y"]).tolist()
        if len(seen) == 20: state = arrays.state_dict()
assert seen == list(range(100)), seen
again = hr.jax.arrays(dataset, sharding, structure="id")
again.set_state(state)
assert again.get_state() == state
assert np.asarray(next(again)).tolist() == list(range(20, 40))
"""

PROFILED = """
import pathlib
folder = pathlib.Path(sys.argv.pop())
dataset = hr.TFRecordDataset(sys.argv[1:]).batch(20).parse(features)
def profile(batches):
    with jax.profiler.trace(folder / str(batches)), hr.jax.arrays(dataset, sharding) as arrays:
        for _ in range(batches): next(arrays)
    [path] = (folder / str(batches)).rglob("*.xplane.pb")
    return path.read_bytes()
assert b"IteratorGetNext headrace" not in profile(0)
assert b"IteratorGetNext headrace" in profile(2)
print("ok")
"""


# What the adapter puts on a device, as (address of the slice in the batch, address of the array on the device).
NO_COPY = """
put, addresses = jax.device_put, []
def noting(shares, devices):
    arrays = put(shares, devices)
    addresses.extend((share.ctypes.data, array.unsafe_buffer_pointer()) for share, array in zip(shares, arrays))
    return arrays
jax.device_put = noting
kept = [batch for batch in hr.jax.arrays(dataset, sharding, structure="x")]
assert len(kept) == 5 and len(addresses) == 20 and all(ours == theirs for ours, theirs in addresses), addresses
del dataset
# The memory of a batch stays with its arrays.
np.testing.assert_array_equal(np.concatenate([np.asarray(x)[:, 0] for x in kept]), np.arange(100))
print("aliased")
"""

KINDS = """
import pathlib
sys.path.insert(0, sys.argv.pop())
folder = pathlib.Path(sys.argv.pop())
from column_kinds import KINDS, ROWS, pipeline, table, value
for kind in KINDS:
    try:
        found = [
            (np.asarray(batch["x"]), np.asarray(batch["label"]), np.asarray(batch["_mask"]))
            for batch in hr.jax.arrays(pipeline(kind, folder), sharding)
        ]
    except ValueError as error:
        assert table()[kind, "JAX"] == "refused" and "feature 'x'" in str(error) and "leave it out" in str(error), (kind, error)
        assert len(list(hr.jax.arrays(pipeline(kind, folder), sharding, structure="label"))) == 6
        continue
    assert table()[kind, "JAX"] == "yes", kind
    x, label, mask = map(np.concatenate, zip(*found))
    rows = ROWS - 6 if kind == "uneven slices" else ROWS
    assert x[mask].tolist() == [value(kind, row) for row in range(rows)], kind
    assert label[mask].tolist() == [row % 3 for row in range(rows)], kind
    assert len(x) == (44 if kind == "uneven slices" else ROWS), kind
print("all of", len(KINDS))
"""

REFUSED = """
for sharding, batches in [
    (sharding, dataset.prefetch_to_device(["/CPU:0", "/CPU:1"])),
    (sharding, dataset.prefetch_to_device([f"/GPU:{i}" for i in range(4)])),
    (NamedSharding(sharding.mesh, P(None)), dataset),
    (sharding, hr.TFRecordDataset(sys.argv[1:])),
    (sharding, hr.TFRecordDataset(sys.argv[1:]).take(22).batch(20).parse(features).prefetch_to_device([f"/CPU:{i}" for i in range(4)])),
    (sharding, hr.TFRecordDataset(sys.argv[1:]).batch(20).parse({"t": hr.VarLenFeature(hr.int64)})),
]:
    try: list(hr.jax.arrays(batches, sharding))
    except ValueError as error: print(error)
"""

PADDED = """
records = hr.TFRecordDataset(sys.argv[1:]).take(22)
first, last = hr.jax.arrays(records.batch(20).parse(features), sharding)
assert first["x"].shape == last["x"].shape == (20, 3) and first["_mask"].all()
assert np.asarray(last["_mask"]).tolist() == [True] * 2 + [False] * 18
assert np.asarray(last["id"])[:2].tolist() == [20, 21]
(only,) = hr.jax.arrays(records.batch(20, drop_remainder=True).parse(features), sharding)
assert set(only) == {"id", "x"}
print("ok")
"""

WITH_X64_AND_DLPACK = """
jax.config.update("jax_enable_x64", True)
with hr.jax.arrays(dataset, sharding) as arrays:
    batch = next(arrays)
    assert set(batch) == {"id", "x", "_mask"} and batch["id"].dtype == np.int64
one = next(iter(dataset))
array = jax.dlpack.from_dlpack(one["x"])
assert array.unsafe_buffer_pointer() == one["x"].numpy().ctypes.data and array[7, 0] == 7
alone = hr.jax.arrays(dataset, jax.sharding.SingleDeviceSharding(jax.devices()[2]), structure=("x", "id"))
x, label = next(alone)
assert list(x.devices()) == [jax.devices()[2]] and label.tolist() == list(range(20))
alone.close()
print("ok")
"""


def test_arrays_over_four_devices(numbers, script):
    script(START + PROGRAM, *numbers, timeout=180)


def test_number_columns_are_not_copied(numbers, script):
    assert script(START + NO_COPY, *numbers, timeout=180).stdout == "aliased\n"


def test_a_small_batch_has_the_shape_of_the_others(numbers, script):
    assert script(START + PADDED, *numbers, timeout=180).stdout == "ok\n"


def test_a_profile_shows_the_waits_for_batches(numbers, script, tmp_path):
    assert script(START + PROFILED, *numbers, str(tmp_path), timeout=180).stdout == "ok\n"


def test_what_is_refused(numbers, script):
    said = script(START + REFUSED, *numbers, timeout=180).stdout.splitlines()
    expected = ["2 shares", "host memory, not from /GPU:0", "does not split the first dimension", "parse()", "rows; JAX needs equal ones", "'t' is a Ragged"]
    assert len(said) == len(expected) and all(part in line for part, line in zip(expected, said)), said


def test_whole_numbers_of_64_bits_dlpack_and_one_device(numbers, script):
    assert script(START + WITH_X64_AND_DLPACK, *numbers, timeout=180).stdout == "ok\n"


def test_every_kind_of_column(numbers, script, tmp_path):
    """The column "JAX" of docs/guides/columns.md."""
    assert script(START + KINDS, *numbers, tmp_path, ROOT / "tests/python", timeout=180).stdout == "all of 6\n"
