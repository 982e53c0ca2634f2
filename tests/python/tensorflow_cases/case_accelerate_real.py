"""Programs in the style of public training code, before and after; the account; errors."""

from collections import Counter

import accelerate_real as real
import numpy as np
import pytest
import tensorflow as tf

import headrace as hr
from headrace import tensorflow as hrtf


def flat(element):
    return [tensor.numpy() for tensor in tf.nest.flatten(element, expand_composites=True)]


def assert_same(ours, theirs, tolerance=1e-6):
    batches = 0
    for mine, wanted in zip(ours, theirs, strict=True):
        batches += 1
        for a, b in zip(flat(mine), flat(wanted), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            if a.dtype.kind == "f":
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            else:
                np.testing.assert_array_equal(a, b)
    assert batches


def rows(dataset):
    return Counter(tuple(value.tobytes() for value in row) for element in dataset for row in zip(*flat(element)))


@pytest.mark.parametrize("name", real.PROGRAMS)
def test_program(name, tmp_path):
    dataset = real.PROGRAMS[name](tmp_path)
    taken = hrtf.accelerate(dataset, verify=8, seed=3, strict=True)
    assert taken.element_spec == dataset.element_spec
    if name == "resnet":  # flips at random; the check has fed both sides the same draws
        assert taken.takeover.check == "8 records equal bit for bit, with the same random draws"
        for (image, label), (original, wanted) in zip(taken, dataset, strict=True):
            np.testing.assert_array_equal(label, wanted)
            np.testing.assert_allclose(np.sort(image, axis=2), np.sort(original, axis=2), atol=1e-4)
    elif name == "cached":
        assert rows(taken) == rows(dataset)
    elif name == "weighted":
        share = np.concatenate([labels.numpy() for _, labels in taken]) == 9
        assert len(share) == 400 and 0.2 < share.mean() < 0.4
    else:
        assert_same(taken, dataset)


def test_what_stays_of_them(tmp_path):
    stayed = {}
    for name in ("bert", "recommender", "segmentation", "per_file"):
        stayed[name] = hrtf.accelerate(real.PROGRAMS[name](tmp_path), verify=8, strict=True).takeover.stayed
    assert stayed["segmentation"] == stayed["per_file"] == []
    assert stayed["bert"] == ["the rest of the map, 6 ops, on each batch: tf.vectorized_map"]
    assert not any("map_fn" in line for lines in stayed.values() for line in lines)


def test_the_source_of_the_account_runs(tmp_path):
    for name in ("segmentation", "recommender", "audio", "weighted"):
        dataset = real.PROGRAMS[name](tmp_path)
        taken = hrtf.accelerate(dataset, verify=8, seed=3, strict=True)
        names = {"takeover": taken.takeover}
        exec(taken.takeover.source, names)
        assert_same(names["dataset"], taken)
        assert str(taken.takeover).endswith("\n".join("    " + line for line in taken.takeover.source.splitlines()))


def test_explain_prints_the_account(tmp_path, capsys):
    taken = hrtf.accelerate(real.segmentation(tmp_path), verify=8, explain=True)
    assert capsys.readouterr().out == f"{taken.takeover}\n"


def test_a_captured_variable_stays_live(tmp_path):
    factor = tf.Variable(2.0)
    dataset = tf.data.TFRecordDataset(real.write(tmp_path, "live", real._points)).map(real._point)
    dataset = dataset.map(lambda x, y: (x * factor, y)).batch(6)
    taken = hrtf.accelerate(dataset, verify=8, strict=True)
    assert_same(taken, dataset)
    factor.assign(5.0)
    assert_same(taken, dataset)


def test_a_wrong_value_is_found(tmp_path, monkeypatch):
    from headrace._accelerate import lift

    dataset = real.recommender(tmp_path)
    right = lift.run

    def wrong(*arguments):
        outputs = right(*arguments)
        return [tensor + 1e-3 if tensor.dtype == tf.float32 else tensor for tensor in outputs]

    monkeypatch.setattr(lift, "run", wrong)
    taken = hrtf.accelerate(dataset)
    assert taken is dataset and "other values" in taken.takeover.reason


def test_objects_and_graph_must_agree(tmp_path):
    def program():
        return tf.data.TFRecordDataset(real.write(tmp_path, "seen", real._points)).shuffle(9).map(real._point).batch(6)

    renamed = program()
    shuffle = renamed._input_dataset._input_dataset
    shuffle._seeds = shuffle._seed
    del shuffle._seed
    assert "has no _seed" in hrtf.accelerate(renamed).takeover.reason
    hidden = program()
    hidden._input_dataset._input_dataset = hidden._input_dataset._input_dataset._input_dataset
    assert "the graph has Shuffle" in hrtf.accelerate(hidden).takeover.reason
    resized = program()
    resized._batch_size = tf.constant(7, tf.int64)
    assert hrtf.accelerate(resized).takeover.reason == "the graph has 6 for Batch.batch_size, the objects tell 7"


def test_an_error_in_a_python_function_keeps_its_traceback(tmp_path):
    def checked(x):
        if x[0] > 0.9:
            raise RuntimeError("this point is too far out")
        return x

    def parse(record):
        x, y = real._point(record)
        return tf.ensure_shape(tf.numpy_function(checked, [x], tf.float32), [4]), y

    files = real.write(tmp_path, "errors", lambda number: {"x": np.full(4, number / 24, np.float32), "y": number}, 1)
    taken = hrtf.accelerate(tf.data.TFRecordDataset(files).map(parse).batch(6), verify=8, strict=True)
    with pytest.raises(tf.errors.OpError) as raised:
        list(taken)
    assert "this point is too far out" in str(raised.value) and "in checked" in str(raised.value)


def test_an_assert_of_the_user_is_kept(tmp_path):
    def parse(record):
        x, y = real._point(record)
        tf.debugging.assert_less(y, tf.constant(20, tf.int64), "label out of range")
        return x, y

    files = real.write(tmp_path, "assert", lambda number: {**real._points(number), "y": number}, 1)
    taken = hrtf.accelerate(tf.data.TFRecordDataset(files).map(parse).batch(6), verify=8, strict=True)
    batches = iter(taken)
    for _ in range(3):
        next(batches)
    with pytest.raises(tf.errors.InvalidArgumentError, match="label out of range"):
        next(batches)


def test_an_error_of_the_data_is_headraces(tmp_path):
    files = real.write(tmp_path, "short", lambda number: {"x": real._noise(number, 4 - number // 20), "y": 0}, 1)
    taken = hrtf.accelerate(tf.data.TFRecordDataset(files).map(real._point).batch(6), verify=8, strict=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"short-0.tfrecord.*'x'"):
        list(taken)


def test_a_refusal_names_the_record_that_cannot_be_read(tmp_path):
    files = real.write(tmp_path, "bad", lambda number: {"x": real._noise(number, 3), "y": 0}, 1)
    dataset = tf.data.TFRecordDataset(files).map(real._point).batch(6)
    taken = hrtf.accelerate(dataset)
    assert taken is dataset and "bad-0.tfrecord" in taken.takeover.reason and "key 'x'" in taken.takeover.reason


def test_arguments(tmp_path):
    dataset = real.bert(tmp_path)
    with pytest.raises(ValueError, match="dataset=.*must be a tf.data.Dataset"):
        hrtf.accelerate(hr.TFRecordDataset("nowhere"))
    with pytest.raises(ValueError, match="random='no'"):
        hrtf.accelerate(dataset, random="no")
    with pytest.raises(ValueError, match="verify=0"):
        hrtf.accelerate(dataset, verify=0)


def test_numbers_of_records_that_are_stated(tmp_path):
    files = real.write(tmp_path, "stated", real._points)
    state = lambda dataset, count: dataset.apply(tf.data.experimental.assert_cardinality(count))
    records = tf.data.TFRecordDataset(files).map(real._point)
    taken = hrtf.accelerate(state(records, 24).batch(6), verify=8, strict=True)
    assert int(taken.cardinality()) == 4
    taken = hrtf.accelerate(state(records.batch(6), 4), verify=8, strict=True)
    assert int(taken.cardinality()) == 4
    repeated = hrtf.accelerate(state(records.repeat(2), 48).batch(6), verify=8, strict=True)
    assert "assert_cardinality of the records is left out" in repeated.takeover.differences
    assert len(list(repeated)) == 8


def _stated_reasons(files):
    """(a program, why it is not taken over)."""
    records = tf.data.TFRecordDataset(files)
    points = records.map(real._point)
    missing = tf.data.TFRecordDataset([files[0] + ".gone"]).map(real._point)
    endless = tf.data.Dataset.from_tensor_slices(files).repeat().map(lambda name: name)
    tags = {"y": tf.io.VarLenFeature(tf.int64)}
    return [
        (points, "no batch"),
        (records.batch(4), "no map parses the record"),
        (missing.batch(4), "it cannot be read: MissingFile"),
        (points.cache("there").batch(4), "cache in a file"),
        (endless.interleave(tf.data.TFRecordDataset).map(real._point).batch(4), "the list of files has no end"),
        (records.map(lambda record: tf.io.parse_single_example(record, tags)).batch(4), "sparse results of single records"),
        (points.window(4).batch(2), "WindowDataset is not known"),
        (records.window(4).flat_map(lambda window: window.batch(4)), "BatchDataset of each file"),
    ]


@pytest.mark.parametrize("place", range(8))
def test_reasons(place, tmp_path):
    dataset, reason = _stated_reasons(real.write(tmp_path, "reasons", real._points))[place]
    taken = hrtf.accelerate(dataset, verify=8)
    assert taken is dataset and reason in taken.takeover.reason, taken.takeover.reason


def test_random_numbers_can_stay_tensorflows(tmp_path):
    dataset = tf.data.TFRecordDataset(real.write(tmp_path, "noisy", real._points)).map(real._point)
    dataset = dataset.map(lambda x, y: (x + tf.random.uniform([4]), y)).batch(24)
    draw = lambda **options: next(iter(hrtf.accelerate(dataset, verify=8, seed=7, strict=True, **options)))[0].numpy()
    np.testing.assert_array_equal(draw(), draw())
    assert (draw(random="tensorflow") != draw(random="tensorflow")).all()
    taken = hrtf.accelerate(dataset, verify=8, random="tensorflow")
    assert any("drawn by TensorFlow" in line for line in taken.takeover.differences)


def test_random_numbers_that_cannot_be_drawn_from_the_seed_are_told(tmp_path):
    generator = tf.random.Generator.from_seed(1)
    points = tf.data.TFRecordDataset(real.write(tmp_path, "told", real._points)).map(real._point)
    dataset = points.map(lambda x, y: (x + tf.random.uniform([4]) + generator.normal([4]), y)).batch(6)
    taken = hrtf.accelerate(dataset, verify=8, strict=True)
    assert taken.takeover.differences[-1] == "but for RngReadAndSkip, which TensorFlow draws"


def test_errors_that_are_ignored(tmp_path):
    """Record 20 does not fit: left out when it is the parser's error that is ignored, raised when only the reader's is."""
    files = real.write(tmp_path, "ignored", lambda number: {"x": real._noise(number, 4 - (number == 20)), "y": number}, 1)
    records = tf.data.TFRecordDataset(files)
    taken = hrtf.accelerate(records.map(real._point).ignore_errors().batch(23), verify=8, strict=True)
    assert_same(taken, records.map(real._point).ignore_errors().batch(23))
    reading = hrtf.accelerate(records.ignore_errors().map(real._point).batch(6), verify=8, strict=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ignored-0.tfrecord"):
        list(reading)
    checked = records.map(real._point).map(lambda x, y: (x, tf.debugging.check_numerics(x, "numbers"))).ignore_errors()
    assert "ignore_errors behind ops that may fail" in hrtf.accelerate(checked.batch(6), verify=8).takeover.reason
