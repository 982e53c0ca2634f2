"""Structures: trees of names, resolved against the columns of a batch."""

import collections

import numpy as np
import pytest
from headrace import rest, weight
from headrace.structure import resolve

NAMES = ["image", "label", "meta"]
COLUMNS = {"image": "I", "label": np.array([0, 1, 5]), "meta": "M"}
Pair = collections.namedtuple("Pair", ("x", "y"))


@pytest.mark.parametrize(
    "structure, wanted",
    [
        ("image", "I"),
        (("image", "meta"), ("I", "M")),
        ({"x": "image", "y": {"z": ["meta"]}}, {"x": "I", "y": {"z": ["M"]}}),
        (({"x": "image"}, "meta"), ({"x": "I"}, "M")),
        (Pair("image", "meta"), Pair("I", "M")),
        ((), ()),
    ],
)
def test_trees(structure, wanted):
    made = resolve(structure, NAMES)(COLUMNS)
    assert made == wanted and type(made) is type(wanted)


def test_rest_is_what_is_named_nowhere_else():
    assert resolve(None, NAMES)(COLUMNS) == COLUMNS
    everything = resolve((rest, "label", {"m": "meta"}), NAMES)(COLUMNS)
    assert everything[0] == {"image": "I"} and everything[2] == {"m": "M"}


def test_weights_follow_labels():
    made = resolve(("image", weight("label", {0: 0.5, 1: 3})), NAMES)(COLUMNS)
    assert made[1].dtype == np.float32 and made[1].tolist() == [0.5, 3.0, 1.0]


def test_an_adapter_may_weigh_itself():
    made = resolve(weight("label", {0: 2.0}), NAMES)({"label": "L"}, lambda leaf, labels: (leaf.table, labels))
    assert made == (((0, 2.0),), "L")


@pytest.mark.parametrize("structure, text", [("img", "'img'"), (("image", 3), "3"), ({"a": weight("lab", {})}, "'lab'")])
def test_what_is_refused(structure, text):
    with pytest.raises(ValueError, match=text):
        resolve(structure, NAMES)


@pytest.mark.parametrize("name, table", [(3, {}), ("label", 3), ("label", {"a": 1}), ("label", {1: "x"})])
def test_weights_that_are_refused(name, table):
    with pytest.raises(ValueError, match="weight"):
        weight(name, table)
