"""One contender of a question in a process of its own (started by comparison.py).

Request: {"question", "contender", "workload", "shards", "options", "task", "seconds"}. The contender is the module
benchmarks.<question>.<contender>; its `open(workload, shards, options)` gives an iterator of batches (endless, or one
epoch when options["repeat"] is false) and a function from a batch to its columns. A module with `measure(...)`
instead measures itself.
"""

import importlib

from benchmarks.harness import processes, window
from benchmarks.harness.answers import Answers
from benchmarks.workloads.catalog import WORKLOADS


def answers(module, workload, shards, options):
    batches, columns_of = module.open(workload, shards, {**options, "repeat": False})
    seen = Answers()
    for batch in batches:
        seen.add(columns_of(batch))
    return seen.digest()


def main(request):
    module = importlib.import_module(f"benchmarks.{request['question']}.{request['contender']}")
    workload = WORKLOADS[request["workload"]]
    shards, options = request["shards"], request["options"]
    if request["task"] == "answers":
        return answers(module, workload, shards, options)
    if hasattr(module, "measure"):
        return module.measure(workload, shards, options, request["seconds"])
    batches, columns_of = module.open(workload, shards, {**options, "repeat": True})
    return window.measure(batches, columns_of, request["seconds"])


if __name__ == "__main__":
    processes.emit("result", main(processes.arguments()))
