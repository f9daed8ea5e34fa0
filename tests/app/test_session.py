"""A session: what is kept of it, which networks it has, where it leads."""

import gc
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
from safetensors import safe_open

import ffnviz
from ffnviz.analysis.writing import Strategy, begin, write_word
from ffnviz.app import session
from ffnviz.app.catalog import build_catalog
from ffnviz.app.lecture import story
from ffnviz.app.main import following, sheet_of, what_it_knows
from ffnviz.app.rail import network_cell
from ffnviz.app.visit import VISIT, Visit, visit
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import MODELS, load
from ffnviz.models.trace import StreamTrace
from ffnviz.parts import PAGES
from ffnviz.parts.sheet import Sheet
from ffnviz.pictures.cell import Cell
from ffnviz.state import run_factory
from ffnviz.state.actions import reduce
from ffnviz.state.cache import Cache
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.state.state import ViewOptions, from_url
from tests.lecture.lecture_runs import lecture
from tests.parts.sheets import drawn
from tests.parts.visits import TEXT, opened
from tests.run_factory import run_of
from tests.sent_cells import sent_cells


class StoppedError(Exception):
    """In place of what Streamlit raises."""


class Replaced(dict[str, Any]):
    """The session as a run sees it that a newer one has taken the place of."""

    def get(self, *_: Any) -> Any:
        raise StoppedError


def test_a_replaced_run_changes_nothing_more_and_two_visits_share_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Visit()
    monkeypatch.setattr(streamlit, "session_state", Replaced({VISIT: kept}))
    with pytest.raises(StoppedError):
        visit().outcome = "said too late"
    assert kept == Visit(
        class_id=kept.class_id, requests=kept.requests, tab_is_open=kept.tab_is_open
    )
    monkeypatch.setattr(streamlit, "session_state", {})
    first = visit()
    assert visit() is first
    monkeypatch.setattr(streamlit, "session_state", {})
    for name, value in vars(first).items():
        if isinstance(value, dict | list):
            assert getattr(visit(), name) is not value
    assert visit().class_id != first.class_id


