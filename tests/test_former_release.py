"""What release 0.1.0 wrote, handed out or kept goes on working: links, lectures, names, indexes.

The files in `former_release` were written by that release and are never made anew.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import ffnviz
from ffnviz.analysis.neurons.index_file import read_index
from ffnviz.analysis.neurons.names import read_names
from ffnviz.app.catalog import START, build_catalog
from ffnviz.app.lecture.draft import read_draft
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.lecture import read_lecture
from ffnviz.models.config import Config, use
from ffnviz.models.encoder.model import Model
from ffnviz.parts.places import MOVED
from ffnviz.state.state import Catalog, from_url, to_url

FOLDER = Path(__file__).parent / "former_release"
LINKS: list[dict[str, Any]] = json.loads((FOLDER / "links.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return build_catalog()


def test_there_is_a_link_to_each_part_of_that_release() -> None:
    assert len({link["link"] for link in LINKS}) == len(LINKS) == 60
    assert len({(link["state"]["page"], link["state"]["part"]) for link in LINKS}) == 53


CUT = {("timing", "convolution"), ("timing", "grouped")}  # with their settings; near by is shown


def now(state: dict[str, Any], params: dict[str, str]) -> dict[str, Any]:
    """A former state, where its content is now: with all that was set, and what shows it."""
    place = state["page"], state["part"]
    page, part, shown = MOVED.get(place, (*place, {}))
    kept = {} if place in CUT else dict(state["settings"])
    settings = sorted((kept | dict(shown)).items())
    # A link without a sentence begins with today's.
    sentence = state["sentence"] if "text" in params else START
    return {**state, "page": page, "part": part, "sentence": sentence,
            "settings": [list(each) for each in settings]}  # fmt: skip


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link["link"][:60])
def test_a_link_leads_to_what_it_led_to(link: dict[str, Any], catalog: Catalog) -> None:
    state = from_url(link["page"], link["params"], catalog)
    assert json.loads(json.dumps(asdict(state))) == now(link["state"], link["params"])
    assert from_url(state.page, to_url(state, catalog), catalog) == state


def test_lectures_drafts_and_names_are_read(catalog: Catalog) -> None:
    text = (FOLDER / "lecture.toml").read_text(encoding="utf-8")
    lecture = read_lecture(text, catalog, FACTS)
    assert len(lecture.scenes) == 6
    assert lecture.scenes[0].title == "A word is missing"
    assert any(scene.question for scene in lecture.scenes)
    made, shown = read_draft((FOLDER / "draft.json").read_text(encoding="utf-8"), catalog)
    assert shown
    assert len(made.views) == 6
    text = (FOLDER / "names.json").read_text(encoding="utf-8")
    reading = read_names(text, catalog.networks)
    assert [(n.twin, n.block, n.neuron, n.name) for n in reading.names] == [
        ("relu", 2, 475, "quotation"), ("gelu", 1, 12, "numbers"),
    ]  # fmt: skip


def test_a_network_and_its_index_belong_together() -> None:
    model = ffnviz.load(FOLDER / "network")
    assert isinstance(model, Model)
    use(Config(indexes=(FOLDER / "index.npz",)))
    known = ffnviz.load(FOLDER / "network").card.provenance
    assert known is not None
    assert known.index == FOLDER / "index.npz"
    index = read_index(known.index, model.sizes.d_ff, model.sizes.n_blocks)
    assert index.source == "seven sentences"
    assert index.tags == ("animals",)
