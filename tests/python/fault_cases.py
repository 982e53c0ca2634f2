"""The hard cases of tests/fault/cases: what each expects, made ready in a folder, and read by headrace.

A case is an entry of cases.json with files beside it. Run as a program (`fault_cases.py CASES ID FOLDER`) it measures
one case in a process of its own: a line of JSON with the seconds, the peak memory and what was delivered.
"""

import json
import shutil
import stat
import sys
import time
from pathlib import Path

import headrace as hr
import numpy as np

# What an outcome of cases.json is here. A record that does not fit is a SchemaError, a directory an IsADirectoryError.
KINDS = {
    "data_loss": hr.DataLossError,
    "resource_exhausted": hr.BudgetError,
    "invalid_argument": ValueError,
    "failed_precondition": IsADirectoryError,
    "not_found": FileNotFoundError,
    "permission_denied": PermissionError,
}

# What a copy of the files does not carry: links, empty folders, modes.
LINKS = {"L06": {"link.tfrecord": "real/a.tfrecord", "dirlink": "real"}}
FOLDERS = {"L08": ["b.tfrecord"]}
UNREADABLE = {"L10": ["b.tfrecord"]}

DTYPES = {"bytes": hr.string, "bool": hr.bool_}


def load(folder):
    """{id: case} of a folder with a cases.json."""
    return {case["id"]: case for case in json.loads((Path(folder) / "cases.json").read_text())["cases"]}


def prepare(cases, case, folder):
    """A writable copy of the case's files below `folder`, with the links and modes it is about; its path."""
    place = Path(folder) / case["id"]
    shutil.copytree(Path(cases) / case["dir"], place)
    for inner in [place, *place.rglob("*")]:
        inner.chmod(inner.stat().st_mode | stat.S_IRUSR | stat.S_IWUSR)
    for name, target in LINKS.get(case["id"], {}).items():
        (place / name).unlink()
        (place / name).symlink_to(target)
    for name in FOLDERS.get(case["id"], []):
        (place / name).mkdir(exist_ok=True)
    for name in UNREADABLE.get(case["id"], []):
        (place / name).chmod(0)
    return place


def files(case, place):
    """The files argument of TFRecordDataset."""
    how, value = case["input"]["how"], case["input"]["value"]
    if how == "paths":
        return [place / name for name in value]
    if how == "list_file":
        return [place / line for line in hr.list_file(place / value)]
    return place if value == "." else str(place / value)


def dataset(case, place, **options):
    return hr.TFRecordDataset(files(case, place), **{"compression": case["input"]["compression"], **options})


def drain(pipeline):
    """(elements, error or None, report): all elements, and the failure at the end, which must stay the same."""
    elements = []
    try:
        for element in pipeline:
            elements.append(element)
    except hr.Error as error:
        for _ in range(2):
            try:
                next(pipeline)
            except hr.Error as again:
                assert type(again) is type(error) and (str(again) == str(error)), (error, again)
            else:
                raise AssertionError(f"an element after {error}") from error
        return elements, error, None if isinstance(error, OSError) else pipeline.report()
    for _ in range(2):
        assert next(pipeline, None) is None
    return elements, None, pipeline.report()


def ids(records):
    """The feature `id` of each record."""
    if not records:
        return []
    return hr.parse_example(records, {"id": hr.FixedLenFeature([], hr.int64)})["id"].numpy().tolist()


def features(spec):
    """The specs of cases.json as specs of headrace."""
    made = {}
    for name, entry in spec.items():
        dtype = DTYPES[entry["dtype"]] if entry["dtype"] in DTYPES else getattr(hr, entry["dtype"])
        if entry["kind"] == "varlen":
            made[name] = hr.VarLenFeature(dtype)
        elif entry["kind"] == "tensor":
            made[name] = hr.TensorFeature(entry["shape"], dtype)
        else:
            made[name] = hr.FixedLenFeature(entry["shape"], dtype, entry.get("default"))
    return made


def plain(column):
    """A column as nested lists, byte strings as cases.json writes them."""

    def word(item):
        if isinstance(item, list):
            return [word(inner) for inner in item]
        return {"hex": item.hex()} if isinstance(item, bytes) else item

    return word(column.numpy().tolist())


def bits(column):
    """float32 values as hexadecimal words."""
    return [f"{word:08x}" for word in column.numpy().reshape(-1).view(np.uint32).tolist()]


def header_offsets(path):
    """Where each record of an uncompressed file begins."""
    data, offsets, at = Path(path).read_bytes(), [], 0
    while at + 16 <= len(data):
        offsets.append(at)
        at += 16 + int.from_bytes(data[at : at + 8], "little")
    return offsets


def _peak_mb():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main(cases, name, folder):
    case = load(cases)[name]
    place = prepare(cases, case, folder)
    start = time.perf_counter()
    records, error, _ = drain(iter(dataset(case, place)))
    seconds = time.perf_counter() - start
    found = {"records": len(records), "seconds": seconds, "peak_mb": _peak_mb(), "error": str(error)}
    if error is None:
        found["ids"] = ids(records)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
