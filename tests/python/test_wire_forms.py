"""Examples in unusual wire forms, without TensorFlow: the values of wire_cases.py, by every kind of spec and every way in."""

import headrace as hr
import pytest

from number_shards import write_shard
from wire_cases import ABSENT, CASES, KINDS, spec

GOOD = [case for case in CASES if not case.fails]
BAD = [case for case in CASES if case.fails]


def check(column, wanted):
    """The column, of one row or more, has these values."""
    found = (column.flat_values if isinstance(column, hr.Ragged) else column).numpy().reshape(-1)
    assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()
    assert found.dtype == object or found.tobytes() == wanted.tobytes()


def ways(data, features, kind):
    """Every function that reads one record: an Example is also the context of a SequenceExample."""
    yield lambda: hr.parse_example([data], features)
    yield lambda: hr.parse_single_example(data, features)
    if kind != "FixedLenSequence":
        yield lambda: hr.parse_sequence_example([data], features, None)[0]


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_values(case):
    for kind in KINDS:
        features = {"k": spec(kind, case.ours or ABSENT, case.dtype, hr, hr)}
        if (kind, case.ours) == ("FixedLen", []):
            with pytest.raises(hr.SchemaError, match="values != expected"):  # a list is there, so there is no default
                hr.parse_example([case.record], features)
            continue
        for parse in ways(case.record, features, kind):
            check(parse()["k"], case.values(kind, case.ours))


@pytest.mark.parametrize("case", BAD, ids=str)
def test_errors(case):
    for kind in KINDS:
        features = {"k": spec(kind, ABSENT, case.dtype, hr, hr)}
        for parse in ways(case.record, features, kind):
            with pytest.raises(hr.SchemaError, match=case.ours) as caught:
                parse()
            assert caught.value.key == (None if "record" in case.ours else "k")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["int64", "float32", "string"])
def test_in_a_pipeline(tmp_path, dtype, threads):
    """Bad records are left out one by one, whatever the form of those beside them."""
    cases = [case for case in CASES if case.dtype == dtype]
    path = write_shard(tmp_path / "forms", [case.record for case in cases])
    features = {"k": spec("VarLen", ABSENT, dtype, hr, hr)}
    batches = hr.TFRecordDataset(path, on_mismatch="skip", num_threads=threads).batch(7).parse(features)
    with iter(batches) as pipeline:
        rows = [row for batch in pipeline for row in batch["k"].tolist()]
        assert pipeline.report().skipped == sum(case.fails for case in cases)
    assert rows == [case.values("VarLen", case.ours).tolist() for case in cases if not case.fails]
