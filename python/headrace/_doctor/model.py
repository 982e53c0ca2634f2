"""The model of one pipeline: what a batch costs in each stage and what there is to do it with; and what it predicts.

Predictions replay service times drawn from the recorded ones, several times, so that what they scatter shows in the error bar.
"""

import dataclasses
import random
import statistics

from ..findings import Gain
from .measure import Costs
from .replay import Layout, Service, replay

_BATCHES = 160
_DRAWS = 8
# Two measurements of the same thing on a quiet machine differ by about this much.
_FLOOR = 0.03
# Resources that are CPU time, by name, and what is searched for how late tasks are.
_OF_CPUS = ("cores", "worker threads", "shards read side by side", "the order of records")
_LEAST_LATENESS, _MOST_LATENESS = 0.5, 8.0
_HALVINGS = 7


@dataclasses.dataclass(frozen=True)
class Model:
    """`parse_spread` and `map_spread` are recorded times of single batches, as multiples of their means."""

    costs: Costs
    layout: Layout
    step_time: float = 0.0
    consumer: float = 0.0  # CPU seconds that taking a batch costs
    parse_spread: tuple[float, ...] = (1.0,)
    map_spread: tuple[float, ...] = (1.0,)

    def rates(self):
        """Batches a second, once for each draw; the same draws for every model."""
        return [self._replayed(draw).rate for draw in range(_DRAWS)]

    def rate(self):
        return statistics.median(self.rates())

    def utilisation(self):
        """Share of the time in which the accelerators compute, 0 to 1; 1.0 without a step time."""
        return min(1.0, self.rate() * self.step_time) if self.step_time else 1.0

    def bounds(self):
        """{resource: batches a second that it allows by itself}."""
        costs, layout = self.costs, self.layout
        # The clock around a function counts what others took from it already.
        per_core = layout.stretch(layout.cores) * (costs.pool + costs.order) + costs.map
        threads, streams = min(layout.threads, layout.cores), min(layout.streams, layout.cores)
        seconds = {
            "cores": per_core / layout.cores,
            "worker threads": layout.stretch(threads) * costs.pool / layout.threads,
            "shards read side by side": layout.stretch(streams) * costs.read / layout.streams,
            "storage": costs.read_io / min(layout.io_threads, layout.streams),
            "the order of records": layout.stretch(1) * costs.order,
            "Python functions": costs.map,
            "taking batches": self.consumer,
            "accelerators": self.step_time,
        }
        if layout.threads >= layout.cores:
            del seconds["worker threads"]  # more would not run
        if layout.streams >= min(layout.threads, layout.cores):
            del seconds["shards read side by side"]
        return {name: 1 / each for name, each in seconds.items() if each > 0}

    def limit(self):
        """The resource that allows least."""
        bounds = self.bounds()
        return min(bounds, key=bounds.get, default="nothing")

    def with_costs(self, **changes):
        return dataclasses.replace(self, costs=dataclasses.replace(self.costs, **changes))

    def with_layout(self, **changes):
        return dataclasses.replace(self, layout=dataclasses.replace(self.layout, **changes))

    def fitted(self, rate):
        """The model with the lateness that gives a measured rate, where the CPUs limit.

        Threads that sleep between short tasks get their share of a busy machine late, which no clock of the engine sees.
        """
        flat_out = self.with_step(0.0)
        if flat_out.limit() not in _OF_CPUS:
            return self
        low, high = _LEAST_LATENESS, _MOST_LATENESS
        for _ in range(_HALVINGS):
            middle = (low * high) ** 0.5
            if flat_out.with_layout(lateness=middle).rate() > rate:
                low = middle
            else:
                high = middle
        return self.with_layout(lateness=(low * high) ** 0.5)

    def with_step(self, step_time):
        return dataclasses.replace(self, step_time=step_time)

    def _replayed(self, draw):
        drawn = random.Random(draw)
        costs = self.costs
        services = [
            Service(
                read_io=costs.read_io,
                read=costs.read,
                order=costs.order,
                parse=costs.parse * drawn.choice(self.parse_spread),
                map=costs.map * drawn.choice(self.map_spread),
                step=max(self.step_time, self.consumer),
            )
            for _ in range(_BATCHES)
        ]
        return replay(services, self.layout)


def gain(now, then, noise):
    """Gain of the model `then` over the model `now`, with an error bar.

    Args:
        noise: relative error of the measurement that both stand on, its back-test included.
    """
    before, after = now.rates(), then.rates()
    ratios = [each / other for each, other in zip(after, before)]
    ratio = statistics.median(ratios)
    # What the model gets wrong in all is wrong in the part that the fix changes, and only in that.
    changed = abs(1 - min(ratio, 1 / ratio))
    error = ratio * ((noise * changed) ** 2 + _FLOOR**2 + (statistics.pstdev(ratios) / ratio) ** 2) ** 0.5
    return Gain(ratio, error)


def spread(times):
    """Times as multiples of their mean; of none, a batch is as every other."""
    mean = statistics.mean(times) if times else 0.0
    return tuple(each / mean for each in times) if mean > 0 else (1.0,)
