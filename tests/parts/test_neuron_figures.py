"""The figures of the Neurons page: allowed by plotly, true to their numbers, text stays text."""

import numpy as np
import pytest

from ffnviz.parts.neurons.compare import both_values, differences
from ffnviz.parts.neurons.name import Score, scores
from ffnviz.parts.neurons.switch import changes
from ffnviz.pictures.neuron_chart import positions, probability, tags, values
from tests.pictures.schema import checked


def test_a_neurons_values_stand_on_their_tokens() -> None:
    hidden = np.array([0.0, 2.5, -0.17])
    drawn = checked(values(["a", "b", "c"], hidden, 1, "gelu", 0.1))
    np.testing.assert_allclose(drawn.data[0].y, hidden)
    assert list(drawn.data[0].customdata) == [0, 1, 2]
    assert drawn.layout.shapes[0].x0 == 0.5
    assert drawn.layout.shapes[1].y0 == 0.1


def test_only_tags_beyond_chance_have_the_accent() -> None:
    drawn = checked(tags(["past (9)", "<i>"], np.array([0.8, 0.3]), np.array([0.1, 0.2]),
                         [0.001, 0.4], 0.05, "relu"))  # fmt: skip
    accent, grey = drawn.data[0].marker.color
    assert accent != grey
    np.testing.assert_allclose(drawn.data[0].x, [80, 30])
    np.testing.assert_allclose(drawn.data[1].x, [10, 20])
    assert drawn.layout.yaxis.ticktext[1] == "&lt;i&gt;"


@pytest.mark.parametrize(
    ("p", "text"),
    [(1.0, "p = 1"), (0.4, "p = 0.4"), (0.05, "p = 0.050"), (0.00042, "p &lt; 10<sup>−3</sup>"),
     (3e-12, "p &lt; 10<sup>−11</sup>"), (0.0, "p &lt; 10<sup>−299</sup>")],
)  # fmt: skip
def test_a_p_value_is_short_and_never_smaller_than_said(p: float, text: str) -> None:
    assert probability(p) == text


def test_positions_count_from_one() -> None:
    drawn = checked(positions(np.array([0.5, 0.25]), np.array([40, 20]), "relu"))
    assert list(drawn.data[0].x) == [1, 2]
    np.testing.assert_allclose(drawn.data[0].y, [50, 25])


def test_many_positions_share_a_bar_that_names_them() -> None:
    drawn = checked(positions(np.array([0.5, 0.25]), np.array([40, 20]), "relu", 4))
    assert list(drawn.data[0].x) == [2.5, 6.5]  # the middles of 1 to 4 and 5 to 8
    assert list(drawn.data[0].text) == ["1–4", "5–8"]


def test_differences_are_centred_on_zero_and_name_their_neurons() -> None:
    drawn = checked(differences(["a", "b → c"], np.array([5, 9, 2]),
                                np.array([[0.0, -2.0, 1.0], [0.5, 0.0, 0.0]]), 1))  # fmt: skip
    assert (drawn.data[0].zmin, drawn.data[0].zmax) == (-2, 2)
    assert np.asarray(drawn.data[0].customdata)[1].tolist() == [5, 9, 2]
    assert drawn.layout.shapes[0].y0 == 0.5
    checked(differences([], np.zeros(0, int), np.zeros((0, 0)), 0))


def test_both_sentences_values_stand_side_by_side() -> None:
    drawn = checked(both_values(("dog", "<dogs>"), np.array([4, 1]), np.array([0.1, 0.2]),
                                np.array([0.3, 0.4]), "relu"))  # fmt: skip
    assert [trace.name for trace in drawn.data] == ["dog", "&lt;dogs&gt;"]
    np.testing.assert_allclose(drawn.data[1].x, [0.3, 0.4])


def test_changes_and_scores_are_in_percent() -> None:
    drawn = checked(changes(np.array([0.0, 0.5]), np.array([0.0, 0.25]), "relu"))
    np.testing.assert_allclose(drawn.data[0].x, [0, 50])
    np.testing.assert_allclose(drawn.data[1].x, [0, 25])
    drawn = checked(scores(Score(4, 1, 1, 10, (), ()), "relu"))
    np.testing.assert_allclose(drawn.data[0].y, [25, 100, 10])
    assert list(drawn.data[0].text) == ["25%", "100%", "10%"]
    drawn = checked(scores(Score(0, 0, 0, 10, (), ()), "relu"))
    np.testing.assert_allclose(drawn.data[0].y, [0, 0, 0])
    assert list(drawn.data[0].text) == ["none named", "never fires", "0%"]
