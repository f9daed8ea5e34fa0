"""The Journey taken home: a file that a person opens without a server and without a network."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

import ffnviz
from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.analysis.neurons.memory import whole_first, written_words
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.export.document import LARGEST
from ffnviz.lecture.html_file import lecture_html
from ffnviz.models.encoder.model import Model
from ffnviz.pictures.wording import percent, signed
from tests.browser.conftest import OpenPage
from tests.browser.journey import download
from tests.browser.looks import FRAMES, check_file, violations
from tests.lecture.lecture_runs import catalog, lecture, run_of_scene, said

TEXT = "She opened the <b>[MASK]</b> and looked out."
LABELS = {"relu": "ReLU", "gelu": "GELU"}
DRAWN = """(token) => {
    const all = [...document.querySelectorAll(".picture:not([hidden])")];
    return all.length === 5 && all.every(({ shadowRoot }) => {
        const painted = shadowRoot.querySelector("[data-painted]")?.dataset.painted;
        return painted && (token === null || JSON.parse(painted).token === token);
    });
}"""


@contextmanager
def offline(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page without a network, and what went wrong on it or was asked for elsewhere."""
    context = browser.new_context(offline=True)
    faults: list[str] = []
    try:
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text))
        page.on("request", lambda asked: faults.append(asked.url)
                if not asked.url.startswith(("file:", "data:", "blob:")) else None)  # fmt: skip
        yield page, faults
    finally:
        context.close()


def drawn(page: Page, token: int | None = None) -> None:
    """Wait until all five pictures show the same."""
    page.wait_for_function(DRAWN, arg=token)


def test_the_journey_is_saved_and_opened_without_a_server(
    new_page: OpenPage, browser: Browser, twins: dict[str, Model], tmp_path: Path
) -> None:
    journey = new_page().open(text=TEXT)
    journey.press("Take home")
    saved = download(journey.page.get_by_role("button", name="Save the file"))
    assert saved.suggested_filename == "ffnviz-journey.html"
    file = tmp_path / "page.html"
    saved.save_as(file)
    with offline(browser) as (page, faults):
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.goto(file.as_uri())
        drawn(page)
        read(page, twins)
        look(page)
        page = page.context.new_page()  # as a notebook has it
        page.on("console", lambda said: faults.append(said.text))
        page.set_content(ffnviz.show(twins["gelu"].trace("A cat sat."))._repr_html_())
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name="ReLU", exact=True).click()
        frame.get_by_role("group", name="Tokens of the sentence").get_by_text("cat").click()
        sentence = frame.locator(".neuron_card .sentence")
        expect(sentence).to_contain_text("this one adds most to")
    assert faults == []


