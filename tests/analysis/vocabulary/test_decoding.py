"""Temperature, top-k, top-p and picking: against PyTorch in float64 and by hand."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from ffnviz.analysis.writing import Strategy, distribution, entropy, pick

LOGITS = hnp.arrays(np.float32, st.integers(1, 30), elements=st.floats(-20, 20, width=32))
FOUR = np.log(np.array([0.5, 0.25, 0.15, 0.1]))


@given(logits=LOGITS, temperature=st.floats(0.05, 10))
def test_the_softmax_is_torchs(logits: NDArray[np.float32], temperature: float) -> None:
    found = distribution(logits, Strategy(temperature))
    expected = torch.softmax(torch.tensor(logits).double() / temperature, dim=0).numpy()
    np.testing.assert_allclose(found.softmax, expected, rtol=1e-9, atol=1e-15)
    assert found.softmax.sum() == pytest.approx(1)


@given(logits=LOGITS, k=st.integers(0, 40), p=st.floats(0.01, 1), temperature=st.floats(0.1, 5))
def test_the_cut_keeps_the_likeliest_and_sums_to_one(
    logits: NDArray[np.float32], k: int, p: float, temperature: float
) -> None:
    found = distribution(logits, Strategy(temperature, k, p))
    kept = set(found.order[: found.n_kept].tolist())
    assert found.cut.sum() == pytest.approx(1)
    assert set(np.flatnonzero(found.cut).tolist()) <= kept
    assert 1 <= found.n_kept <= min(k or len(logits), len(logits))
    least_kept = min(found.softmax[list(kept)])
    assert all(found.softmax[i] <= least_kept for i in range(len(logits)) if i not in kept)
    np.testing.assert_allclose(found.cut * found.kept_share, np.where(
        np.isin(np.arange(len(logits)), list(kept)), found.softmax, 0), atol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    ("p", "n"), [(0.05, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.8, 3), (0.9, 3), (0.91, 4), (1, 4)]
)
def test_top_p_keeps_the_fewest_that_reach_p(p: float, n: int) -> None:
    # Of 0.5, 0.25, 0.15, 0.1; a hair below p, so that rounding does not decide.
    assert distribution(FOUR, Strategy(top_p=p - 1e-9 if p < 1 else p)).n_kept == n


def test_top_p_counts_among_what_top_k_left() -> None:
    # Two thirds and one third are left of 0.5 and 0.25.
    assert distribution(FOUR, Strategy(top_k=2, top_p=0.6)).n_kept == 1
    assert distribution(FOUR, Strategy(top_k=2, top_p=0.7)).n_kept == 2


def test_the_entropy_of_equals_is_their_number_in_bits() -> None:
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(3)
    assert entropy(np.array([1.0, 0.0])) == 0
    assert entropy(np.array([0.5, 0.25, 0.25])) == pytest.approx(1.5)


def test_what_may_never_be_chosen_has_no_probability() -> None:
    found = distribution(FOUR, Strategy(), np.array([True, False, False, False]))
    assert found.softmax[0] == 0
    assert found.order[0] == 1
    assert found.softmax[1] == pytest.approx(0.5)


def test_the_same_seed_and_step_pick_the_same_and_others_differ() -> None:
    told = distribution(np.zeros(1_000), Strategy())
    picks = [pick(told, Strategy(sample=True, seed=3), step) for step in range(20)]
    assert picks == [pick(told, Strategy(sample=True, seed=3), step) for step in range(20)]
    assert len(set(picks)) > 15
    assert picks != [pick(told, Strategy(sample=True, seed=4), step) for step in range(20)]


def test_picks_by_chance_have_the_probabilities_of_the_cut() -> None:
    told = distribution(FOUR, Strategy(top_k=3))
    n = 4_000
    counts = Counter(pick(told, Strategy(sample=True, seed=seed)) for seed in range(n))
    assert set(counts) == {0, 1, 2}
    for entry in range(3):
        spread = np.sqrt(told.cut[entry] * (1 - told.cut[entry]) / n)
        assert counts[entry] / n == pytest.approx(told.cut[entry], abs=4 * spread)


def test_picking_leaves_the_common_chance_alone() -> None:
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    state = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    pick(distribution(FOUR, Strategy()), Strategy(sample=True))
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize(
    "wrong", [{"temperature": 0}, {"temperature": -1}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.1}]
)
def test_an_impossible_strategy_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"temperature|top_"):
        Strategy(**wrong)  # type: ignore[arg-type]
