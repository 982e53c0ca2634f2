"""Causes that depend on how service times scatter or on the machine, told from measurements that are made up."""

import dataclasses

import headrace as hr
import pytest
from headrace._doctor import causes, machine
from headrace._doctor.measure import Costs, Run
from headrace._doctor.model import Model
from headrace._doctor.replay import Layout
from headrace._doctor.subject import Subject

from number_shards import NUMBERS

COSTS = Costs(read=1e-3, read_io=0.0, inflate=0.0, order=1e-5, parse=4e-3, maps=())
RUN = Run(
    rate=100.0, rate_error=0.01, batches=200, taken=(0.0, 0.01), costs=COSTS, rows=10, read_bytes=1e6, file_bytes_per_byte=1.0,
    parse_times=(), map_times=(), consumer_cpu=0.0, map_cpu=0.0, record_bytes=1e5, threads=2, io="engine", compression="none", cores_used=1.0,
    foreign_cores=0.0, runnable=1.0, stages=(),
)  # fmt: skip


def subject(dataset, costs=COSTS, spread=(1.0,), step_time=0.0, input_bound=None, rate=100.0, relieved=100.0, in_flight=4):
    layout = Layout(cores=2, threads=2, streams=4, io_threads=8, in_flight=in_flight)
    model = Model(costs, layout, step_time, parse_spread=spread)
    run = dataclasses.replace(RUN, rate=rate)
    return Subject(dataset, None, None, run, model, 0.02, 100.0, relieved, 2, 1, input_bound)


@pytest.fixture
def dataset(numbers):
    return hr.TFRecordDataset(numbers).repeat().batch(10).parse(NUMBERS).prefetch_to_device("/CPU:0", depth=1)


def test_a_prefetch_that_does_not_outlast_late_batches(dataset):
    """Every twentieth batch takes as long as 10 steps; on average the input is faster than the steps."""
    spread = tuple([0.5] * 19 + [10.5])
    late = subject(dataset, dataclasses.replace(COSTS, parse=8e-3), spread, step_time=8e-3, input_bound=True, in_flight=2)
    found = causes.shallow_prefetch(late)
    gained = late.gain(found)
    assert gained.ratio > 1.1 and late.is_worth(gained) and "depth=" in found.fix
    even = subject(dataset, dataclasses.replace(COSTS, parse=8e-3), step_time=8e-3, input_bound=True)
    assert not even.is_worth(even.gain(causes.shallow_prefetch(even)))
    assert causes.shallow_prefetch(subject(dataset)) is None  # without a step time nothing is late


def test_all_cpus_are_not_enough(dataset):
    found = causes.few_cores(subject(dataset, step_time=1e-3, input_bound=True))
    assert "2 CPUs" in found.cause
    busy = subject(dataset, step_time=1e-3, input_bound=True)
    assert busy.gain(found).ratio > 1.5
    assert causes.few_cores(subject(dataset, step_time=1.0, input_bound=False)) is None


def test_a_budget_that_stops_work(numbers):
    tight = hr.TFRecordDataset(numbers, memory_bytes=1 << 24).batch(10).parse(NUMBERS)
    stopped = subject(tight, relieved=400.0)
    found = causes.memory_budget(stopped)
    assert stopped.gain(found).ratio == pytest.approx(4) and str(1 << 26) in found.fix
    assert causes.memory_budget(subject(tight)) is None  # as fast as without
    assert causes.memory_budget(subject(tight, dataclasses.replace(COSTS, maps=(("slow", 1.0),)), relieved=400.0)) is None
    assert causes.memory_budget(subject(hr.TFRecordDataset(numbers).batch(10), relieved=400.0)) is None
    paced = subject(tight, step_time=5e-3, relieved=400.0, input_bound=True)
    assert paced.gain(causes.memory_budget(paced)).ratio == pytest.approx(2)


def test_crowded_cores():
    layout = Layout(cores=4, threads=4, streams=4, io_threads=8, in_flight=6)
    crowded = dataclasses.replace(layout, crowd=4.0)
    assert layout.stretch(4) == 1 and crowded.stretch(4) == 2 and crowded.stretch(1) == 1.25
    assert dataclasses.replace(crowded, lateness=2.0).stretch(4) == 4
    assert machine.runnable_threads() is None or machine.runnable_threads() >= 1
    one, two = machine.CpuUse(10.0, 1.0, 5.0), machine.CpuUse(12.0, 2.0, 9.0)
    assert machine.foreign_cores(one, two) == 1.5
    assert machine.foreign_cores(one, dataclasses.replace(two, machine=None)) == 0.0
