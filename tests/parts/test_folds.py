"""Fold twice: what the view says of folds, of one layer, and of the network."""

from ffnviz.parts.dimensions.folds import switches
from tests.parts.sheets import drawn, words


def test_it_says_how_many_pieces_and_how_many_units_one_layer_needs() -> None:
    asked = {"text": "The cat sat on the mat.", "warp_view": "line", "token": "2"}
    part = drawn("dimensions", "warp", True, **asked, folds="6", fold_units="48")
    assert "make 64 pieces; one layer of 48 neurons matches 48, and needs 64" in part.said
    assert "12 neurons fold the line into 64 pieces; in one layer they make at most 13" in part.said
    said = words(part.cells["folds-network"])
    other = next(at for at, label in enumerate(part.run.labels) if f"to “{label}” block" in said)
    first, both = switches(part.run.model, part.run.trace, 0, (1, other))
    assert f"alone makes {1 + first[-1]:,} pieces" in said
    assert f"next block's it makes {1 + both[-1]:,} pieces" in said
    assert "matches all of them" in drawn("dimensions", "warp", True, **asked, fold_units="8").said


def test_a_sentence_of_one_token_has_no_line() -> None:
    part = drawn("dimensions", "warp", text="a", warp_view="line")
    assert "A line needs at least two tokens." in part.said
