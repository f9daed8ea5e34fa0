"""Maps and bars: what the browser gets of them, however wide, and which clicks are ours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from ffnviz.pictures.activation_map import ActivationMap, maps_cell, scale_end
from ffnviz.pictures.bars import contributions_to
from ffnviz.pictures.block_picture import pooled
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.payload import pack

DRAWN = np.random.default_rng(0).normal(size=(9, 400)).astype(np.float32)


def test_a_scale_reaches_to_the_largest_value_unless_it_towers_over_all_others() -> None:
    assert scale_end([DRAWN, -9 * DRAWN]) == pytest.approx(9 * np.abs(DRAWN).max())
    huge = DRAWN.copy()
    huge[0, :5] = (900, -400, 300, 200, 100)
    assert scale_end([huge]) == pytest.approx(np.quantile(np.abs(DRAWN[1:]), 0.995))
    sparse = np.zeros((4, 1_000), dtype=np.float32)
    sparse[:, :20] = 3
    sparse[2, 5] = 5
    assert scale_end([sparse]) == 5, "few are awake, none towers over the others"
    assert scale_end([np.zeros((1, 4)), np.ones((1, 1))]) == 1, "maps of other widths"


VALUES = st.sampled_from([0.0, 0.5, 1.0, 2.0, -3.0, 4.0, 4.5, 20.0, 90.0])


@given(arrays(np.float32, array_shapes(min_dims=1, max_dims=2, max_side=60), elements=VALUES))
def test_it_is_the_quantile_of_the_others_that_decides(values: NDArray[np.float32]) -> None:
    sizes = np.abs(values)
    others = sizes
    if values.ndim > 1 and len(values) > 1:
        others = np.delete(sizes, sizes.max(axis=1).argmax(), axis=0)
    usual = np.quantile(others[others > 0], 0.995) if others.any() else sizes.max()
    assert scale_end([values]) == (usual if sizes.max() > 4 * usual else sizes.max())


def sent(shown: list[ActivationMap], neuron: int) -> Cell:
    return maps_cell(
        Head("x", "maps", "relu"), shown, (shown[0].name, neuron), ("index",), "index", "k",
        on_choose=lambda *_: None, on_order=lambda _: None, on_open=lambda *_: None,
    )  # fmt: skip


def a_map(n_tokens: int, d_ff: int) -> ActivationMap:
    generator = np.random.default_rng(0)
    hidden = 0.01 * generator.normal(size=(n_tokens, d_ff)).astype(np.float32)
    return ActivationMap(
        "wide", "wide", "#009e73", "", hidden, generator.permutation(d_ff), ["a"] * n_tokens, 0
    )


@pytest.mark.parametrize(("n_tokens", "d_ff"), [(9, 14_336), (128, 3_072)])
def test_a_wide_map_stays_small_and_keeps_who_stands_out(n_tokens: int, d_ff: int) -> None:
    shown = a_map(n_tokens, d_ff)
    shown.hidden[3, 777] = -9.0
    cell = sent([shown], 777)
    assert len(pack(cell.data, cell.arrays)) < 200_000
    header, arrays = cell.data, cell.arrays
    values, neurons = arrays["wide.hidden"], arrays["wide.neurons"]
    assert values.shape == neurons.shape == (n_tokens, len(arrays["wide.order"]))
    column = header["maps"][0]["column"]
    assert neurons[3, column] == 777
    assert values[3, column] == -9
    for token in range(n_tokens):
        own = shown.hidden[token, neurons[token]].astype(np.float16)
        assert (own == values[token]).all(), "each cell has the value of the neuron it names"
        assert np.abs(shown.hidden[token]).max() == pytest.approx(
            float(np.abs(values[token]).max()), rel=1e-3
        )


def test_what_is_not_wide_is_sent_as_it_is() -> None:
    shown = a_map(128, 2_048)
    arrays = sent([shown], 3).arrays
    assert "wide.neurons" not in arrays
    assert arrays["wide.hidden"].shape == (128, 2_048)


def test_in_few_columns_the_strongest_of_neighbours_stands_with_its_sign() -> None:
    for n in [1, 128, 129, 512, 2_049]:
        values = np.random.default_rng(n).normal(size=(3, n))
        found = pooled(values)
        each = -(-n // 128)
        assert found.shape == (3, -(-n // each))
        assert found.shape[1] <= 128
        for row, expected in zip(found, values, strict=True):
            for column, value in enumerate(row):
                group = expected[column * each : (column + 1) * each]
                assert value == group[np.abs(group).argmax()]


def test_contributions_end_with_their_sum() -> None:
    bars = contributions_to("logit", ["320", "46"], np.array([3.0, -1.0]), 2.0, "gelu")
    assert list(bars.names) == ["320", "46", "logit"]
    np.testing.assert_allclose(bars.values, [3, -1, 2])
    assert list(bars.colour) == ["gelu", "muted", "text"]
    assert bars.to_json()["marked"] == [2], "the sum stands out"
