"""Random pipelines under a memory limit; `python tests/python/budget_pipelines.py 1000` runs more of them."""

import subprocess
import sys
from pathlib import Path

import headrace as hr
import pytest

from number_shards import write_shard


def test_random_pipelines_stay_below_their_limit():
    runner = Path(__file__).parent / "budget_pipelines.py"
    done = subprocess.run([sys.executable, runner, "12"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_shuffle_that_does_not_fit_is_refused_before_it_is_filled(tmp_path):
    path = write_shard(tmp_path / "shard.gz", (bytes(100_000) for _ in range(1000)), compression="gzip")
    records = hr.TFRecordDataset(path, memory_bytes=4 << 20, max_record_bytes=1 << 20).shuffle(900).batch(4)
    pipeline = iter(records)
    with pytest.raises(hr.BudgetError, match=r"memory_bytes=4194304 is too small .* need \d{9}") as caught:
        next(pipeline)
    assert pipeline.report().record_bytes < 32 << 20
    needed = int(str(caught.value).rsplit(" ", 1)[1])
    assert 900 * 100_000 < needed < 2 * 900 * 100_000
    enough = hr.TFRecordDataset(path, memory_bytes=needed, max_record_bytes=1 << 20).shuffle(900).batch(4)
    assert sum(len(batch) for batch in enough) == 1000


@pytest.mark.parametrize("compression", [None, "gzip", "zlib", "zstd", "snappy"])
def test_max_record_bytes_holds_for_every_format(tmp_path, compression):
    path = write_shard(tmp_path / "shard", [b"1" * 10, b"2" * 1000, b"3" * 1001], compression=compression)
    for read in (
        lambda: list(hr.TFRecordDataset(path, max_record_bytes=1000)),
        lambda: list(hr.open_records(path, max_record_bytes=1000)),
    ):
        with pytest.raises(hr.BudgetError, match="a record of 1001 bytes is over max_record_bytes = 1000"):
            read()
    assert len(list(hr.TFRecordDataset(path, max_record_bytes=1001))) == 3
    (check,) = hr.verify_files([path], max_record_bytes=1000)
    assert "max_record_bytes = 1000" in str(check.error)
