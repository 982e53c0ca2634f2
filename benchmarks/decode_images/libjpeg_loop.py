"""Builds and runs libjpeg_loop.cc: what libjpeg-turbo alone does with the same files and windows."""

from pathlib import Path

import headrace as hr
from benchmarks.decode_images import crops
from benchmarks.harness import loops, window
from benchmarks.parse_examples import serialized

_SOURCE = Path(__file__).with_name("libjpeg_loop.cc")


def measure(workload, shards, options, seconds):
    images = hr.parse_example(serialized.records(shards, 2), {"image": hr.FixedLenFeature([], hr.string)})["image"].numpy()
    with loops.file_of(images) as path:
        arguments = [seconds, window.WARM_UP_S, crops.CROPS[options["crop"]], crops.SIZE, path]
        (figures,) = loops.run(_SOURCE, arguments, [["-ljpeg"]])
    return loops.delivers_nothing(figures)
