"""How much fits: against NumPy's least squares, and exact up to the rank."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.neurons import capacity as module
from ffnviz.parts.neurons.capacity import capacity, stored
from tests.analysis.networks import ours

COUNTS = [1, 5, 16, 17, 24, 32, 33, 48, 100]


@pytest.mark.parametrize("rank", [32, 20])
def test_what_is_stored_is_what_least_squares_gives_and_exact_up_to_the_rank(rank: int) -> None:
    generator = torch.Generator().manual_seed(1)

    def draw(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator, dtype=torch.float64)

    hidden, y = draw(100, rank) @ draw(rank, 32), F.normalize(draw(100, 16), dim=-1)
    *so_far, found = stored(hidden, y, COUNTS)
    assert found.rank == rank
    for n_done, part in enumerate(so_far, start=1):
        assert part.rank is None
        np.testing.assert_array_equal(part.off, found.off[:n_done])
    for n, off, recall in zip(COUNTS, found.off, found.recall, strict=True):
        rows, wanted = hidden[:n].numpy(), y[:n].numpy()
        made = rows @ np.linalg.lstsq(rows, wanted, rcond=1e-10)[0]
        expected = np.linalg.norm(made - wanted) / np.linalg.norm(wanted)
        assert off == pytest.approx(expected, abs=1e-3)
        right = (made @ y.numpy().T).argmax(axis=1) == np.arange(n)
        assert recall == pytest.approx(right.mean(), abs=0.02)
        if n <= rank:
            assert off < 1e-3
            assert recall == 1
    assert found.exact_up_to(np.array(COUNTS)) == max(n for n in COUNTS if n <= rank)


def test_phi_lets_more_fit_than_there_are_inputs_dimensions(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COUNTS", (4, 8, 12, 16, 17, 20, 24, 28, 32, 40, 64))
    told: list[float] = []
    *so_far, found = capacity(ours(tokenizer, activation="gelu"), 0, told.append)
    assert [len(part.counts) for part in so_far] == list(range(1, len(found.counts)))
    # The inputs of 16 dimensions leave a LayerNorm, which takes one; a bias gives one.
    assert found.without.rank == 16
    assert found.without.exact_up_to(found.counts) == 16
    assert found.with_phi.rank == 32
    assert found.with_phi.exact_up_to(found.counts) == 32
    assert told[-1] == pytest.approx(1)


def test_what_is_nearly_singular_is_solved_without_squaring_its_condition() -> None:
    generator = torch.Generator().manual_seed(2)
    drawn = torch.randn(32, 32, generator=generator, dtype=torch.float64)
    left, _, right = torch.linalg.svd(drawn)
    hidden = left @ torch.diag(torch.logspace(0, -9, 32, dtype=torch.float64)) @ right
    (found,) = stored(hidden, F.normalize(drawn, dim=-1), [32])
    assert found.off[0] < 1e-5, "in float64 a condition number of 1e9 leaves seven digits"
    assert found.recall[0] == 1
