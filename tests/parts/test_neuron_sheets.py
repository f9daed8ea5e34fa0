"""Neurons' parts as functions: their pictures, and what a click asks for."""

import pytest

from ffnviz.state.actions import ChooseNeuron, ChooseToken
from tests.parts.sheets import drawn

CELLS = {
    "wakes": {"neuron-values", "key-matches", "examples-of-neuron"},
    "probes": {"tags-of-neuron", "positions-of-neuron"},
    "values": {"values-of-neuron", "kinds-of-neuron", "partners-of-neuron"},
    "writes": {"written-words", "similar-neurons"},
}


@pytest.mark.parametrize("part", CELLS)
def test_a_part_has_its_pictures_and_ways_to_another_neuron(part: str) -> None:
    shown = drawn("neurons", part, neuron="relu-469")
    assert set(shown.cells) == CELLS[part]
    assert shown.controls["Neuron"]["text"] == "469"


def test_a_click_on_a_relative_meets_it() -> None:
    similar = drawn("neurons", "writes", neuron="relu-469").cells["similar-neurons"]
    partners = drawn("neurons", "values", neuron="relu-469").cells["partners-of-neuron"]
    for cell in (similar, partners):
        action = cell.events["point"](1_488)
        assert isinstance(action, ChooseNeuron)
        assert action.neuron.index == 1_488
        assert cell.events["point"]("1488") is cell.events["point"](10**9) is None


def test_a_click_on_a_value_chooses_its_token() -> None:
    cell = drawn("neurons", "wakes", neuron="relu-469").cells["neuron-values"]
    assert cell.events["point"](2) == ChooseToken(2)
    assert cell.events["point"](99) is cell.events["point"](None) is None
