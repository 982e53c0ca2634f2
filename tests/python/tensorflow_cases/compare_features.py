"""feature_cases.py beside TensorFlow, bit for bit: values, shapes, and the core words of errors in both."""

import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from same import assert_same_array

import headrace as hr

sys.path.insert(0, str(Path(__file__).parents[1]))
from feature_cases import CASES, NOT_ASKED, SAME

ERRORS = (tf.errors.InvalidArgumentError, ValueError, TypeError)


def parse(case):
    return tf.io.parse_example(tf.constant(case.records, tf.string, [len(case.rows)]), {"k": case.spec(tf.io, tf)})["k"]


@pytest.mark.parametrize("case", [case for case in CASES if case.theirs is not NOT_ASKED], ids=str)
def test_both(case):
    wanted = case.ours if case.theirs is SAME else case.theirs
    if isinstance(wanted, (tuple, str)):
        with pytest.raises(ERRORS, match=wanted if isinstance(wanted, str) else wanted[1]):
            parse(case)
        return
    tensor = parse(case)
    if not isinstance(wanted, list):
        assert_same_array(tensor.numpy(), wanted)
        return
    if isinstance(tensor, tf.SparseTensor):
        indices, values, shape = hr.parse_example(case.records, {"k": case.spec(hr, hr)})["k"].to_sparse()
        for ours, theirs in zip((indices, values, shape), (tensor.indices, tensor.values, tensor.dense_shape)):
            assert_same_array(np.asarray(ours), theirs.numpy())
    rows = tf.RaggedTensor.from_sparse(tensor).to_list() if isinstance(tensor, tf.SparseTensor) else tensor.to_list()
    assert rows == wanted


def one_key_in_two_ways(io, types):
    dense, sparse = io.FixedLenFeature([], types.int64), io.VarLenFeature(types.int64)
    ragged = io.RaggedFeature(types.int64, "k")
    yield {"k": dense, "r": ragged}
    yield {"k": sparse, "r": ragged}
    yield {"k": dense, "s": io.SparseFeature("i", "k", types.int64, 4)}
    yield {"r": ragged, "q": io.RaggedFeature(types.float32, "k")}


def test_a_key_has_one_kind_in_both():
    for ours, theirs in zip(one_key_in_two_ways(hr, hr), one_key_in_two_ways(tf.io, tf)):
        with pytest.raises(ValueError, match="must not intersect|Conflicting type"):
            tf.io.parse_example([b""], theirs)
        with pytest.raises(ValueError, match="must not intersect|is asked for as"):
            hr.parse_example([b""], ours)


def test_inputs_of_other_ranks():
    features = {"k": tf.io.FixedLenFeature([], tf.int64)}
    one = hr.make_example({"k": 3})
    assert tf.io.parse_example(one, features)["k"].numpy() == hr.parse_example(one, features)["k"].numpy() == 3
    for module, error in ((tf.io, ValueError), (hr, ValueError)):
        with pytest.raises(error, match="Input serialized must be a scalar"):
            module.parse_single_example([one], features)


def test_no_features():
    with pytest.raises(ValueError, match="`features` cannot be"):
        tf.io.parse_example([b""], {})
    assert hr.parse_example([b""], {}) == {}


def test_the_order_of_the_result():
    specs = {
        "b": tf.io.VarLenFeature(tf.int64),
        "z": tf.io.FixedLenFeature([], tf.int64, 1),
        "a": tf.io.RaggedFeature(tf.int64),
        "y": tf.io.FixedLenFeature([], tf.int64, 1),
    }
    assert list(tf.io.parse_example([b""], specs)) == ["b", "y", "z", "a"]  # sparse, dense, ragged
    assert list(hr.parse_example([b""], specs)) == list(specs)


def test_which_of_several_faults_is_told():
    """Of records the lowest, in both; of the features of a record the last bad one there, here the first of the spec."""
    features = {key: tf.io.FixedLenFeature([], tf.int64) for key in ("a", "b")}
    bad = [hr.make_example({"a": 1, "b": 1}), hr.make_example({"a": [1.0], "b": [1.0]}), b"\x0a\x7f", hr.make_example({"a": 1})]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: <unknown>, Key: b, Index: 1"):
        tf.io.parse_example(bad, features)
    with pytest.raises(hr.SchemaError) as caught:
        hr.parse_example(bad, features)
    assert (caught.value.key, caught.value.row, caught.value.expected, caught.value.found) == ("a", 1, "int64", "float")
