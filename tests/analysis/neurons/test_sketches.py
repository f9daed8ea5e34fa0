"""Sketches of many batches against all products at once, and what they say against counting.

What a sketch promises (Alon, Matias & Szegedy 1996): the cosine that it estimates has the mean of
the true one, c, and a standard error of √((1 + c²)/M) at most, whatever the neurons do.
"""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from ffnviz.analysis.neurons import partners


def test_signs_are_fair_and_those_of_different_tokens_have_nothing_in_common() -> None:
    places = np.arange(40_000, dtype=np.uint64)
    looked_at, drawn = partners.signs(places)
    assert abs(looked_at.mean() - 1 / partners.SAMPLED) < 0.01
    assert set(np.unique(drawn)) == {-1, 1}
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(len(drawn))
    some = drawn[:400].astype(float)
    between = some @ some.T / partners.M
    np.testing.assert_array_equal(np.diag(between), 1)
    assert np.abs(between[~np.eye(400, dtype=bool)]).max() < 6 / np.sqrt(partners.M)
    again, same = partners.signs(places[7_000:7_400])
    np.testing.assert_array_equal(again, looked_at[7_000:7_400])
    start = int(looked_at[:7_000].sum())
    np.testing.assert_array_equal(same, drawn[start : start + len(same)])


def test_splitmix_is_the_published_one() -> None:
    # The first three numbers of java.util.SplittableRandom's generator, seeded with 1234567.
    state = 1234567 + np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert partners.mixed(state).tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423]  # fmt: skip


CPU = torch.device("cpu")
D_FF = 12


@pytest.fixture(params=[False, True], ids=["packed", "plain"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the processor multiplies bfloat16 so fast that signs are taken as they are."""
    monkeypatch.setattr(
        torch.cpu, "get_capabilities", lambda: {"amx_bf16": request.param}, raising=False
    )


def tokens(n: int, seed: int = 0) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Whether each of D_FF neurons fires on n tokens that are looked at, and the tokens' signs."""
    rng = np.random.default_rng(seed)
    places = np.arange(8 * n, dtype=np.uint64) + np.uint64(10**6 * seed)
    drawn = partners.signs(places)[1][:n]
    assert len(drawn) == n
    fires = rng.random((n, D_FF)) < np.linspace(0.02, 0.9, D_FF)
    fires[:, 1] = fires[:, 0]  # always together
    fires[:, 3] = fires[:, 2] ^ (rng.random(n) < 0.05)  # mostly
    fires[:, 5] = ~fires[:, 4]  # never
    fires[:, 6] = False
    return fires, drawn


def sketched(
    fires: NDArray[np.bool_], drawn: NDArray[np.int8], ends: list[int]
) -> NDArray[np.int64]:
    """In batches that end there."""
    made = partners.Sketching(fires.shape[1], CPU)
    for start, end in zip([0, *ends], [*ends, len(fires)], strict=True):
        made.add(
            torch.from_numpy(fires[start:end]), partners.Signs(torch.from_numpy(drawn[start:end]))
        )
    total: NDArray[np.int64] = made.total().numpy()
    return total


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    some.sampled_from(
        [1, partners.WAITING - 1, partners.WAITING, partners.WAITING + 1, 3 * partners.WAITING + 7]
    ),
    some.lists(some.integers(0, 3 * partners.WAITING + 7), max_size=6),
)
def test_however_tokens_come_the_sketch_is_the_exact_product(n: int, ends: list[int]) -> None:
    fires, drawn = tokens(n)
    exact = fires.T.astype(np.int64) @ drawn.astype(np.int64)
    ends = sorted(min(end, n) for end in ends)  # some batches are empty
    np.testing.assert_array_equal(sketched(fires, drawn, ends), exact)


def test_looking_in_between_changes_nothing() -> None:
    fires, drawn = tokens(2 * partners.WAITING)
    made = partners.Sketching(D_FF, CPU)
    for start in range(0, len(fires), 50):
        rows = slice(start, start + 50)
        made.add(torch.from_numpy(fires[rows]), partners.Signs(torch.from_numpy(drawn[rows])))
        so_far = fires[: rows.stop].T.astype(int) @ drawn[: rows.stop].astype(int)
        np.testing.assert_array_equal(made.total().numpy(), so_far)
        np.testing.assert_array_equal(made.total().numpy(), so_far)


def test_the_largest_sums_are_exact_and_of_too_many_neurons_nothing_is_kept() -> None:
    n = 3 * partners.WAITING + 7
    for sign in (-1, 1):
        found = sketched(np.ones((n, 1), bool), np.full((n, partners.M), sign, np.int8), [])
        assert (found == sign * n).all()
    made = partners.Sketching(partners.MOST + 1, CPU)
    made.add(torch.ones(2, partners.MOST + 1), partners.Signs(torch.ones(2, partners.M)))
    assert made.total().shape == (0, partners.M)


def cosines(fires: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of each pair: on how many tokens both fire, against on how many each does."""
    both = fires.T.astype(float) @ fires
    length = np.sqrt(np.maximum(np.diag(both), 1.0))
    exact: NDArray[np.float64] = both / np.outer(length, length)
    return exact


def test_partners_are_the_neurons_that_counting_finds() -> None:
    fires, drawn = tokens(2_000)
    sketch = sketched(fires, drawn, [512])
    who, alike = partners.partners(sketch, fires.sum(axis=0))
    exact = cosines(fires)
    np.fill_diagonal(exact, 0)
    assert who[0, 0] == 1
    assert alike[0, 0] == pytest.approx(1)  # always together: the same sketch
    assert who[0, 2] == 3
    assert (who[:, 6] == -1).all()  # who never fires has none
    assert 5 not in who[:, 4]  # nor is who never fires together one
    error = np.sqrt(2 / partners.M)
    for neuron in range(D_FF):
        shown = who[:, neuron][who[:, neuron] >= 0]
        for rank, partner in enumerate(shown):
            assert alike[rank, neuron] == pytest.approx(exact[neuron, partner], abs=4 * error)
        sure = np.flatnonzero(exact[neuron] > (partners.SURE + 6) / np.sqrt(partners.M))
        if len(sure) <= partners.SHOWN:
            assert set(sure) <= set(shown)
