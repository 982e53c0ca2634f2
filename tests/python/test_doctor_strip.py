"""How busy the accelerators are over time: shares of intervals, steps behind recorded batches, characters."""

import pytest
from headrace._doctor import strip


def test_shares_of_equal_parts():
    assert strip.shares([(0, 10)], 0, 10, 5) == (1.0,) * 5
    assert strip.shares([], 0, 10, 2) == (0.0, 0.0)
    assert strip.shares([(1, 3), (5, 6)], 0, 8, 4) == pytest.approx((0.5, 0.5, 0.5, 0.0))
    assert strip.shares([(-5, 1), (7, 99)], 0, 8, 4) == pytest.approx((0.5, 0.0, 0.0, 0.5))
    assert sum(strip.shares([(0.05, 0.95)], 0, 1, 7)) / 7 == pytest.approx(0.9)


def test_steps_wait_for_late_batches():
    early = [0.0, 0.1, 0.2, 0.3]
    assert strip.steps(early, 1.0, 8) == [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]
    late = [0.0, 2.0, 4.0]
    assert strip.steps(late, 1.0, 8) == [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]


def test_what_is_ahead_carries_over_a_slow_batch_only_as_far_as_it_goes():
    taken = [0.1 * number for number in range(10)] + [5.9]  # the last one takes 5 s to make
    begins = lambda ahead: [begin for begin, _ in strip.steps(taken, 1.0, ahead)]
    assert begins(20)[-1] == pytest.approx(10.0)  # made while nine others are used up
    # With one ahead it is begun when the ninth step begins.
    assert begins(1)[-1] == pytest.approx(begins(1)[9] + 5.0)


def test_without_a_prefetch_each_batch_is_made_behind_a_step():
    assert strip.steps([0.0, 0.5, 1.0], 1.0, 0) == [(0.0, 1.0), (1.5, 2.5), (3.0, 4.0)]


def test_line():
    assert strip.line([0.0, 0.49, 0.5, 0.99, 1.0]) == "▁▄▅██"
