"""Global jax.Arrays over four host devices, straight from TFRecord shards.

Usage: jax_arrays.py FOLDER
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import headrace as hr
import headrace.jax
import jax
import numpy as np


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with hr.TFRecordWriter(folder / "data.tfrecord") as writer:
        for i in range(1000):
            writer.write(hr.make_example({"x": np.full(16, i, dtype=np.float32)}))

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    train = (
        hr.TFRecordDataset(folder / "data.tfrecord")
        .batch(200, drop_remainder=True)
        .parse({"x": hr.FixedLenFeature([16], hr.float32)})
    )
    mean = jax.jit(lambda x: x.mean())
    with headrace.jax.arrays(train, sharding) as arrays:
        means = [float(mean(batch["x"])) for batch in arrays]
    print(means)
    if means != [99.5, 299.5, 499.5, 699.5, 899.5]:
        sys.exit("the means are wrong")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
