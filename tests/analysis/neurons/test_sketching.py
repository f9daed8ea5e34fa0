"""Sketches of rows that come in pieces, with signs packed and plain, against exact sums."""

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons import sketching
from ffnviz.analysis.neurons.partners import MOST, M
from ffnviz.analysis.neurons.sketching import WAITING, Signs, Sketching

CPU = torch.device("cpu")


@pytest.fixture(params=["packed", "plain"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How a processor multiplies signs: with fast bfloat16 as they are."""
    fast = request.param == "plain"
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": fast})


def sketched(fires: np.ndarray, signs: np.ndarray, pieces: list[int]) -> np.ndarray:
    made, done = Sketching(fires.shape[1], CPU), 0
    for size in pieces:
        rows = slice(done, done + size)
        made.add(torch.from_numpy(fires[rows]).float(), Signs(torch.from_numpy(signs[rows])))
        done += size
    assert done == len(fires)
    return made.total().numpy()


@pytest.mark.parametrize("exact", [sketching.EXACT, 1])
def test_any_pieces_give_the_exact_sums(exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketching, "EXACT", exact)
    rng = np.random.default_rng(4)
    for pieces in ([1], [WAITING], [3, 0, 700, 1, WAITING - 4, 90]):
        n = sum(pieces)
        fires, signs = rng.random((n, 19)) < 0.4, rng.choice(np.array([-1, 1], np.int8), (n, M))
        exactly = fires.T.astype(np.int64) @ signs.astype(np.int64)
        np.testing.assert_array_equal(sketched(fires, signs, pieces), exactly)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_largest_sums_there_can_be_are_exact(sign: int) -> None:
    """All fire and all signs are alike: of packed ones every bit is set."""
    n = 3 * WAITING
    signs = np.full((n, M), sign, np.int8)
    found = sketched(np.ones((n, 2), dtype=bool), signs, [n])
    assert (found == sign * n).all()


def test_of_too_many_neurons_there_is_none() -> None:
    fires = np.ones((2, MOST + 1), dtype=bool)
    assert sketched(fires, np.ones((2, M), np.int8), [2]).shape == (0, M)
