"""Hard files that real users met: every case of tests/fault/cases, and of ../shared/faults where that is there.

Each case says what comes before the failure, which failure it is and what it names, what on_corrupt="skip" and
verify="off" give, how specs read its records, and how much time and memory that may take.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

import fault_cases
import headrace as hr
import pytest

from number_shards import ROOT

KEPT = ROOT / "tests" / "fault" / "cases"
WHOLE = ROOT.parent / "shared" / "faults"

# The cases that are too large to be kept here.
LARGE = {"L26", "P34", "X03", "Z09", "Z12"}

# Hints and warnings beyond the texts that the cases themselves ask for.
HINTS = {"F17": "git-lfs", "P26": "SequenceExample", "T19": "raw bytes"}
WARNINGS = {
    "F21": "b.tfrecord",
    "L06": "a.tfrecord",
    "L14": "a.tfrecord",
    "L20": "00002-of-00004",
    "Z17": "a.tfrecord.gz",
}


def _gather():
    kept = fault_cases.load(KEPT)
    found = {name: (KEPT, case) for name, case in kept.items()}
    if (WHOLE / "cases.json").is_file():
        found.update({name: (WHOLE, case) for name, case in fault_cases.load(WHOLE).items()})
    return found


CASES = _gather()
VARIANTS = [(name, i) for name, (_, case) in CASES.items() for i in range(len(case["expect"].get("variants", [])))]


def having(*path):
    """Names of the cases with such an expectation."""

    def has(entry):
        for word in path:
            if word not in entry:
                return False
            entry = entry[word]
        return True

    return [name for name, (_, case) in CASES.items() if has(case)]


@pytest.fixture
def ready(request):
    """Makes a case ready: (case, folder with its files)."""

    def make(name):
        folder, case = CASES[name]
        scratch = request.getfixturevalue("unprivileged" if name in fault_cases.UNREADABLE else "tmp_path")
        return case, fault_cases.prepare(folder, case, scratch)

    return make


def check_error(error, expected, name=None):
    """`error` is of an expected kind and names what it must."""
    if expected.get("error") is None:
        assert error is None
        return
    assert isinstance(error, tuple(fault_cases.KINDS[kind] for kind in expected["error"])), repr(error)
    text = str(error)
    for words in expected["message_contains"]:
        assert any(word in text for word in words.split("|")), text
    assert len(text.encode()) <= expected.get("max_message_bytes", 2048) and "\n" not in text
    if name in HINTS:
        assert HINTS[name] in text, text
    if "record_index" in expected:
        assert error.record == expected["record_index"]
    if "byte_offset" in expected:
        assert error.offset == expected["byte_offset"]


def check_records(records, error, expected, case, name=None):
    check_error(error, expected, name)
    at_most = "records_note" in expected or "records_max" in expected
    limit = expected.get("records", expected.get("records_max"))
    assert len(records) <= limit if at_most else len(records) == limit
    if "raw_lengths" in case["expect"]:
        assert [len(record) for record in records] == case["expect"]["raw_lengths"]
    if "ids" in expected:
        assert fault_cases.ids(records) == expected["ids"]
    elif at_most:
        assert fault_cases.ids(records) == list(range(len(records)))
    elif case.get("fixture"):
        assert fault_cases.ids(records) == list(range(limit))


def test_every_case_is_there_and_runs():
    assert not LARGE & set(fault_cases.load(KEPT))
    assert len(fault_cases.load(KEPT)) == 65
    if not (WHOLE / "cases.json").is_file():
        pytest.skip(f"no {WHOLE}: the {len(LARGE)} large cases do not run")
    assert CASES.keys() == fault_cases.load(KEPT).keys() | LARGE
    kept, whole = fault_cases.load(KEPT), fault_cases.load(WHOLE)
    assert {name: case["expect"] for name, case in kept.items()} == {name: whole[name]["expect"] for name in kept}


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("name", CASES)
def test_records_before_the_failure(ready, name, threads):
    case, place = ready(name)
    records, error, report = fault_cases.drain(iter(fault_cases.dataset(case, place, num_threads=threads)))
    check_records(records, error, case["expect"]["strict"], case, name)
    if name in WARNINGS:
        assert any(WARNINGS[name] in text for text in report.warnings), report.warnings


@pytest.mark.parametrize("name", having("expect", "strict", "ids"))
def test_rows_of_batches_before_the_failure(ready, name):
    """The partial batch before a failure is delivered as well."""
    case, place = ready(name)
    spec = {"id": hr.FixedLenFeature([], hr.int64)}
    for size in (1, 4, 1000):
        batches, error, _ = fault_cases.drain(iter(fault_cases.dataset(case, place).batch(size).parse(spec)))
        assert [i for batch in batches for i in batch["id"].numpy().tolist()] == case["expect"]["strict"]["ids"]
        check_error(error, case["expect"]["strict"], name)


@pytest.mark.parametrize("name", having("expect", "skip"))
def test_skipping_goes_on_behind_the_damage(ready, name):
    case, place = ready(name)
    expected = case["expect"]["skip"]
    records, error, report = fault_cases.drain(iter(fault_cases.dataset(case, place, on_corrupt="skip")))
    assert error is None
    assert fault_cases.ids(records) in (expected["ids"], expected.get("or_ids"))
    assert report.skipped == 1
    (region,) = report.skipped_regions
    assert any(region.path == str(place / file) for file in case["files"])


@pytest.mark.parametrize("name", having("expect", "crc_check_off"))
def test_checksums_off(ready, name):
    case, place = ready(name)
    records, error, _ = fault_cases.drain(iter(fault_cases.dataset(case, place, verify="off")))
    assert error is None and len(records) == case["expect"]["crc_check_off"]["records"]


@pytest.mark.parametrize("name", having("expect", "auto"))
def test_compression_found_by_content(ready, name):
    case, place = ready(name)
    records, error, _ = fault_cases.drain(iter(fault_cases.dataset(case, place, compression="auto")))
    check_records(records, error, case["expect"]["auto"], case)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name, variant", VARIANTS, ids=[f"{name}-{i}" for name, i in VARIANTS])
def test_specs(ready, name, variant, threads):
    case, place = ready(name)
    entry = case["expect"]["variants"][variant]
    size = case.get("batch", 100)
    source = fault_cases.dataset(case, place, num_threads=threads)
    batches, error, _ = fault_cases.drain(iter(source.batch(size).parse(fault_cases.features(entry["spec"]))))
    expected = entry["expect"]
    if "error" in expected:
        check_error(error, expected["error"], name)
        place_of_record = fault_cases.header_offsets(place / case["files"][0])[error.record]
        assert (error.path, error.offset) == (str(place / case["files"][0]), place_of_record)
        assert isinstance(error, hr.SchemaError) and error.row == error.record
        assert sum(batch.global_rows for batch in batches) == expected["error"]["record_index"]
        return
    assert error is None
    (batch,) = batches
    for column, values in expected.get("dense", {}).items():
        assert fault_cases.plain(batch[column]) == values
    for column, values in expected.get("dense_bits", {}).items():
        assert fault_cases.bits(batch[column]) == values
    for column, shape in expected.get("dense_shape", {}).items():
        assert list(batch[column].shape) == shape
    for column, ragged in expected.get("ragged", {}).items():
        assert fault_cases.plain(batch[column].values) == ragged["values"]
        assert fault_cases.plain(batch[column].row_splits) == ragged["row_splits"]


@pytest.mark.parametrize("name", having("limits"))
def test_time_and_memory_of_the_hard_ones(tmp_path, name):
    """In a process of its own; the limit of the time is the hang, not the speed."""
    folder, case = CASES[name]
    done = subprocess.run(
        [sys.executable, fault_cases.__file__, folder, name, tmp_path],
        capture_output=True,
        text=True,
        timeout=60 + case["limits"]["max_seconds"],
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["peak_mb"] < case["limits"]["max_rss_mb"] and found["seconds"] < case["limits"]["max_seconds"]


@pytest.mark.skipif("L26" not in CASES, reason=f"no {WHOLE}")
def test_more_shards_than_file_handles(tmp_path):
    folder, case = CASES["L26"]

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    done = subprocess.run(
        [sys.executable, fault_cases.__file__, folder, "L26", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=limit,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ids"] == case["expect"]["strict"]["ids"]


def test_a_stated_number_of_records_finds_a_clean_cut(ready):
    """F11: a file cut between two records looks whole; only who states the number can know."""
    case, place = ready("F11")
    records, error, _ = fault_cases.drain(iter(fault_cases.dataset(case, place).assert_cardinality(20)))
    assert len(records) == 15 and isinstance(error, hr.Error) and "20" in str(error) and "15" in str(error)
