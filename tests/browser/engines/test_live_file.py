"""WebKit and Firefox open the page that needs no server from the disk, and read what is typed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import ffnviz
from ffnviz.analysis.prediction import predict
from ffnviz.export.live.page import live_page
from ffnviz.pictures.wording import percent
from tests.browser.engines.engine import Engine
from tests.browser.engines.firefox import firefox
from tests.browser.engines.webkit import webkit

TEXT = "She opened the [MASK] and looked out."
TYPED = "They heard a [MASK] in the night."

# The first line of the guess, once all pictures show the sentence.
SHOWN = """(sentence) => {
    const roots = [...document.querySelectorAll(".picture:not([hidden])")].map((e) => e.shadowRoot);
    const painted = (root) => root?.querySelector("[data-painted]")?.dataset.painted || "{}";
    if (!roots.length || !roots.every((r) => JSON.parse(painted(r)).sentence === sentence)) return null;
    return document.querySelector(".bars").shadowRoot.querySelector("li").textContent;
}"""  # noqa: E501


@pytest.fixture(scope="module", params=[webkit, firefox], ids=["webkit", "firefox"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with request.param() as engine:
        yield engine


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("live") / "page.html"
    place.write_text(live_page([ffnviz.load("relu"), ffnviz.load("gelu")], TEXT), "utf-8")
    return place


def test_a_sentence_is_typed_into_a_file(engine: Engine, file: Path) -> None:
    engine.resize(1280, 720)
    engine.open(file.as_uri())
    engine.wait(SHOWN, TEXT)
    engine.click("input")
    engine.ask("() => document.activeElement.select()")
    engine.type(TYPED)
    model = ffnviz.load("relu")
    told = predict(model, model.trace(TYPED), 3)
    wanted = f"{told.words[0]}{percent(float(told.probabilities[0]))}"
    assert engine.wait(SHOWN, TYPED) == wanted
    assert engine.ask("() => document.querySelector('.notice').textContent") == ""
    assert engine.errors() == []
