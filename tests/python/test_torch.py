"""The PyTorch adapter (where PyTorch is installed)."""

import json
import subprocess
import sys

import headrace as hr
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from column_kinds import KINDS, ROWS, pipeline, table, value  # noqa: E402
from number_shards import NUMBERS, write_shard  # noqa: E402


def dataset(files):
    return hr.TFRecordDataset(files).shuffle(20, seed=1).batch(20).parse(NUMBERS)


def test_tensors_share_memory(numbers):
    for batch in hr.torch.DataLoader(dataset(numbers)):
        assert batch["id"].dtype == torch.int64 and batch["x"].shape == (20, 3)
        np.testing.assert_array_equal(batch["x"][:, 0].numpy(), batch["id"].numpy())


def test_no_column_is_copied(numbers):
    features = {**NUMBERS, "v": hr.VarLenFeature(hr.int64), "name": hr.FixedLenFeature([], hr.string, "")}
    kept = []
    for batch in hr.TFRecordDataset(numbers).batch(20).parse(features):
        tensor = hr.torch.to_torch(batch["x"])
        assert tensor.data_ptr() == batch["x"].numpy().ctypes.data
        tensor[0, 0] = -1.0
        assert batch["x"].numpy()[0, 0] == -1.0
        ragged = hr.torch.to_torch(batch["v"])
        assert ragged.values.shape == (0,) and ragged.row_splits.tolist() == [0] * 21
        assert isinstance(hr.torch.to_torch(batch["name"]), hr.BytesColumn)
        kept.append(tensor)
    del batch
    assert [tensor[19, 0].item() for tensor in kept] == [19, 39, 59, 79, 99]  # the memory stays with the tensors


def test_a_profile_shows_each_batch_as_torchs_own_loader_would(numbers):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        assert sum(1 for _ in hr.torch.DataLoader(dataset(numbers))) == 5
    [event] = [event for event in profile.key_averages() if event.key.startswith("enumerate(DataLoader)#headrace")]
    assert event.count == 6  # the last one finds the end


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32"]
    + ["float64", "complex64", "complex128"],
)
def test_every_dtype_of_numbers(tmp_path, dtype):
    bits = np.ones(3, np.uint16) * 0x4040  # 3.0 in bfloat16
    values = None if dtype == "bfloat16" else np.ones(3, dtype)
    raw = bits.tobytes() if values is None else values.tobytes()
    files = write_shard(tmp_path / "a.tfrecord", [hr.make_example({"v": raw})])
    spec = hr.RawFeature([3], hr.bool_ if dtype == "bool" else getattr(hr, dtype))
    (batch,) = hr.torch.DataLoader(hr.TFRecordDataset(files).batch(1).parse({"v": spec}))
    assert batch["v"].dtype == getattr(torch, dtype) and batch["v"].shape == (1, 3)
    assert batch["v"].tolist() == [[3.0] * 3 if values is None else values.tolist()]


RANK = """
import json, sys
import headrace as hr, torch
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(sys.argv[2]), world_size=2)
features = {"id": hr.FixedLenFeature([], hr.int64), "x": hr.FixedLenFeature([3], hr.float32)}
loader = hr.torch.DataLoader(hr.TFRecordDataset(sys.argv[3:]).shuffle(20, seed=1).batch(20).parse(features), ("x", "id"))
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
for x, label in loader:
    torch.nn.functional.mse_loss(model(x / 100).squeeze(1), label / 100).backward()
print(json.dumps([len(loader), loader.rank, [p.grad.flatten().tolist() for p in model.parameters()]]))
torch.distributed.destroy_process_group()
"""


def test_two_ranks_of_a_process_group(numbers, tmp_path):
    """Gradients of DDP over two ranks are those of one process with the whole batch."""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, tmp_path / "group", str(rank), *numbers], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120)[0] for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0]
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    for batch in hr.torch.DataLoader(dataset(numbers)):
        torch.nn.functional.mse_loss(model(batch["x"] / 100).squeeze(1), batch["id"] / 100).backward()
    for rank, (batches, its_rank, gradients) in enumerate(map(json.loads, said)):
        assert (batches, its_rank) == (5, rank)
        for ours, parameter in zip(gradients, model.parameters(), strict=True):
            np.testing.assert_allclose(ours, parameter.grad.flatten().numpy(), rtol=1e-5)


def test_structure_and_weights(numbers):
    loader = hr.torch.DataLoader(dataset(numbers), structure=("x", "id", hr.weight("id", {3: 2.0})))
    seen = 0
    for x, label, sample_weight in loader:
        assert sample_weight.dtype == torch.float32 and x.shape == (20, 3)
        assert torch.equal(sample_weight == 2, label == 3)
        seen += len(label)
    assert seen == 100


def test_inside_torchs_own_loader(numbers):
    loader = torch.utils.data.DataLoader(hr.torch.DataLoader(dataset(numbers)), batch_size=None)
    assert sorted(int(i) for batch in loader for i in batch["id"]) == list(range(100))
    with pytest.raises(RuntimeError, match="num_workers=0"):
        list(torch.utils.data.DataLoader(hr.torch.DataLoader(dataset(numbers)), batch_size=None, num_workers=1))


