"""The PyTorch adapter (where PyTorch is installed)."""

import headrace as hr
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from number_shards import NUMBERS  # noqa: E402


def dataset(files):
    return hr.TFRecordDataset(files).shuffle(20, seed=1).batch(20).parse(NUMBERS)


def test_tensors_share_memory(numbers):
    for batch in hr.torch.DataLoader(dataset(numbers)):
        assert batch["id"].dtype == torch.int64 and batch["x"].shape == (20, 3)
        np.testing.assert_array_equal(batch["x"][:, 0].numpy(), batch["id"].numpy())


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


def test_resume(numbers):
    loader = hr.torch.DataLoader(dataset(numbers))
    batches = iter(loader)
    next(batches), next(batches)
    state = loader.state_dict()
    rest = [batch["id"].tolist() for batch in batches]
    again = hr.torch.DataLoader(dataset(numbers))
    again.load_state_dict(state)
    assert [batch["id"].tolist() for batch in again] == rest


@pytest.mark.parametrize("arguments", [{"rank": 0}, {"rank": 2, "world_size": 2}, {"rank": -1, "world_size": 1}])
def test_ranks_that_are_refused(numbers, arguments):
    with pytest.raises(ValueError, match="rank"):
        hr.torch.DataLoader(dataset(numbers), **arguments)


def test_shares_and_ranks_must_agree(numbers):
    with pytest.raises(ValueError, match="4 shares.*1 rank"):
        hr.torch.DataLoader(dataset(numbers).prefetch_to_device([f"/CPU:{i}" for i in range(4)]))
    with pytest.raises(ValueError, match="parse"):
        hr.torch.DataLoader(hr.TFRecordDataset(numbers))
