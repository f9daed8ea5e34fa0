"""WebKit and Firefox draw every part, follow typing and clicks, and need no server."""

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from ffnviz.analysis.prediction import predict
from ffnviz.models.encoder.model import Model
from ffnviz.parts import PAGES
from ffnviz.parts.part import Page
from ffnviz.pictures.wording import percent
from tests.browser.conftest import LIVE_TEXT, ROOT, OpenPage, serving
from tests.browser.engines.engine import Engine
from tests.browser.engines.firefox import firefox
from tests.browser.engines.webkit import webkit

TEXT = "She opened the [MASK] and looked out."  # as in test_parts: the server has measured it
TYPED = "They heard a [MASK]."

# What is wrong with a page that shows a part, once the script has ended and each cell is drawn.
DRAWN = """(title) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const sheet = document.querySelector(".sheet");
    if (app?.dataset.testScriptState !== "notRunning" || !sheet) return null;
    const list = sheet.querySelector('[data-cell="part-list"]')?.shadowRoot;
    if (title && list?.querySelector('[aria-checked="true"]')?.ariaLabel !== title) return null;
    const cells = [...sheet.querySelectorAll(".cell")];
    const rows = [...sheet.querySelectorAll(".rows .cell")];
    const found = cells.map(({ shadowRoot }) => shadowRoot?.querySelector(".hung, .fault"));
    if (!rows.length || !found.every(Boolean)) return null;
    const boxOf = (name) => sheet.querySelector(name).getBoundingClientRect();
    const side = boxOf(".side"), shown = boxOf(".rows");
    const isFlat = ({ offsetWidth, offsetHeight }) => Math.min(offsetWidth, offsetHeight) < 20;
    return {
        faults: found.filter((each) => each.matches(".fault")).map((each) => each.textContent),
        empty: rows.filter(isFlat).map((cell) => cell.dataset.cell),
        sideways: document.documentElement.scrollWidth - innerWidth > 2,
        beside: innerWidth < 1280 || !side.height || side.right <= shown.left,
    };
}"""
FINE = {"faults": [], "empty": [], "sideways": False, "beside": True}
IN = """(cell, selector) => [...document.querySelector(`[data-cell="${cell}"]`)?.shadowRoot
    .querySelectorAll(selector) ?? []]"""
CHOOSE = f"""(title) => ({IN})("part-list", "[role=radio]")
    .find((part) => part.ariaLabel === title)?.click()"""
CHIPS = f"""(text) => ({IN})("chips", "bdi").map((e) => e.textContent.trim()).join(" ") === text"""
CHOSEN = f"""(text) => ({IN})("chips", "[aria-pressed=true] bdi")[0]?.textContent === text"""
SCENE = f"""(before) => {{
    const title = ({IN})("story", "h2")[0]?.textContent;
    return title !== before && title;
}}"""

# In a talk: the answer is told; a picture is in the window as a whole, which nothing leaves.
TOLD = f"""() => ({IN})("story", ".say").some((e) => e.checkVisibility())
    && ({IN})("story", ".options .right").length === 1"""
FITTED = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    const shown = [...document.querySelectorAll(".sheet > .rows [data-lit]")]
        .map((e) => e.getBoundingClientRect());
    return shown.length > 0 && main.scrollHeight <= main.clientHeight
        && shown.every(({ bottom, height }) => height > 200 && bottom <= innerHeight);
}"""

# Of the file: the first line of the guess, once all pictures show the sentence.
SHOWN = """(sentence) => {
    const roots = [...document.querySelectorAll(".picture:not([hidden])")].map((e) => e.shadowRoot);
    const painted = (root) => root?.querySelector("[data-painted]")?.dataset.painted || "{}";
    if (!roots.length || !roots.every((r) => JSON.parse(painted(r)).sentence === sentence)) return null;
    return document.querySelector(".bars").shadowRoot.querySelector("li").textContent;
}"""  # noqa: E501


@pytest.fixture(scope="module")
def open_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that other machines reach, so that it has classes."""
    store = tmp_path_factory.mktemp("class") / "classes.sqlite"
    options = ["--host", "0.0.0.0", "--class-store", str(store)]
    with serving([sys.executable, "-m", "ffnviz"], ROOT, options=options) as address:
        yield address


