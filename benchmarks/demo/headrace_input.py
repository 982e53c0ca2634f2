"""The headrace pipeline of the demo."""

import headrace as hr

FEATURES = {
    "image": hr.TensorFeature([32, 32, 3], hr.float32),
    "label": hr.FixedLenFeature([], hr.int64),
}


def pipeline(files, batch, accelerators, repeat=True):
    dataset = hr.TFRecordDataset(files).interleave(cycle_length=16, block_length=16)
    if repeat:
        dataset = dataset.repeat()
    return (
        dataset.shuffle(2000, seed=42)
        .batch(batch, drop_remainder=repeat)
        .parse(FEATURES)
        .prefetch_to_device([f"/CPU:{i}" for i in range(accelerators)], depth=2)
    )


def slices(batch):
    return [{name: replica[name].numpy() for name in FEATURES} for replica in batch.replicas]
