"""Whether headrace and tf.data decode the same images: run by question.py before the clock starts.

TensorFlow resizes the whole window, and decode_and_crop_jpeg lacks the chroma of the neighbours at its edges: pixels may
differ by one grey level and a few at the edges by more. Images that headrace decodes at a part of their size are compared by
their mean.
"""

import numpy as np
import tensorflow as tf

import headrace as hr
from benchmarks.decode_images import crops, headrace_images, tfdata_images
from benchmarks.harness import processes
from benchmarks.parse_examples import serialized

IMAGES = 24


def main(request):
    crop = request["crop"]
    records = serialized.batches(request["shards"][:1], 1)[0][:IMAGES]
    ours = hr.parse_example(records, headrace_images.features(crop))["image"].numpy().astype(int)
    for record, image in zip(records, ours):
        theirs = tfdata_images.decoded(record, crops.CROPS[crop])["image"].numpy().astype(int)
        parsed = tf.io.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})
        height, width, _ = tf.io.extract_jpeg_shape(parsed["image"]).numpy()
        sides = [side - 2 * crops.margin(side, crops.CROPS[crop]) for side in (height, width)]
        difference = np.abs(image - theirs)
        if min(sides) < 2 * crops.SIZE:
            assert difference[2:-2, 2:-2].max() <= 1 and difference.mean() < 0.2, difference.max()
        else:
            assert abs(image.mean() - theirs.mean()) < 1 and difference.mean() < 8, difference.mean()
    return len(records)


if __name__ == "__main__":
    processes.emit("result", main(processes.arguments()))
