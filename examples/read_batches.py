"""Writes a few shards, then reads shuffled batches of them, cut into shares for two devices.

Usage: read_batches.py FOLDER
"""

import sys
from pathlib import Path

import headrace as hr
import numpy as np


def write_shards(folder, shards=4, records=250):
    generator = np.random.default_rng(0)
    for shard in range(shards):
        with hr.TFRecordWriter(folder / f"train-{shard:05d}-of-{shards:05d}.tfrecord") as writer:
            for label in range(records):
                image = generator.random((32, 32, 3), dtype=np.float32)
                writer.write(hr.make_example({"image": hr.make_tensor(image), "label": label % 10}))


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_shards(folder)
    features = {
        "image": hr.TensorFeature([32, 32, 3], hr.float32),
        "label": hr.FixedLenFeature([], hr.int64),
    }
    train = (
        hr.TFRecordDataset(folder / "train-*.tfrecord")
        .interleave(cycle_length=4, block_length=16)
        .shuffle(500, seed=42)
        .batch(128, drop_remainder=True)
        .parse(features)
        .prefetch_to_device(["/CPU:0", "/CPU:1"])
    )
    with iter(train) as batches:
        for batch in batches:
            shares = [share["image"].numpy().shape for share in batch.replicas]
            print(f"batch {batch.number}: {shares}, labels add up to {batch['label'].numpy().sum()}")
        print(f"{batches.report().batches} batches")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
