"""How well is a stream mixed? Pairs of records that meet in a batch, beside what a perfect shuffle lets meet.

Same shard: pairs of one batch that come from one shard. Neighbours: pairs of one batch that stand one behind the other in
their shard. A perfect shuffle has a ratio of 1.00 in both; in the order of the files, neighbours meet nearly always.
"""

import headrace as hr
import numpy as np

from benchmarks.shuffle_quality.headrace_order import ordered

FEATURES = {"label": hr.FixedLenFeature([], hr.int64)}


def write_shards(folder, shards, records):
    """Equal shards of records of 1 KB; their paths."""
    paths, record = [], hr.make_example({"label": 1, "rest": b"x" * 950})
    for shard in range(shards):
        paths.append(str(folder / f"mixing-{shard:04d}.tfrecord"))
        with hr.TFRecordWriter(paths[-1]) as writer:
            for _ in range(records):
                writer.write(record)
    return paths


def pairs(places, shard_records):
    """(same-shard pairs, neighbours) of one batch; `places` are shard * shard_records + record."""
    _, counts = np.unique(places // shard_records, return_counts=True)
    inside = np.sort(places)
    follows = (np.diff(inside) == 1) & (inside[1:] % shard_records != 0)
    return int((counts * (counts - 1) // 2).sum()), int(follows.sum())


def ratios(paths, shard_records, way, cycle, batch, epochs):
    """(same shard, neighbours), each as ratio to a perfect shuffle, over whole batches of some epochs."""
    dataset = ordered(hr.TFRecordDataset(paths), way, cycle).batch(batch, drop_remainder=True)
    dataset = dataset.parse(FEATURES, origin=True)
    same = near = batches = 0
    for epoch in range(epochs):
        dataset.set_epoch(epoch)
        for columns in dataset:
            places = columns["_shard"].numpy() * shard_records + columns["_record"].numpy()
            more_same, more_near = pairs(places, shard_records)
            same, near, batches = same + more_same, near + more_near, batches + 1
    records = len(paths) * shard_records
    met = batches * batch * (batch - 1) / 2  # pairs that meet
    expected_same = met * (shard_records - 1) / (records - 1)
    expected_near = met * (records - len(paths)) / (records * (records - 1) / 2)
    return same / expected_same, near / expected_near