@pytest.mark.parametrize(("page", "part"), [("journey", ""), ("neurons", "wakes")])
def test_sessions_hold_no_traces(page: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The newest value stays, no more.
    monkeypatch.setattr(run_factory, "CACHE", Cache(most_bytes=1))
    before = traces()
    visits = [opened(page, part=part, text=f"The dogs ran {n} miles.") for n in range(3)]
    gc.collect()
    assert all(visit.session_state[VISIT].state.sentence for visit in visits)
    assert len([trace for trace in traces() if not any(trace is old for old in before)]) <= 1


def traces() -> list[StreamTrace]:
    """All there are in this process; other tests hold some."""
    return [each for each in gc.get_objects() if issubclass(type(each), StreamTrace)]


@pytest.mark.parametrize(("in_class", "made"), [(True, 2), (False, 4)])
def test_a_sheet_is_made_once_for_a_class_and_each_of_its_views(in_class: bool, made: int) -> None:
    calls: list[Run] = []
    page = next(page for page in PAGES if page.name == "sparsity")
    part = page.parts[0]

    def counted(run: Run, values: Values) -> Sheet:
        calls.append(run)
        return part.sheet(run, values)

    watched = replace(part, sheet=counted)
    run = run_of(ffnviz.load("relu"), "The cat sat on the mat.", page="sparsity")
    other = replace(run, state=replace(run.state, token=2))
    sheets = [sheet_of(watched, in_class, each, Values()) for each in (run, run, other, other)]
    assert len(calls) == made
    assert (sheets[0] is sheets[1]) == in_class
    assert sheets[0] is not sheets[2]


def test_whoever_left_one_lecture_begins_another_at_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visitor: Any = SimpleNamespace(state=None, catalog=None)  # what a lecture is begun with
    visit = Visit(left_scene=ViewOptions(scene=5, lecture="course"))
    monkeypatch.setattr(streamlit, "session_state", {VISIT: visit})
    monkeypatch.setattr(story, "lecture_of", lambda _, name, own: own or lecture(name or "ffn"))
    monkeypatch.setattr(story, "go", lambda *_: None)
    story.start(visitor, short=False)
    assert visit.view_options.scene == 0
    story.start(visitor, short=False, lecture="course")
    assert visit.view_options.scene == 5


def test_with_two_networks_nothing_is_chosen_with_three_which_stands_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (network, block, _) = sent_cells(opened(""))["network"]["controls"]
    assert (network["options"], block["options"]) == (["ReLU", "GELU"], ["block 1", "block 2"])

    third = replace(load("gelu"), name="third")
    networks = {"relu": load("relu"), "gelu": load("gelu"), "third": third}
    monkeypatch.setattr(session, "available_networks", lambda: dict.fromkeys(networks))
    monkeypatch.setattr(run_factory, "open_network", lambda name, _: networks[name])
    catalog = build_catalog()
    state = from_url("journey", {"text": TEXT}, catalog)

    def beside() -> tuple[dict[str, Any], Cell]:
        monkeypatch.setattr(streamlit, "session_state", {VISIT: Visit(state=state)})
        cell = network_cell(session.Session(catalog), None)
        assert cell is not None
        (box,) = (each for each in cell.data["controls"] if each["label"] == "Beside it")
        return box, cell

    box, cell = beside()
    assert box["options"][box["stop"]] == "beside GELU"
    action, _ = cell.events["move"]({"name": "Beside it", "value": 1})
    state = reduce(state, action, catalog)
    assert state.partner == "third"
    action, _ = beside()[1].events["move"]({"name": "Network", "value": 2})
    state = reduce(state, action, catalog)
    assert (state.network, state.partner) == ("third", "relu"), "the two change places"
    box, _ = beside()
    assert box["options"][box["stop"]] == "beside ReLU"


def test_what_one_network_wrote_is_not_shown_as_anothers_of_that_name_and_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = load("gelu")
    other = replace(known, name="other", encoder=initial_encoder(known.encoder.config, 3).eval())
    assert (other.card.label, other.card.colour) == (known.card.label, known.card.colour)
    networks = {"gelu": known, "other": other}
    monkeypatch.setattr(session, "available_networks", lambda: dict.fromkeys(networks))
    monkeypatch.setattr(run_factory, "open_network", lambda name, _: networks[name])
    run_factory.forget_networks()
    drawn("vocabulary", "write", text=TEXT, words="2", twin="gelu")
    shown = drawn("vocabulary", "write", text=TEXT, words="2", twin="other")
    own = begin(other, TEXT)
    for _ in range(2):
        own = write_word(other, own, Strategy())
    assert own.written.strip() in shown.said
    run_factory.forget_networks()


HIDDEN = "The [MASK] sat."


def test_the_foot_leads_through_every_part_of_a_first_course() -> None:
    run = run_of(load("relu"), HIDDEN)
    page, part = PAGES[0], PAGES[0].parts[0]
    walked = [(page.name, part.name)]
    while (coming := following(page, part, run)) is not None:
        page, part = coming
        walked.append((page.name, part.name))
    pairs = [(page, part) for page in PAGES for part in page.parts]
    assert walked == [(page.name, part.name) for page, part in pairs if not part.further]
    assert 0 < len(pairs) - len(walked) < 5, "a first course passes over few parts"


def test_of_an_unknown_network_what_it_has_not_is_passed_over(model_folder: Path) -> None:
    run = run_of(load(model_folder), HIDDEN)
    names = {part.name for page in PAGES for part in page.parts if part.missing(run)}
    assert "browse" in names
    page = next(page for page in PAGES if page.name == "sparsity")
    coming = following(page, page.part("keep"), run)
    assert coming is not None
    assert coming[1].name == "flow"
    assert what_it_knows(run_of(load(model_folder), HIDDEN)) == []


def test_what_a_twin_knows_is_computed_from_its_weights_and_its_record() -> None:
    model = load("gelu")
    told = " ".join(what_it_knows(run_of(model, HIDDEN)))
    with safe_open(str(MODELS / "gelu" / "weights.safetensors"), "pt") as weights:
        count = sum(weights.get_tensor(name).numel() for name in weights.keys())  # noqa: SIM118
    assert f"{count / 1e6:.1f} million weights" in told
    record = json.loads((MODELS / "gelu" / "training.json").read_text(encoding="utf-8"))
    assert f"{record['final']['tokens'] / 1e6:.1f} million tokens" in told
