"""TensorFlow beside headrace: the files of tensorflow_cases/ in processes of their own, as many at a time as there are cores.

TensorFlow's logical devices can be set once a process, before anything else uses it. Each case_*.py, which delivers to
TensorFlow, has a process to itself; all compare_*.py, which parse the same records by both, share one.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

_FOLDER = Path(__file__).parent / "tensorflow_cases"
_JOBS = {"compare": sorted(_FOLDER.glob("compare_*.py"))}
_JOBS |= {path.stem: [path] for path in sorted(_FOLDER.glob("case_*.py"))}


def _run(files):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=200"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "KERAS_BACKEND": "tensorflow"}
    return subprocess.run(
        [*command, *map(str, files)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=480,
    )


@pytest.fixture(scope="module")
def runs(request):
    """By job, the process to come: of the jobs that were selected."""
    selected = [item.callspec.params["job"] for item in request.session.items if item.name.startswith("test_job[")]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield {job: pool.submit(_run, _JOBS[job]) for job in selected}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("job", _JOBS)
def test_job(job, runs):
    run = runs[job].result()
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout, run.stdout


def test_there_are_files():
    assert len(_JOBS["compare"]) >= 9 and len(_JOBS) >= 6
