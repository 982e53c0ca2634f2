"""The model of the doctor: queues replayed against what must come out, and gains of changes."""

import dataclasses

import pytest
from headrace._doctor.measure import Costs
from headrace._doctor.model import Model, gain, spread
from headrace._doctor.replay import Layout, Service, replay

LAYOUT = Layout(cores=4, threads=4, streams=4, io_threads=8, in_flight=6)
NOTHING = Service(read_io=0, read=0, order=0, parse=0, map=0, step=0)


def rate(layout=LAYOUT, **seconds):
    """Batches a second of 400 batches that all take as long."""
    return replay([dataclasses.replace(NOTHING, **seconds)] * 400, layout).rate


@pytest.mark.parametrize(
    ("seconds", "layout", "expected"),
    [
        ({"order": 1e-3, "parse": 1e-4}, LAYOUT, 1000),  # one thread orders
        ({"map": 2e-3, "parse": 1e-4}, LAYOUT, 500),  # one thread runs functions
        ({"step": 10e-3, "parse": 1e-3}, LAYOUT, 100),  # the accelerators
        ({"parse": 8e-3}, LAYOUT, 500),  # four workers
        ({"parse": 8e-3}, dataclasses.replace(LAYOUT, threads=1), 125),
        ({"parse": 8e-3}, dataclasses.replace(LAYOUT, cores=2), 250),
        ({"parse": 8e-3}, dataclasses.replace(LAYOUT, lateness=2.0), 250),
        ({"parse": 8e-3}, dataclasses.replace(LAYOUT, crowd=4.0), 250),  # each gets half
        ({"order": 1e-3, "parse": 1e-4}, dataclasses.replace(LAYOUT, crowd=2.5), 1000),  # one more finds a core
        ({"read": 4e-3, "parse": 1e-4}, dataclasses.replace(LAYOUT, streams=1), 250),  # one thread a shard
        ({"read_io": 40e-3, "parse": 1e-4}, LAYOUT, 100),  # four shards that wait
        ({"read": 2e-3, "parse": 2e-3, "order": 1e-4}, LAYOUT, 4 / 4.1e-3),  # all of it shares the cores
    ],
)
def test_the_resource_that_allows_least_decides(seconds, layout, expected):
    assert rate(layout, **seconds) == pytest.approx(expected, rel=0.03)


def test_late_batches_starve_the_accelerators_until_enough_are_ready():
    """One batch in 20 takes as long as ten steps; on average the input is twice as fast as the steps."""
    usual = Service(read_io=0, read=0, order=1e-5, parse=0, map=0, step=10e-3)
    services = [dataclasses.replace(usual, parse=100e-3 if number % 20 == 5 else 1e-3) for number in range(400)]
    one_thread = dataclasses.replace(LAYOUT, threads=1)
    shallow = replay(services, dataclasses.replace(one_thread, in_flight=2))
    deep = replay(services, dataclasses.replace(one_thread, in_flight=16))
    assert shallow.rate < 80 < 99 < deep.rate < 100.1
    assert max(shallow.waits) > 60e-3 and max(deep.waits) < 1e-3


COSTS = Costs(read=4e-3, read_io=0.0, inflate=3e-3, order=1e-5, parse=1e-3, maps=())


def test_gains_follow_the_cost_that_goes_away():
    now = Model(COSTS, LAYOUT)
    without = now.with_costs(read=1e-3, inflate=0.0)
    predicted = gain(now, without, 0.05)
    assert predicted.ratio == pytest.approx(2.5, rel=0.05) and 0 < predicted.error < 0.5 and predicted.resolved
    assert not gain(now, now, 0.2).resolved
    assert gain(now, without, 0.3).error > predicted.error
    assert now.limit() == "cores" and Model(COSTS, LAYOUT, step_time=0.1).limit() == "accelerators"
    assert now.with_layout(streams=1).limit() == "shards read side by side"


def test_accelerators_cap_the_gain():
    now = Model(COSTS, LAYOUT, step_time=1e-3)
    assert now.utilisation() == pytest.approx(0.8, rel=0.05)
    assert gain(now, now.with_costs(read=1e-3, inflate=0.0), 0.05).ratio == pytest.approx(1.25, rel=0.05)


def test_the_model_is_fitted_where_less_came_than_the_cpus_allow():
    now = Model(COSTS, LAYOUT)
    assert now.fitted(400).rate() == pytest.approx(400, rel=0.05)
    assert now.fitted(900).rate() == pytest.approx(900, rel=0.05)
    waits = now.with_costs(read_io=1.0)
    assert waits.limit() == "storage" and waits.fitted(1) is waits


def test_spread():
    assert spread([]) == (1.0,) and spread([0.0]) == (1.0,)
    assert spread([1.0, 3.0]) == (0.5, 1.5)


@pytest.mark.parametrize("lateness", [1.0, 5.0])
def test_a_slow_function_limits_however_busy_the_machine_is(lateness):
    slow = Model(dataclasses.replace(COSTS, maps=(("slow", 0.1),)), dataclasses.replace(LAYOUT, lateness=lateness))
    assert slow.limit() == "Python functions"
