"""A notebook's living pictures: what the browser tells, what Python sets, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ffnviz
from ffnviz.export.notebook import view
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.network import network_of
from ffnviz.models.trace import Trace
from tests.unpacked import unpacked

pytest.importorskip("anywidget")
TEXT = "The cat sat on the [MASK]."


@pytest.fixture
def model(model_folder: Path) -> Model:
    return load(model_folder)


@pytest.fixture
def trace(model: Model) -> Trace:
    return model.trace(TEXT)


def told(number: int, cell: str, name: str, value: Any) -> dict[str, Any]:
    """As view.js sends it."""
    event = {"number": number, "cell": cell, "name": name, "value": value}
    return {"event": {"sheet": "a", "events": [event]}}


def shown(view: Any) -> dict[str, Any]:
    return unpacked(view._sheet)[0]


def test_a_click_sets_token_and_neuron_and_python_hears_it(trace: Trace) -> None:
    view, heard = ffnviz.view(trace), list[Any]()
    view.observe(lambda change: heard.append(change.new), ["token", "neuron"])
    view._handle_custom_msg(told(1, "chips", "token", 2), [])
    assert view.token == 2
    cell = {"map": trace.network.card.id, "neuron": 5, "token": 3}
    view._handle_custom_msg(told(2, "maps", "neuron", cell), [])
    assert (view.token, view.neuron) == (3, 5)
    assert heard == [2, 3, 5]


def test_what_python_sets_is_drawn_and_is_the_traces_own(trace: Trace) -> None:
    view = ffnviz.view.flow(trace)
    for token, block in ((1, 0), (3, 1)):
        view.token, view.block = token, block
        hidden = trace.blocks[block].ffn.hidden[token].numpy()
        drawn = view._cells["ffn"].arrays["hidden"]
        np.testing.assert_allclose(drawn, hidden, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["token", "block", "neuron"])
def test_what_is_not_there_cannot_be_chosen(trace: Trace, name: str) -> None:
    import traitlets

    view = ffnviz.view(trace)
    before = getattr(view, name)
    for wrong in (-1, 10**6):
        with pytest.raises(traitlets.TraitError, match=f"There is no {name}"):
            setattr(view, name, wrong)
    assert getattr(view, name) == before


def test_a_browser_may_send_anything_and_gets_all_again_where_it_lost_it(trace: Trace) -> None:
    view = ffnviz.view(trace)
    before = view.token
    for sent in (None, 3, {"file": "../view.py"}, {"file": 3}, {"event": "x"},
                 told(1, "nowhere", "token", 1), told(2, "chips", "token", "<b>")):  # fmt: skip
        view._handle_custom_msg(sent, [])
    assert view.token == before
    view = ffnviz.view.map(trace)
    view.token = 1
    view._handle_custom_msg({"event": {"sheet": "a", "events": [], "lost": True}}, [])
    again = shown(view)
    assert set(again["new"]) == {digest for digest, *_ in again["cells"].values()}


def test_edited_traces_have_pictures_but_no_journey(model: Model) -> None:
    edited = model.trace(TEXT, edits=[ffnviz.Edit(0, neurons=[3], value=7.0)])
    view = ffnviz.view.neuron(edited, 3)
    view.block = 0
    assert view._cells["neuron-card"].data["values"] == pytest.approx([7.0] * len(edited.tokens))
    with pytest.raises(ValueError, match="with edits"):
        ffnviz.view(edited)


def test_what_is_no_trace_of_one_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    trace = load("relu").trace("The cat.")
    with pytest.raises(TypeError, match=r"of joined ones, one of their `traces`"):
        network_of(Trace.cat([trace, trace]))
    show_any: Any = (ffnviz.show, view, view.map, view.neuron, view.flow)
    for show in show_any:
        with pytest.raises(TypeError, match=r"trace = 'The cat.': give the trace of one text"):
            show("The cat.")
    trace.save(tmp_path / "it")
    saved = next(tmp_path.iterdir())
    with pytest.raises(ValueError, match="saved or pickled"):
        network_of(Trace.load(saved))


def test_a_view_without_a_kernel_tells_what_stays(trace: Trace) -> None:
    said = repr(view(trace))
    assert said.startswith("These pictures live while the kernel runs; those of")
    assert len(said) <= 110  # anywidget cuts a longer one
