"""Saves the position of a pipeline beside a checkpoint and continues from it: the rest of the stream is the same.

Usage: resume_training.py FOLDER
"""

import json
import sys
from pathlib import Path

import headrace as hr


def pipeline(folder):
    features = {"label": hr.FixedLenFeature([], hr.int64)}
    return iter(
        hr.TFRecordDataset(folder / "data.tfrecord").repeat(2).shuffle(100, seed=7).batch(50).parse(features)
    )


def labels(batch):
    return batch["label"].numpy().tolist()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with hr.TFRecordWriter(folder / "data.tfrecord") as writer:
        for label in range(500):
            writer.write(hr.make_example({"label": label}))

    with pipeline(folder) as batches:
        for _ in range(7):
            next(batches)
        (folder / "checkpoint.json").write_text(json.dumps(batches.state_dict()))
        rest = [labels(batch) for batch in batches]

    with pipeline(folder) as batches:
        batches.load_state_dict(json.loads((folder / "checkpoint.json").read_text()))
        again = [labels(batch) for batch in batches]
    if again != rest:
        sys.exit("the resumed stream differs")
    print(f"{len(again)} batches after the checkpoint, the same both times")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