def read(page: Page, twins: dict[str, Model]) -> None:
    """Whatever is chosen, the file says what the network says."""
    expect(page.locator("h1")).to_have_text(TEXT)
    chips = page.get_by_role("group", name="Tokens of the sentence").locator("[aria-pressed]")
    for network, block, token in (("relu", 1, 7), ("relu", 0, 2), ("gelu", 0, 5), ("gelu", 1, 0)):
        page.get_by_role("button", name=LABELS[network], exact=True).click()
        page.get_by_role("button", name=f"block {block + 1}", exact=True).click()
        chips.nth(token).click()
        drawn(page, token)
        model = twins[network]
        trace = model.trace(TEXT)
        panels = page.locator(".leads li")
        says = predict(model, trace, token)
        without = predict_without_ffn(model, trace, block, token)
        for found, told in ((panels.first, says), (panels.nth(10), without)):
            best = f"{told.words[0]}{percent(float(told.probabilities[0]))}"
            expect(found).to_have_text(best)
        hidden = trace.blocks[block].ffn.hidden
        awake = int((hidden[token].abs() > (0.1 if network == "gelu" else 0)).sum())
        note = page.locator('.ffn_picture [data-stage="hidden"] > small')
        expect(note).to_have_text(f"{awake:,} active")
        added = direct_contributions(model, trace, token, int(says.ids[0]), block)
        neuron = int(added.argmax())
        expect(page.locator(".card h3")).to_contain_text(f"Neuron {block + 1}:{neuron} ·")
        words = page.locator(".card p bdi").all_inner_texts()
        assert words == whole_first(written_words(model, block, neuron, k=32)[0].words)[:8]
    # A click on a map and the keyboard choose a neuron; the card has its value on every token.
    page.locator('canvas[data-name="relu"]').click(position={"x": 5, "y": 5})
    title = page.locator(".card h3").inner_text()
    assert title.startswith("Neuron 2:")
    assert title.endswith("· ReLU")
    neuron = int(title.split()[1].removeprefix("2:"))
    hidden = twins["relu"].trace(TEXT).blocks[1].ffn.hidden[:, neuron]
    values = page.locator(".card li b").all_inner_texts()
    assert values == ["0" if v == 0 else signed(float(v)) for v in hidden]
    page.locator('canvas[data-name="relu"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".card h3")).not_to_contain_text(f"Neuron 2:{neuron} ·")
    page.get_by_role("button", name="by index").click()
    page.get_by_role("button", name="What am I looking at?").nth(1).click()
    expect(page.locator(".ffn_picture .note")).to_contain_text("Vaswani et al. 2017")
    page.keyboard.press("Escape")
    page.locator(".ffn_picture .sentence .term").first.click()
    expect(page.locator(".ffn_picture .term-box:popover-open")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".leads").get_by_role("button", name="Save or enlarge").click()
    saved = download(page.locator(".leads").get_by_role("button", name="Save as PNG"))
    assert saved.path().stat().st_size > 10_000


def look(page: Page) -> None:
    """It fits windows and phones, light and dark."""
    for width, height, dark in ((1920, 1080, False), (1280, 720, True), (390, 844, False)):
        page.set_viewport_size({"width": width, "height": height})
        drawn(page)
        check_file(page, width, height, dark=dark)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(14, 17, 23)" if dark else "rgb(255, 255, 255)")


HUNG = """(at) => {
    const all = [...document.querySelectorAll(".pictures .picture:not([hidden])")];
    return location.hash === `#${at + 1}` && all.every(({ shadowRoot }) => {
        const painted = shadowRoot.querySelector("[data-painted]")?.dataset.painted;
        return painted && (painted === String(at) || painted.startsWith("{"));
    });
}"""


def test_our_lecture_is_one_file_that_keys_lead_through(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "lecture.html"
    ours = lecture()
    file.write_text(lecture_html(ours, catalog()), encoding="utf-8")
    assert file.stat().st_size < LARGEST
    with offline(browser) as (page, faults):
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(file.as_uri())
        for at, scene in enumerate(ours.scenes):
            expect(page.locator("h2").first).to_have_text(scene.title)
            if scene.question is not None:
                expect(page.locator(".say")).to_be_hidden()
                expect(page.get_by_role("button", name="Show the answer")).to_be_visible()
                page.wait_for_function(HUNG, arg=at)  # its place is kept, and nobody sees it
                expect(page.locator(".pictures .picture").first).to_be_visible()
                expect(page.locator(".pictures .hung:visible")).to_have_count(0)
                page.keyboard.press("ArrowRight")
                right = page.locator(".options .right")
                expect(right).to_have_text(f"✓ {scene.question.options[scene.question.answer]}")
            page.wait_for_function(HUNG, arg=at)
            run = run_of_scene(scene)
            expect(page.locator(".say")).to_have_text(said(scene.say, run))
            assert page.locator(".pictures .picture").count() > 0
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Home")
        page.wait_for_function(HUNG, arg=0)
        chips = page.get_by_role("group", name="Tokens of the sentence").locator("[aria-pressed]")
        chips.nth(1).click()
        expect(page.locator(".leads .sentence")).to_contain_text("“fly” is not hidden")
        for width, height, scheme in ((390, 844, "dark"), (1920, 1080, "light")):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            for at in (0, 6, 12):
                page.locator("summary", has_text="All scenes").click()
                page.get_by_role("button", name=ours.scenes[at].title, exact=True).click()
                page.wait_for_function(HUNG, arg=at)
                page.evaluate(FRAMES)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                complaints = violations(page)
                assert [(each["id"], each["nodes"][0]["html"]) for each in complaints] == []
    assert faults == []
