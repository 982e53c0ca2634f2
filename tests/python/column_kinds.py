"""The kinds of columns that the guide's table of columns and consumers is about, each as a pipeline with labels beside it."""

import re

import headrace as hr
import numpy as np

from number_shards import ROOT

ROWS, BATCH = 48, 8  # of "uneven slices": the same rows in batches that four replicas do not share evenly
KINDS = ("dense", "bool", "string", "ragged", "sparse", "uneven slices")
CONSUMERS = ("fit", "evaluate", "predict", "custom loop", "torch", "JAX")

_FEATURES = {
    "dense": hr.FixedLenFeature([], hr.float32),
    "bool": hr.RawFeature([], hr.bool_),
    "string": hr.FixedLenFeature([], hr.string),
    "ragged": hr.RaggedFeature(hr.float32),
    "sparse": hr.VarLenFeature(hr.float32),
    "uneven slices": hr.FixedLenFeature([], hr.float32),
}
# As the errors say: the same column in a form that everything takes.
WAYS_OUT = {
    "bool": {"x": hr.RawFeature([], hr.bool_, transform=hr.cast("uint8"))},
    "string": {"x": hr.FixedLenFeature([], hr.string, transform=hr.hash_bucket(10))},
    "ragged": {"x": hr.RaggedFeature(hr.float32, transform=hr.pad(4))},
    "sparse": {"x": hr.VarLenFeature(hr.float32, transform=hr.pad(4))},
    "uneven slices": {},
}


def value(kind, row):
    """What column x holds in that row."""
    return {
        "bool": row % 3 == 0,
        "string": b"row-%d" % row,
        "ragged": [row + 0.25 * i for i in range(row % 4)],
        "sparse": [row + 0.25 * i for i in range(row % 4)],
    }.get(kind, float(row))


def pipeline(kind, folder, features=None, **batching):
    """Batches of the columns x, of that kind, and label; `features` and `batching` change what is declared."""
    path = str(folder / f"{kind}.tfrecord")
    with hr.TFRecordWriter(path) as writer:
        for row in range(ROWS):
            x = value(kind, row)
            stored = {"bool": lambda: np.bool_(x).tobytes(), "ragged": lambda: np.float32(x), "sparse": lambda: np.float32(x)}
            writer.write(hr.make_example({"x": stored.get(kind, lambda: x)(), "label": row % 3}))
    dataset = hr.TFRecordDataset(path)
    if kind == "uneven slices":
        dataset = dataset.take(ROWS - 6)  # one batch, of 11, 11, 10 and 10 rows
    size = 44 if kind == "uneven slices" else BATCH
    declared = {"x": _FEATURES[kind], "label": hr.FixedLenFeature([], hr.int64)} | (features or {})
    return dataset.batch(size, **batching).parse(declared)


def table():
    """{(kind, consumer): what the guide says}."""
    text = (ROOT / "docs/guides/columns.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", text, re.M)]
    head = next(row for row in rows if row[1:] == list(CONSUMERS))
    return {(row[0], name): cell for row in rows if row[0] in KINDS for name, cell in zip(head[1:], row[1:], strict=True)}
