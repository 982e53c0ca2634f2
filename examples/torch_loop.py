"""A PyTorch training loop over headrace's batches: no worker processes, no copy.

Usage: torch_loop.py FOLDER
"""

import sys
from pathlib import Path

import headrace as hr
import headrace.torch
import numpy as np
import torch


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    with hr.TFRecordWriter(folder / "data.tfrecord") as writer:
        for _ in range(2000):
            x = generator.standard_normal(8, dtype=np.float32)
            writer.write(hr.make_example({"x": x, "y": float(x.sum())}))

    features = {"x": hr.FixedLenFeature([8], hr.float32), "y": hr.FixedLenFeature([], hr.float32)}
    train = hr.TFRecordDataset(folder / "data.tfrecord").shuffle(500, seed=1).batch(100).parse(features)
    loader = headrace.torch.DataLoader(train, structure=("x", "y"))

    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        losses = []
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")
    if losses[-1] > 0.01:
        sys.exit("the model did not learn")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
