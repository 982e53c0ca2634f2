"""The line that TrainingReport writes for each epoch, and what it puts into the logs."""

import array
import math
import re
from types import SimpleNamespace

import keras
import pytest
import tensorflow as tf
from conftest import RECORDS

from headrace import _tf_report
from headrace import tensorflow as hrtf
from headrace._tf_waits import Waits, _listeners

PAIR = ("image", "label")
LINE = re.compile(
    r"epoch (\d+): input (at most )?(\S+) % of a step of \S+ ms( \(high\))?, wait p50 \S+ ms, p99 \S+ ms, "
    r"(replicas even, |replicas uneven in (\d+) of (\d+) batches, )?bound by .+"
)


@pytest.fixture
def model(strategy):
    with strategy.scope():
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


@pytest.fixture
def described(monkeypatch):
    """The arguments of each call of describe()."""
    calls, original = [], _tf_report.describe

    def describe(*arguments):
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(_tf_report, "describe", describe)
    return calls


def totals(waits, stages=(), wait_seconds=0.0):
    return SimpleNamespace(
        waits=[SimpleNamespace(seconds=seconds, count=count) for seconds, count in waits],
        stages=[SimpleNamespace(name=name, busy_seconds=seconds) for name, seconds in stages],
        wait_seconds=wait_seconds,
    )


def waits_of(seconds, mapped=False):
    waits = Waits()
    waits.seconds = array.array("d", seconds)
    waits.uneven = array.array("b", [0] * len(seconds))
    waits.mapped = mapped
    return waits


def test_one_line_an_epoch_and_numbers_in_the_history(images, strategy, model):
    lines = []
    data = hrtf.distribute(images(), strategy, structure=PAIR)
    history = model.fit(data, epochs=3, verbose=0, callbacks=[hrtf.TrainingReport(write=lines.append)]).history
    assert [int(LINE.fullmatch(line)[1]) for line in lines] == [1, 2, 3]
    assert history["replicas_even"] == [1.0] * 3
    for share, p50, p99 in zip(history["input_share"], history["input_wait_p50"], history["input_wait_p99"]):
        assert 0 <= share <= 1 and 0 <= p50 <= p99
    assert not _listeners()


def test_every_step_counts_and_validation_does_not(images, strategy, model, described):
    train = hrtf.distribute(images(), strategy, structure=PAIR)
    valid = hrtf.distribute(images(seed=None, take=32, known=False), strategy, structure=PAIR)
    report = hrtf.TrainingReport(write=lambda line: None)
    model.fit(train, validation_data=valid, epochs=2, verbose=0, callbacks=[report])
    assert [(len(waits.seconds), steps) for waits, _, _, _, steps in described] == [(RECORDS // 16, RECORDS // 16)] * 2
    model.evaluate(valid, verbose=0, callbacks=[report])
    assert len(described) == 2


def test_uneven_replicas_are_told(images, strategy, model):
    lines = []
    data = hrtf.distribute(images(take=42, known=False, drop_remainder=False), strategy, structure=PAIR)
    history = model.fit(data, verbose=0, callbacks=[hrtf.TrainingReport(write=lines.append)]).history
    assert LINE.fullmatch(lines[0]).group(6, 7) == ("1", "3")
    assert history["replicas_even"] == [0.0]


def test_a_map_function_is_noted(images, strategy, model, described):
    data = hrtf.distribute(images(), strategy, structure=PAIR, map=lambda image, label: (image * 2, label))
    model.fit(data, verbose=0, callbacks=[hrtf.TrainingReport(write=lambda line: None)])
    assert described[0][0].mapped and len(described[0][0].seconds) == RECORDS // 16


def test_behind_tf_data_the_share_is_a_limit(images, model):
    lines = []
    history = model.fit(
        hrtf.dataset(images(), structure=PAIR), verbose=0, callbacks=[hrtf.TrainingReport(write=lines.append)]
    ).history
    assert LINE.fullmatch(lines[0])[2] == "at most "
    assert "replicas_even" not in history and 0 <= history["input_share"][0] <= 1


def test_without_headrace(model):
    lines = []
    data = tf.data.Dataset.from_tensors((tf.zeros([8, 4, 4, 3]), tf.zeros([8], tf.int64)))
    history = model.fit(data, verbose=0, callbacks=[hrtf.TrainingReport(write=lines.append)]).history
    assert lines == ["epoch 1: no batch came from headrace"] and "input_share" not in history


def test_a_starved_step_names_the_busiest_stage():
    before = totals([], [("read", 1.0), ("parse", 1.0)], wait_seconds=5.0)
    now = totals([], [("read", 2.0), ("parse", 9.0)], wait_seconds=7.9)
    text, numbers = _tf_report.describe(waits_of([0.2] * 9 + [1.2]), before, now, 10.0, 10)
    assert text == (
        "input 30.0 % of a step of 1e+03 ms (high), wait p50 200 ms, p99 1.11e+03 ms, replicas even, bound by parse"
    )
    assert numbers["input_share"] == pytest.approx(0.3) and numbers["input_bound"] == 1.0


@pytest.mark.parametrize(("mapped", "limit"), [(True, "map"), (False, "delivery")])
def test_what_waits_behind_a_ready_engine(mapped, limit):
    both = totals([], [("parse", 1.0)])
    text, _ = _tf_report.describe(waits_of([0.01] * 10, mapped=mapped), both, both, 1.0, 10)
    assert text.endswith(f"bound by {limit}") and "(high)" not in text


def test_below_five_percent_the_step_is_bound_by_compute():
    both = totals([], [("parse", 1.0)])
    text, numbers = _tf_report.describe(waits_of([0.0049] * 10), both, both, 1.0, 10)
    assert text.endswith("bound by compute") and numbers["input_bound"] == 0.0


def test_quantiles_of_the_engine_are_those_of_this_epoch():
    before = totals([(0.001, 90), (0.002, 5), (math.inf, 0)], wait_seconds=1.0)
    now = totals([(0.001, 91), (0.002, 103), (math.inf, 1)], wait_seconds=1.2)
    _, numbers = _tf_report.describe(waits_of([]), before, now, 10.0, 100)
    assert numbers["input_wait_p50"] == 0.002 and numbers["input_wait_p99"] == 0.002
    assert numbers["input_share"] == pytest.approx(0.02)


def test_two_reports_hear_the_same_batches(images, strategy, model):
    lines, again = [], []
    reports = [hrtf.TrainingReport(write=lines.append), hrtf.TrainingReport(write=again.append)]
    model.fit(hrtf.distribute(images(), strategy, structure=PAIR), verbose=0, callbacks=reports)
    assert LINE.fullmatch(lines[0]) and LINE.fullmatch(again[0])
    assert not _listeners()
