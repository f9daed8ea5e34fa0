"""Fisher's exact test against exact fractions, Holm's correction against its definition."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.parts.neurons.activations import holm, hypergeometric_tail, tag_counts


def exact(both: int, n_all: int, n_tag: int, n_fired: int) -> float:
    total = sum(
        comb(n_tag, k) * comb(n_all - n_tag, n_fired - k)
        for k in range(both, min(n_tag, n_fired) + 1)
        if n_fired - k <= n_all - n_tag
    )
    return float(Fraction(total, comb(n_all, n_fired)))


@given(st.data())
def test_the_tail_is_the_exact_fraction(data: st.DataObject) -> None:
    n_all = data.draw(st.integers(1, 400))
    n_tag, n_fired = data.draw(st.integers(0, n_all)), data.draw(st.integers(0, n_all))
    both = data.draw(st.integers(max(0, n_tag + n_fired - n_all), min(n_tag, n_fired)))
    found = hypergeometric_tail(both, n_all, n_tag, n_fired)
    assert found == pytest.approx(exact(both, n_all, n_tag, n_fired), rel=1e-8)


def test_fishers_own_example_of_the_lady_and_the_tea() -> None:
    # Eight cups, four with milk first; all four found: 1 in 70.
    assert hypergeometric_tail(4, 8, 4, 4) == pytest.approx(1 / 70)


def test_holm_by_hand() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.5, 0.9])), [1.0, 1.0])


def test_a_neurons_tags_are_counted_and_ordered() -> None:
    index = read_index(INDEXES / "relu.npz", 2_048, 2)
    counts = tag_counts(index, block=1, neuron=0)
    assert [c.p for c in counts] == sorted(c.p for c in counts)
    for c in counts:
        row = index.tags.index(c.tag)
        assert (c.fired, c.n) == (index.blocks[1].by_tag[row, 0], index.with_tag[row])
        others = index.blocks[1].texts[0] - c.fired
        assert c.share_elsewhere == pytest.approx(others / (index.n_texts - c.n))
        assert c.corrected >= c.p


def test_by_chance_alone_hardly_any_family_has_a_false_discovery() -> None:
    """What the correction promises: below 5% of neurons that fire blindly show any tag."""
    rng = np.random.default_rng(1)
    n_texts, n_tags = 400, 30
    tags = rng.random((n_texts, n_tags)) < 0.08
    false = 0
    for _ in range(300):
        fired = rng.random(n_texts) < 0.2
        p = [hypergeometric_tail(int((tags[:, t] & fired).sum()), n_texts, int(tags[:, t].sum()),
                                 int(fired.sum())) for t in range(n_tags)]  # fmt: skip
        false += bool((holm(np.array(p)) < 0.05).any())
    assert false <= 25
