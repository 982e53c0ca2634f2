"""Where the system itself has no memory left: a BudgetError with a text, in whatever thread, never the end of the process."""

import pytest

# Reads a file of large records, once everything is imported and the limit stands; says what came out.
READ = """
import resource, sys
import headrace as hr

path, room, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + room, resource.RLIM_INFINITY))
features = {"k": hr.VarLenFeature(hr.int64)}
try:
    if way == "records":
        count = sum(1 for _ in hr.TFRecordDataset(path, num_threads=3))
    elif way == "pipeline":
        count = sum(batch.global_rows for batch in hr.TFRecordDataset(path, num_threads=3).shuffle(8).batch(4).parse(features))
    else:
        records = [bytes([0x0A, 0x09, 0x0A, 0x07, 0x0A, 0x01, 0x6B, 0x12, 0x02, 0x1A, 0x00])] * 300_000
        count = len(hr.parse_example(records, features, num_threads=3)["k"])
    print("read", count)
except MemoryError as error:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("refused:", error if isinstance(error, hr.BudgetError) else "Python has no memory")
"""
RECORDS, MEBIBYTE = 16, 2**20


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    import headrace as hr
    import numpy as np

    path = tmp_path_factory.mktemp("large") / "shard"
    with hr.TFRecordWriter(path) as writer:
        for _ in range(RECORDS):
            writer.write(hr.make_example({"k": np.arange(2**20)}))
    return path


@pytest.mark.parametrize("way, needed", [("records", 2000), ("pipeline", 2000), ("parse_example", 900)])
def test_the_process_goes_on(script, large, way, needed):
    refused = read = 0
    for room in (4, 9, 17, 40, 90, needed):
        done = script(READ, large, room * MEBIBYTE, way, check=False)
        assert done.returncode == 0, (room, done.returncode, done.stderr[-500:])
        if done.stdout.startswith("refused: "):
            refused += 1
            assert "memory" in done.stdout or "thread" in done.stdout, done.stdout
        else:
            read += 1
            assert done.stdout == f"read {300_000 if way == 'parse_example' else RECORDS}\n"
    assert refused and read
