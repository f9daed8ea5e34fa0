"""Which network stands beside the one that drives the page."""

from dataclasses import replace

import pytest

from ffnviz.analysis.vocabulary.decoding import Strategy
from ffnviz.analysis.vocabulary.writing import begin, write_word
from ffnviz.app import session
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model, load
from ffnviz.state import run_factory
from tests.parts.sheets import drawn
from tests.parts.visits import TEXT, opened, query, unbroken


def test_with_two_networks_there_is_nothing_to_choose() -> None:
    assert [box.label for box in opened("").selectbox] == []


def test_with_three_one_chooses_which_stands_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    def any_of_three(name: str, device: str) -> Model:
        return (
            replace(load("gelu", device), name="third") if name == "third" else load(name, device)
        )

    monkeypatch.setattr(
        session, "available_networks", lambda: dict.fromkeys(("relu", "gelu", "third"))
    )
    monkeypatch.setattr(run_factory, "open_network", any_of_three)
    app = opened("")
    (box,) = app.selectbox
    assert box.value == "gelu"
    unbroken(box.select("third").run())
    assert query(app)["partner"] == "third"
    unbroken(app.button_group(key="twin").set_value("third").run())
    assert app.selectbox[0].value == "relu"
    assert query(app)["partner"] == "relu", "the two change places"


def test_what_one_network_wrote_is_not_shown_as_anothers_of_that_name_and_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = load("gelu")
    other = replace(known, name="other", encoder=initial_encoder(known.encoder.config, 3).eval())
    assert (other.card.label, other.card.colour) == (known.card.label, known.card.colour)
    monkeypatch.setattr(session, "available_networks", lambda: dict.fromkeys(("gelu", "other")))
    monkeypatch.setattr(
        run_factory, "open_network", lambda name, _: {"gelu": known, "other": other}[name]
    )
    run_factory.forget_networks()
    drawn("vocabulary", "write", text=TEXT, words="2", twin="gelu")
    shown = drawn("vocabulary", "write", text=TEXT, words="2", twin="other")
    own = begin(other, TEXT)
    for _ in range(2):
        own = write_word(other, own, Strategy())
    assert own.written.strip() in shown.said
    run_factory.forget_networks()
