"""The figures of Dimensions, Vocabulary and Timing: allowed by plotly, true to their numbers."""

import numpy as np
import pytest

from ffnviz.analysis.writing import Distribution
from ffnviz.parts.dimensions.cost import costs_figure, share_figure, short
from ffnviz.parts.dimensions.flow import SHOWN, flow, shared_weights
from ffnviz.parts.vocabulary.generate import steps
from ffnviz.parts.vocabulary.lens import early_words_figure
from ffnviz.parts.vocabulary.softmax import distribution_figure
from ffnviz.pictures.time_charts import growth, products, side_by_side, stages
from tests.pictures.schema import checked

PARTS = {"embedding": 10, "attention": 20, "FFN": 60, "LayerNorm": 0, "output": 10}


def test_the_boxes_of_the_flow_are_as_high_as_their_vectors() -> None:
    drawn = checked(flow(8, 512, 2_048, "ReLU", "relu"))
    boxes = [shape for shape in drawn.layout.shapes if shape.type == "rect"]
    assert [box.y1 - box.y0 for box in boxes] == [512, 2_048, 2_048, 512]
    assert list(drawn.data[0].text) == [
        "<b>(8, 512)</b>", "<b>(8, 2,048)</b>", "<b>(8, 2,048)</b>", "<b>(8, 512)</b>"
    ]  # fmt: skip


@pytest.mark.parametrize("n", [1, SHOWN, SHOWN + 5])
def test_each_token_has_a_line_through_the_shared_weights(n: int) -> None:
    drawn = checked(shared_weights(["x"] * n, 4, 16, 100, "gelu"))
    assert len(drawn.data[0].text) == min(n, SHOWN)
    assert bool(drawn.data[3].text) == (n > SHOWN)


def test_costs_are_shares_of_the_whole() -> None:
    drawn = checked(costs_figure(PARTS, {**PARTS, "embedding": 0}, "relu"))
    np.testing.assert_allclose(drawn.data[0].x, [10, 20, 60, 0, 10])
    np.testing.assert_allclose(drawn.data[1].x, np.array([0, 20, 60, 0, 10]) / 0.9)
    assert "60 <b>60%</b>" in drawn.data[0].text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (999, "999"), (1_500, "1.5 k"), (2_099_712, "2.1 M"),
                        (6_738_415_616, "6.74 G"), (3e12, "3 T")]
)  # fmt: skip
def test_large_counts_are_short(count: float, text: str) -> None:
    assert short(count) == text


@pytest.mark.parametrize(("overtaken", "n"), [(1_024.0, 1), (-5.0, 0), (1e9, 0)])
def test_the_crossing_is_marked_only_where_there_is_one(overtaken: float, n: int) -> None:
    lengths = np.array([1.0, 10_000.0])
    drawn = checked(share_figure(lengths, np.array([0.7, 0.1]), (128.0, 0.6), overtaken, "relu"))
    assert len(drawn.data[2].x) == n
    assert list(drawn.data[1].x) == [128]


def test_the_distribution_fills_what_the_cut_leaves() -> None:
    softmax, cut = np.array([0.1, 0.6, 0.3]), np.array([0.0, 0.7, 0.3])
    after = Distribution(np.array([1, 2, 0]), softmax, 2, cut)
    drawn = checked(distribution_figure(after, ["<a>", "b"], "relu"))
    np.testing.assert_allclose(drawn.data[0].y, [60, 30, 10])
    np.testing.assert_allclose(drawn.data[1].y, [70, 30])
    assert drawn.data[0].text[0] == "&lt;a&gt;"
    assert drawn.layout.shapes[0].x0 == 2.5


def test_written_words_are_bars_and_the_chosen_one_stands_out() -> None:
    figure = steps([" <i>", "b"], np.array([0.5, 0.25]), 1, "relu")
    drawn = checked(figure)
    np.testing.assert_allclose(drawn.data[0].y, [50, 25])
    assert drawn.layout.xaxis.ticktext[0] == "&lt;i&gt;"
    assert figure["data"][0]["marker"]["color"] == ["@muted/0.6", "@relu"]


def test_the_lens_is_a_table_of_words() -> None:
    drawn = checked(
        early_words_figure(
            ["s", "t"], [["<a>", "b"], ["c", "d"]], np.array([[0.5, 0.1], [0.9, 0.0]]), "relu"
        )
    )
    assert drawn.data[0].text[0][0] == "&lt;a&gt;<br><b>50%</b>"
    np.testing.assert_allclose(drawn.data[0].z, [[50, 10], [90, 0]])


def test_stages_stand_in_order_with_their_quartiles() -> None:
    times = {"a": (2.0, 1.0, 4.0), "b": (1.0, 0.5, 1.5), "c": (3.0, 3.0, 3.0)}
    drawn = checked(stages(times, {"a": "FFN", "b": "norm", "c": "FFN"}, "relu"))
    by_kind = {trace.name: trace for trace in drawn.data}
    np.testing.assert_allclose(by_kind["FFN"].x, [2, 3])
    np.testing.assert_allclose(by_kind["FFN"].error_x.array, [2, 0])
    np.testing.assert_allclose(by_kind["FFN"].error_x.arrayminus, [1, 0])
    assert list(drawn.layout.yaxis.categoryarray) == ["c", "b", "a"]


def test_devices_stand_side_by_side() -> None:
    drawn = checked(side_by_side({"cpu": {"a": 2.0}, "cuda": {"a": 0.5}}, ["@muted", "@relu"]))
    assert [trace.name for trace in drawn.data] == ["cpu", "cuda"]
    assert [trace.x[0] for trace in drawn.data] == [2, 0.5]


def test_products_are_shares_of_the_best_and_growth_has_whiskers() -> None:
    drawn = checked(products(["a"], ["(1, 2)"], np.array([0.25]), ["9 a second"], [True], "relu"))
    np.testing.assert_allclose(drawn.data[0].x, [25])
    grown = checked(growth([8, 16], {"FFN, batch 1": [(2.0, 1.0, 3.0)] * 2}, "tokens T", "relu"))
    np.testing.assert_allclose(grown.data[0].y, [2, 2])
    np.testing.assert_allclose(grown.data[0].error_y.array, [1, 1])
