"""What specs make of records, without TensorFlow: the values of feature_cases.py, by every way in."""

import headrace as hr
import numpy as np
import pytest

from feature_cases import CASES
from number_shards import write_shard


def check(column, wanted):
    if isinstance(wanted, list):
        assert column.tolist() == wanted
        return
    found = column.numpy()
    if wanted.dtype == object:
        found = np.array(found, object)  # one string is bytes
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert found.tolist() == wanted.tolist() if wanted.dtype == object else found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_errors(tmp_path, case):
    path = write_shard(tmp_path / "shard", case.records)
    ways = [
        lambda: hr.parse_example(case.records, {"k": case.spec(hr, hr)})["k"],
        lambda: next(iter(hr.TFRecordDataset(path).batch(9).parse({"k": case.spec(hr, hr)})))["k"],
    ]
    if not case.fails:
        for read in ways if case.rows else ways[:1]:
            check(read(), case.ours)
        return
    kind, text = case.ours
    with pytest.raises(kind, match=text) as caught:
        ways[0]()
    if kind is hr.SchemaError:
        assert (caught.value.key, caught.value.row) == ("k", len(case.rows) - 1)
        pipeline = iter(hr.TFRecordDataset(path).batch(9).parse({"k": case.spec(hr, hr)}))
        with pytest.raises(kind, match=text) as caught:
            for batch in pipeline:
                assert len(batch) == len(case.rows) - 1  # what stands in front of it
        assert (caught.value.key, caught.value.record) == ("k", len(case.rows) - 1)


@pytest.mark.parametrize("case", [case for case in CASES if case.rows and case.rows[-1] is not None], ids=str)
def test_one_record(case):
    parse = lambda: hr.parse_single_example(case.records[-1], {"k": case.spec(hr, hr)})["k"]
    if case.fails:
        with pytest.raises(case.ours[0], match=case.ours[1]):
            parse()
        return
    if isinstance(case.ours, list):
        check(parse(), np.array(case.ours[-1], parse().numpy().dtype))
        return
    longest = parse().shape
    row = np.array(case.ours[-1], case.ours.dtype)
    check(parse(), np.array(row[tuple(slice(size) for size in longest)], row.dtype))


def test_the_result_has_the_order_of_the_specs():
    specs = {"b": hr.VarLenFeature(hr.int64), "z": hr.FixedLenFeature([], hr.int64, 1), "a": hr.RaggedFeature(hr.int64)}
    assert list(hr.parse_example([b""], specs)) == ["b", "z", "a"] and hr.parse_example([b""], {}) == {}