@pytest.fixture(scope="module", params=[webkit, firefox], ids=["webkit", "firefox"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with request.param() as engine:
        yield engine


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_every_part_is_drawn(engine: Engine, address: str, page: Page) -> None:
    engine.resize(1280, 720)
    asked = {"text": TEXT, "part": page.parts[0].name, "words": "3", "repeats": "5"}
    engine.open(f"{address}/{page.name}?{urlencode(asked)}")
    for part in page.parts:
        titled = part.title if page.parts[1:] else ""
        if part is not page.parts[0]:
            engine.ask(CHOOSE, part.title)
        assert engine.wait(DRAWN, titled) == FINE, part.name
    assert engine.errors() == []


def test_the_journey_is_drawn_and_follows_typing_and_a_click_on_a_token(
    engine: Engine, address: str
) -> None:
    engine.resize(1280, 720)
    engine.open(f"{address}/?{urlencode({'text': TEXT})}")
    assert engine.wait(DRAWN, "") == FINE
    engine.click(".edit")
    engine.wait("() => document.activeElement.closest('.st-key-text') !== null")
    engine.ask("() => document.activeElement.select()")
    engine.type(TYPED)
    engine.wait(CHIPS, "They heard a [MASK] .")
    engine.ask("() => document.activeElement.blur()")
    engine.click("[aria-pressed] bdi", "heard")
    engine.wait(CHOSEN, "heard")
    assert engine.wait(DRAWN, "") == FINE
    assert engine.errors() == []


def test_a_talk_is_given_with_the_mouse(engine: Engine, address: str) -> None:
    engine.resize(1280, 720)
    engine.open(f"{address}/?scene=3&lecture=ffn")
    scene = engine.wait(SCENE, "")
    engine.wait(DRAWN, "")  # until then the lines above the scene are on their way, and it moves
    engine.click("button", "Present")
    engine.wait("() => document.documentElement.matches('[data-presenting]')")
    engine.click("button", "Next →")
    asked = engine.wait(SCENE, scene)
    engine.click(".question.open .options button", "Two FFNs in a row")
    engine.wait(TOLD)
    assert engine.wait(FITTED)
    engine.click("button", "← Back")  # the question's room is the picture's again
    assert engine.wait(SCENE, asked) == scene
    assert engine.wait(FITTED)
    engine.click("button", "End the talk")
    engine.wait("() => !document.documentElement.matches('[data-presenting]')")
    shown = engine.wait(DRAWN, "")
    assert shown | {"beside": True} == FINE  # a scene stands above all, with no list at its side
    assert engine.errors() == []


def test_a_phone_in_a_class(engine: Engine, open_address: str, new_page: OpenPage) -> None:
    lecturer = new_page(alone=True).page
    lecturer.goto(f"{open_address}/?scene=2")
    lecturer.get_by_role("button", name="Lecture", exact=True).click()
    lecturer.get_by_role("button", name="Open a class").click()
    lecturer.get_by_role("img", name="QR code of http").wait_for()
    code = lecturer.locator(".board .link").inner_text().rpartition("/")[2]
    lecturer.keyboard.press("Escape")
    engine.resize(390, 844)
    engine.open(f"{open_address}/class/{code}")
    scene = engine.wait(SCENE, "")
    lecturer.get_by_text("1 follows").wait_for()
    lecturer.get_by_role("button", name="Next →").click()
    engine.wait(SCENE, scene)
    assert engine.wait(DRAWN, "") == FINE
    assert engine.errors() == []


def test_a_sentence_is_typed_into_a_file(
    engine: Engine, live_file: Path, twins: dict[str, Model]
) -> None:
    engine.resize(1280, 720)
    engine.open(live_file.as_uri())
    engine.wait(SHOWN, LIVE_TEXT)
    engine.click("input")
    engine.ask("() => document.activeElement.select()")
    engine.type(TYPED)
    told = predict(twins["relu"], twins["relu"].trace(TYPED), 3)
    wanted = f"{told.words[0]}{percent(float(told.probabilities[0]))}"
    assert engine.wait(SHOWN, TYPED) == wanted
    assert engine.ask("() => document.querySelector('.notice').textContent") == ""
    assert engine.errors() == []
