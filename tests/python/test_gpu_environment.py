"""What a TensorFlow program on several GPUs should find in its environment."""

import os
import subprocess
import sys

import headrace as hr
import pytest

from headrace.gpu_environment import unwanted_environment
from headrace.settings import available_cpus
from number_shards import ROOT

pytest.importorskip("click")


def headrace(*arguments, **changes):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TF_CPP_MIN_LOG_LEVEL": "3", **changes}
    return subprocess.run([sys.executable, "-m", "headrace", *arguments], capture_output=True, text=True, timeout=120, env=environment)


def test_threads_that_launch_kernels_are_few_where_cpus_are():
    cpus = available_cpus()
    few, many = ({name: value for name, value, _ in hr.recommended_environment(gpus)} for gpus in (cpus, max(1, cpus // 4)))
    assert few["TF_GPU_THREAD_MODE"] == many["TF_GPU_THREAD_MODE"] == "gpu_private"
    assert few["TF_GPU_THREAD_COUNT"] == "1" and many["TF_GPU_THREAD_COUNT"] == ("2" if cpus >= 4 else "1")
    with pytest.raises(ValueError, match="gpus=0"):
        hr.recommended_environment(0)


def test_what_does_nothing_or_harms_is_named():
    found = unwanted_environment({"TF_NCCL_USE_STREAM_MEMCPY": "1", "NCCL_P2P_DISABLE": "0", "CUDA_LAUNCH_BLOCKING": "1", "HOME": "/"})
    assert [name for name, _, _ in found] == ["TF_NCCL_USE_STREAM_MEMCPY", "CUDA_LAUNCH_BLOCKING"]
    assert all(value is None and reason for _, value, reason in found)


def test_the_command_prints_what_a_shell_can_run():
    done = headrace("env", "--gpus", "4", TF_NCCL_USE_STREAM_MEMCPY="1")
    assert done.returncode == 0 and "unset TF_NCCL_USE_STREAM_MEMCPY" in done.stderr
    shell = subprocess.run(["sh", "-c", done.stdout + "echo $TF_GPU_THREAD_MODE $NCCL_DEBUG"], capture_output=True, text=True, timeout=60)
    assert shell.stdout == "gpu_private WARN\n" and shell.stderr == ""


def test_check_tells_the_route():
    pytest.importorskip("tensorflow")
    best = headrace("check", "tensorflow", HEADRACE_TF_ROUTE="auto")
    assert best.returncode == 0 and "route 'direct'" in best.stdout, best.stderr
    other = headrace("check", "tensorflow", HEADRACE_TF_ROUTE="dataset")
    assert other.returncode == 1 and "route 'dataset', because HEADRACE_TF_ROUTE" in other.stdout


def test_check_without_the_framework(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('none here')")
    missing = headrace("check", "tensorflow", PYTHONPATH=f"{tmp_path}:{ROOT / 'python'}")
    assert missing.returncode == 2 and "none here" in missing.stderr