def test_ranks_share_the_global_batch(numbers):
    whole = [batch["id"].tolist() for batch in hr.torch.DataLoader(dataset(numbers))]
    ranks = [
        [batch["id"].tolist() for batch in hr.torch.DataLoader(dataset(numbers), rank=rank, world_size=2)]
        for rank in range(2)
    ]
    assert [a + b for a, b in zip(*ranks)] == whole


def test_each_rank_may_name_its_own_place(numbers):
    batches = hr.TFRecordDataset(numbers).batch(24).parse(NUMBERS)
    devices = ["/CPU:0", "/CPU:1"]
    ranks = []
    for rank in range(2):
        mine = batches.prefetch_to_device(devices, local=range(rank, rank + 1))
        ranks.append([batch["id"].tolist() for batch in hr.torch.DataLoader(mine, rank=rank, world_size=2)])
    assert [a + b for a, b in zip(*ranks)] == [batch["id"].numpy().tolist() for batch in batches]
    with pytest.raises(ValueError, match=r"rank 0 of 2 .* 1 from 1 on of 2: .*range\(0, 1\)"):
        hr.torch.DataLoader(mine, rank=0, world_size=2)
    with pytest.raises(ValueError, match="1 from 1 on of 3"):
        hr.torch.DataLoader(batches.prefetch_to_device([*devices, "/CPU:2"], local=range(1, 2)), rank=1, world_size=2)


def test_a_resident_stream_ends_without_a_position(numbers):
    loader = hr.torch.DataLoader(hr.TFRecordDataset(numbers).batch(20).parse(NUMBERS).resident(1, count=3))
    assert [len(list(loader)) for _ in range(2)] == [3, 3]
    assert loader.state_dict() == {}


def test_resume(numbers):
    loader = hr.torch.DataLoader(dataset(numbers))
    batches = iter(loader)
    next(batches), next(batches)
    state = loader.state_dict()
    rest = [batch["id"].tolist() for batch in batches]
    again = hr.torch.DataLoader(dataset(numbers))
    again.load_state_dict(state)
    assert [batch["id"].tolist() for batch in again] == rest


def test_the_state_behind_an_epoch_is_the_start_of_the_next(numbers):
    def read(loader):
        return [batch["id"].tolist() for batch in loader]

    loader = hr.torch.DataLoader(dataset(numbers))
    assert loader.state_dict() == {}
    first, second = read(loader), None
    state = loader.state_dict()
    assert (state["epoch"], state["batches"]) == (1, 0)
    second = read(loader)
    again = hr.torch.DataLoader(dataset(numbers))
    again.load_state_dict(state)
    assert again.state_dict() == state
    assert read(again) == second != first
    again.load_state_dict({})
    assert len(read(again)) == len(first)


@pytest.mark.parametrize("arguments", [{"rank": 0}, {"rank": 2, "world_size": 2}, {"rank": -1, "world_size": 1}])
def test_ranks_that_are_refused(numbers, arguments):
    with pytest.raises(ValueError, match="rank"):
        hr.torch.DataLoader(dataset(numbers), **arguments)


def test_shares_and_ranks_must_agree(numbers):
    with pytest.raises(ValueError, match="4 shares.*1 rank"):
        hr.torch.DataLoader(dataset(numbers).prefetch_to_device([f"/CPU:{i}" for i in range(4)]))
    with pytest.raises(ValueError, match="several ranks takes batches from host memory, not from /GPU:0"):
        hr.torch.DataLoader(dataset(numbers).prefetch_to_device(["cuda:0", "cuda:1"]), rank=1, world_size=2)
    with pytest.raises(ValueError, match="parse"):
        hr.torch.DataLoader(hr.TFRecordDataset(numbers))


def rows_of(x):
    """A column as torch has it, as a list of what each row holds."""
    if isinstance(x, hr.BytesColumn):
        return list(x)
    if isinstance(x, hr.torch.RaggedTensor):
        bounds = x.row_splits.tolist()
        return [x.values[begin:end].tolist() for begin, end in zip(bounds, bounds[1:])]
    if x.is_sparse:
        return [row[row != 0].tolist() for row in x.to_dense()]
    return x.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column(kind, tmp_path):
    """The column "torch" of docs/guides/columns.md, on four ranks."""
    assert table()[kind, "torch"] == "yes"
    ranks = [hr.torch.DataLoader(pipeline(kind, tmp_path), ("x", "label"), rank=rank, world_size=4) for rank in range(4)]
    shares = [[(rows_of(x), label.tolist()) for x, label in rank] for rank in ranks]
    found = [row for step in zip(*shares) for x, _ in step for row in x]
    wanted = [value(kind, row) for row in range(len(found))]
    if kind == "sparse":  # its values that are 0 look like none
        wanted = [[number for number in row if number] for row in wanted]
    assert found == wanted and len(found) == (ROWS - 6 if kind == "uneven slices" else ROWS)
    assert [row for step in zip(*shares) for _, labels in step for row in labels] == [row % 3 for row in range(len(found))]
    if kind == "uneven slices":
        assert [[len(x) for x, _ in share] for share in shares] == [[11], [11], [10], [10]]
