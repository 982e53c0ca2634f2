"""The JAX adapter (where JAX is installed), on four host devices in an interpreter of their own."""

import importlib.util

import pytest

if importlib.util.find_spec("jax") is None:
    pytest.skip("JAX is not installed", allow_module_level=True)

PROGRAM = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import headrace as hr
features = {"id": hr.FixedLenFeature([], hr.int64), "x": hr.FixedLenFeature([3], hr.float32)}
dataset = hr.TFRecordDataset(sys.argv[1:]).batch(20).parse(features)
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
seen = []
with hr.jax.arrays(dataset, sharding, structure={"x": "x", "y": "id", "w": hr.weight("id", {3: 2.0})}) as arrays:
    for batch in arrays:
        assert batch["x"].shape == (20, 3) and batch["x"].sharding == sharding
        assert len(batch["x"].addressable_shards) == 4 and batch["w"].sum() == 20 + (len(seen) == 0)
        np.testing.assert_array_equal(np.asarray(batch["x"])[:, 0], np.asarray(batch["y"]))
        pointers = [shard.data.unsafe_buffer_pointer() % 256 for shard in batch["x"].addressable_shards]
        seen += np.asarray(batch["y"]).tolist()
        if len(seen) == 20: state = arrays.state_dict()
assert seen == list(range(100)), seen
again = hr.jax.arrays(dataset, sharding, structure="id")
again.load_state_dict(state)
assert np.asarray(next(again)).tolist() == list(range(20, 40))
try: hr.jax.arrays(dataset.prefetch_to_device(["/CPU:0", "/CPU:1"]), sharding)
except ValueError as error: print(error)
"""


def test_arrays_over_four_devices(numbers, script):
    assert "2 shares" in script(PROGRAM, *numbers, timeout=180).stdout
