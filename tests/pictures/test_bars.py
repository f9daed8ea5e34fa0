"""Bars: what the browser gets of each line, and which clicks are ours."""

import numpy as np
import pytest

from ffnviz.pictures.bars import Bars, bars_cell, contributions_to
from ffnviz.pictures.cell import Head

HEAD = Head("A sentence.", "writes", "relu")


def test_a_line_has_its_own_colour_or_its_panels() -> None:
    one = Bars("up", ["a<b>", "c"], np.array([0.5, 0.2]), "relu", marked=frozenset({"c"}))
    two = Bars("down", ["d", "e"], np.array([-0.3, 0.1]), ["muted", "relu"], said=["x", "y"])
    first, second = bars_cell(HEAD, [one, two]).data["panels"]
    assert first["names"] == ["a<b>", "c"]
    assert first["values"] == [0.5, 0.2]
    assert first["colour"] == "relu"
    assert first["marked"] == [1]
    assert (second["colour"], second["said"], second["ids"]) == (
        ["muted", "relu"],
        ["x", "y"],
        None,
    )


@pytest.mark.parametrize("click", [9, -1, True, 7.0, "7", None, [7]])
def test_a_click_on_what_is_not_drawn_asks_for_nothing(click: object) -> None:
    bars = Bars("", ["a", "b"], np.array([1.0, 2.0]), "relu", np.array([7, 8]))
    choose = bars_cell(HEAD, [bars], on_choose=lambda chosen: ("open", chosen)).events["point"]
    assert choose(click) is None
    assert choose(7) == ("open", 7)


def test_contributions_end_with_what_they_add_up_to() -> None:
    bars = contributions_to("logit", ["320", "46"], np.array([3.0, -1.0]), 2.0, "gelu")
    assert list(bars.names) == ["320", "46", "logit"]
    np.testing.assert_allclose(bars.values, [3, -1, 2])
    assert list(bars.colour) == ["gelu", "muted", "text"]
