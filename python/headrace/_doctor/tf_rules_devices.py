"""Faults between a program and the devices that it feeds: batches that cannot be shared out, copies, shards for workers."""

import os
import statistics

import tensorflow as tf

from ..gpu_environment import unwanted_environment
from .tf_rule import Fault, size

_SKEW = 4.0  # largest file / median file
_BUSY = 0.5  # share of the cores that the input uses


def remainder(case):
    rows, replicas = case.batch_size, case.replicas
    if rows is None or replicas < 2:
        return
    if rows % replicas:
        fitting = max(replicas, rows - rows % replicas)
        yield Fault(
            "batch not divisible",
            "The global batch cannot be shared out evenly: replicas get different shares, or none.",
            f"a batch of {rows} for {replicas} replicas",
            change=lambda given: _batched(given, batch_size=fitting),
        )
    step = case.program.steps[case.program.batch_place()]
    if not step.arguments["drop_remainder"] and not _is_endless(case.program):
        yield Fault(
            "remainder",
            "The last batch of an epoch is short: its share per replica is smaller, and may be empty.",
            f"batch({rows}) without drop_remainder=True",
            change=lambda given: _batched(given, drop_remainder=True),
        )


def device_prefetch_under_strategy(case):
    kinds = [type(case.program.source).__name__, *(type(each).__name__ for each in _inputs(case.program.source))]
    if case.has_strategy and any("CopyToDevice" in kind for kind in kinds):
        yield Fault(
            "prefetch_to_device under a strategy",
            "The strategy copies to its devices by itself; prefetch_to_device copies to one, and the strategy from there.",
            "the last step is prefetch_to_device or copy_to_device",
            fix="dataset = dataset.prefetch(tf.data.AUTOTUNE)  # instead of prefetch_to_device",
        )


def few_shards(case):
    shards = case.shards
    if shards is None:
        return
    cycle = case.program.cycle_length()
    wanted = max(cycle, case.workers)
    if wanted > len(shards.paths):
        who = f"cycle_length={cycle}" if cycle >= case.workers else f"{case.workers} workers"
        yield Fault(
            "few shards",
            "There are fewer files than are to be read at a time.",
            f"{len(shards.paths)} files for {who}",
            fix=f"Write the records into {max(16, wanted)} shards or more, of 100 MB or more each, or ask for fewer at a time.",
        )


def skewed_shards(case):
    sizes = case.shards.sizes if case.shards is not None else []
    if len(sizes) >= 2 and max(sizes) > _SKEW * statistics.median(sizes):
        yield Fault(
            "skewed shards",
            "One file is much larger than the others: at the end of an epoch it is read alone.",
            f"the largest has {size(max(sizes))}, the median {size(statistics.median(sizes))}",
            fix="Write the records into shards of the same size, record by record in turn.",
        )


def auto_shard(case):
    if case.workers < 2 or case.shards is None:
        return
    policy, kinds = case.program.options.experimental_distribute.auto_shard_policy, tf.data.experimental.AutoShardPolicy
    if policy == kinds.DATA or (policy in (kinds.AUTO, kinds.FILE) and len(case.shards.paths) < case.workers):
        yield Fault(
            "auto shard",
            "Every worker reads and drops the records of all others.",
            f"auto_shard_policy {policy.name}, {len(case.shards.paths)} files, {case.workers} workers",
            fix="options = tf.data.Options()\n"
            "options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE\n"
            f"dataset = dataset.with_options(options)  # with {case.workers} shards or more, a multiple of the workers",
        )


def gpu_threads(case):
    if not case.gpus or os.environ.get("TF_GPU_THREAD_MODE") == "gpu_private":
        return
    busy = case.base.cpu_s / max(case.base.wall_s, case.step_s) / case.cores
    if case.replicas > 1 and busy >= _BUSY:
        yield Fault(
            "GPU threads shared",
            "Kernels are launched by the threads that also run the input: a busy input delays launches.",
            f"TF_GPU_THREAD_MODE is {os.environ.get('TF_GPU_THREAD_MODE', 'not set')}, {case.replicas} GPUs, "
            f"the input keeps {busy:.0%} of the cores busy",
            fix='os.environ["TF_GPU_THREAD_MODE"] = "gpu_private"  # before TensorFlow is imported',
        )


def unwanted_variables(_case):
    unwanted = unwanted_environment()
    if unwanted:
        names = ", ".join(each.name for each in unwanted)
        yield Fault(
            "unwanted variables",
            "Variables of the environment are set that do nothing or harm.",
            "; ".join(f"{each.name}: {each.reason}" for each in unwanted),
            fix=f"unset {names.replace(',', '')}  # in the shell that starts the training",
        )


def _batched(program, **changed):
    place = program.batch_place()
    return program.with_step(place, program.steps[place].with_arguments(**changed))


def _is_endless(program):
    return any(program.steps[place].arguments["count"] < 0 for place in program.find("repeat") if place < program.batch_place())


def _inputs(dataset):
    while hasattr(dataset, "_input_dataset"):
        dataset = dataset._input_dataset
        yield dataset
