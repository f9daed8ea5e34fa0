"""Partners from sketches, against counting who fires together."""

import numpy as np

from ffnviz.analysis.neurons.partners import SAMPLED, SHOWN, M, mixed, partners, signs


def test_signs_are_fair_and_those_of_different_tokens_have_nothing_in_common() -> None:
    places = np.arange(40_000, dtype=np.uint64)
    looked_at, drawn = signs(places)
    assert abs(looked_at.mean() - 1 / SAMPLED) < 0.01
    assert set(np.unique(drawn)) == {-1, 1}
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(len(drawn))
    some = drawn[:400].astype(float)
    between = some @ some.T / M
    np.testing.assert_array_equal(np.diag(between), 1)
    assert np.abs(between[~np.eye(400, dtype=bool)]).max() < 6 / np.sqrt(M)
    again, same = signs(places[7_000:7_400])
    np.testing.assert_array_equal(again, looked_at[7_000:7_400])
    start = int(looked_at[:7_000].sum())
    np.testing.assert_array_equal(same, drawn[start : start + len(same)])


def test_splitmix_is_the_published_one() -> None:
    # The first three numbers of java.util.SplittableRandom's generator, seeded with 1234567.
    state = 1234567 + np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert mixed(state).tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423]  # fmt: skip


def test_who_fires_together_is_found_and_strangers_are_not() -> None:
    rng = np.random.default_rng(1)
    places = np.arange(30_000, dtype=np.uint64)
    looked_at, drawn = signs(places)
    fires = rng.random((len(places), 60)) < 0.1
    together = rng.random(len(places)) < 0.1
    for neuron in (3, 4, 5):  # fire together nine times in ten
        fires[:, neuron] = together ^ (rng.random(len(places)) < 0.01)
    counted = fires[looked_at].astype(np.int64)
    who, alike = partners(counted.T @ drawn, counted.sum(axis=0))
    assert who.shape == alike.shape == (SHOWN, 60)
    exact = fires.T.astype(float) @ fires / np.sqrt(np.outer(fires.sum(0), fires.sum(0)))
    for neuron in (3, 4, 5):
        assert set(who[:2, neuron]) == {3, 4, 5} - {neuron}
        for partner, cosine in zip(who[:2, neuron], alike[:2, neuron], strict=True):
            assert abs(cosine - exact[neuron, partner]) < 4 / np.sqrt(M)
    strangers = [neuron for neuron in range(60) if neuron not in (3, 4, 5)]
    wrong = sum(who[0, neuron] >= 0 and exact[neuron, who[0, neuron]] < 0.02
                for neuron in strangers)  # fmt: skip
    assert wrong <= 6, "strangers share 0.1 by chance alone"
