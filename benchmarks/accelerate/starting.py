"""How long accelerate() takes, in a process that has TensorFlow: the first call, and the one after it."""

import time

import headrace.tensorflow
from benchmarks.accelerate import program


def measure(workload, shards, options, seconds):
    took = []
    for _ in range(2):
        dataset = program.program(shards, repeat=True, flips=True)
        begin, used = time.perf_counter(), time.process_time()
        headrace.tensorflow.accelerate(dataset, strict=True)
        took.append({"wall_s": time.perf_counter() - begin, "cpu_s": time.process_time() - used})
    return {"first": took[0], "second": took[1]}
