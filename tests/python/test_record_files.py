"""Files of records that are damaged or odd, without TensorFlow: what comes out of the files of file_cases.py."""

import headrace as hr
import pytest

from file_cases import ALL, CASES, FRAMES, N, RECORDS
from wire_bytes import framed

COMPRESSION = {"": "none", "GZIP": "gzip", "ZLIB": "zlib"}


def read(path, **options):
    """The records in front of a failure, and the failure."""
    records = []
    try:
        for record in hr.TFRecordDataset(path, **options):
            records.append(record)
    except hr.DataLossError as error:
        return records, error
    return records, None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_records_and_failure(tmp_path, case):
    path = tmp_path / "shard"
    path.write_bytes(case.data)
    count, text = case.ours
    for threads in (1, 3):
        records, error = read(str(path), compression=COMPRESSION[case.compression], num_threads=threads)
        assert records == RECORDS[:count]
        if text is None:
            assert error is None
            continue
        assert (error.path, error.record) == (str(path), count)
        assert error.offset == sum(map(len, FRAMES[:count]))
        with pytest.raises(hr.DataLossError, match=text):
            raise error


@pytest.mark.parametrize("case", [case for case in CASES if case.ours[1] is not None and not case.compression], ids=str)
def test_skipped_damage(tmp_path, case):
    """What stands before the damage is never lost, nothing is invented, and reading goes on in the next file."""
    (tmp_path / "a").write_bytes(case.data)
    (tmp_path / "b").write_bytes(framed(b"the next file"))
    dataset = hr.TFRecordDataset([tmp_path / "a", tmp_path / "b"], compression="none", on_corrupt="skip")
    with iter(dataset) as pipeline:
        records = list(pipeline)
        assert records.pop() == b"the next file"
        assert records[: case.ours[0]] == RECORDS[: case.ours[0]] and set(records) <= set(RECORDS)
        assert pipeline.report().skipped >= 1


def test_records_of_no_bytes(tmp_path):
    (tmp_path / "a").write_bytes(framed(b"") + framed(b"x") + framed(b""))
    assert read(str(tmp_path / "a")) == ([b"", b"x", b""], None)


def test_zeros_are_no_records_even_unchecked(tmp_path):
    (tmp_path / "a").write_bytes(ALL[:N] + bytes(4096))
    records, error = read(str(tmp_path / "a"), verify="off")
    assert records == RECORDS[:6] and error.record == 6
