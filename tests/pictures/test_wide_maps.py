"""A map of a wide layer: neighbours share a column, and none that stands out vanishes."""

import numpy as np
import pytest

from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.payload import pack


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


@pytest.mark.parametrize(("n_tokens", "d_ff"), [(128, 14_336), (9, 14_336), (128, 3_072)])
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
