"""A notebook's widget in Chromium: view.js with a model like anywidget's, and Python behind it."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import ffnviz
from tests.browser.journey import box_of

pytest.importorskip("anywidget")
ADDRESS = "http://notebook.test/"
TEXT = "The little girl opened the [MASK] and looked out."
PAGE = """<!doctype html><html lang="en"><title>A notebook</title><body><div id="cell"></div>
<script type="module">
    import widget from "./view.mjs";
    const letters = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const from64 = (text) => new DataView(letters(text).buffer);
    const listeners = {}, values = {};
    window.sent = [];
    window.listening = () => Object.values(listeners).flat().length;
    const model = {
        get: (name) => values[name],
        on: (what, call) => (listeners[what] ??= []).push(call),
        off: (what, call) => { listeners[what] = listeners[what].filter((each) => each !== call); },
        send: (content) => window.sent.push(content),
    };
    window.show = (sheet) => {
        values._sheet = from64(sheet);
        for (const call of listeners["change:_sheet"] ?? []) call();
    };
    window.answer = (content, bytes) => {
        for (const call of listeners["msg:custom"]) call(content, [from64(bytes)]);
    };
    window.mount = (sheet) => {
        window.show(sheet);
        const ends = [widget.initialize({ model })];
        ends.push(widget.render({ model, el: document.getElementById("cell") }));
        window.destroy = () => ends.forEach((end) => end());
    };
    window.ready = true;
</script></body></html>"""


class Kernel:
    """What a notebook does between a widget's two halves."""

    def __init__(self, page: Page, view: Any) -> None:
        self.page, self.view = page, view
        view.send = lambda content, buffers: page.evaluate(
            "([content, bytes]) => window.answer(content, bytes)",
            [content, base64.b64encode(buffers[0]).decode()],
        )
        page.route(f"{ADDRESS}**", self._serve)
        page.goto(ADDRESS)
        page.wait_for_function("window.ready")
        self.draw("mount")

    def _serve(self, route: Any) -> None:
        script = route.request.url.endswith(".mjs")
        kind = "text/javascript" if script else "text/html; charset=utf-8"
        route.fulfill(body=str(self.view._esm) if script else PAGE, content_type=kind)

    def draw(self, how: str = "show") -> None:
        """Give the browser what Python has."""
        sheet = base64.b64encode(self.view._sheet).decode()
        self.page.evaluate(f"(sheet) => window.{how}(sheet)", sheet)

    def carry(self) -> None:
        """Give Python what the browser has sent, and the browser what follows."""
        self.page.wait_for_function("window.sent.length")
        for content in self.page.evaluate("window.sent.splice(0)"):
            self.view._handle_custom_msg(content, [])
        self.draw()


@pytest.fixture
def faults(page: Page) -> Iterator[list[str]]:
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    yield found
    assert not found


def test_a_click_reaches_python_what_python_sets_is_drawn_and_all_is_given_back(
    page: Page, faults: list[str]
) -> None:
    assert not faults
    view: Any = ffnviz.view(ffnviz.load("relu").trace(TEXT))
    heard: list[Any] = []
    view.observe(lambda change: heard.append(change.new), ["token", "neuron"])
    kernel = Kernel(page, view)
    chip = page.get_by_role("group", name="Tokens of the sentence").get_by_role("button")
    chip.filter(has_text="girl").first.click()
    kernel.carry()
    assert view.token == 2
    expect(chip.filter(has_text="girl").first).to_have_attribute("aria-pressed", "true")
    canvas = page.locator("canvas[data-name]").first
    canvas.scroll_into_view_if_needed()
    bounds = box_of(canvas)
    page.mouse.click(bounds["x"] + bounds["width"] / 2, bounds["y"] + bounds["height"] / 2)
    kernel.carry()
    assert view.neuron is not None
    assert heard == [2, view.token, view.neuron]
    view.token, view.neuron = 5, 1709
    kernel.draw()
    expect(page.locator("article .card h3")).to_contain_text("1709")
    expect(chip.filter(has_text="[MASK]").first).to_have_attribute("aria-pressed", "true")
    for nowhere in ("Edit the sentence", "Meet this neuron →"):
        expect(page.get_by_role("button", name=nowhere)).to_have_count(0)
    page.evaluate("window.destroy()")
    assert page.evaluate("window.listening()") == 0
    expect(page.locator("#cell > *")).to_have_count(0)


def test_no_label_of_the_flow_is_cut(page: Page, faults: list[str]) -> None:
    assert not faults
    Kernel(page, ffnviz.view.flow(ffnviz.load("relu").trace(TEXT)))
    last = page.locator("figcaption b").filter(has_text="new stream")
    expect(last).to_be_visible()
    for width in (1000, 800, 600):
        page.set_viewport_size({"width": width, "height": 700})
        # The notebook gives the cell its width with the next frame or two.
        page.wait_for_function(
            """(name) => {
                const range = document.createRange();
                range.selectNodeContents(name);
                const picture = name.closest(".picture").getBoundingClientRect();
                return range.getBoundingClientRect().right - picture.right <= 1;
            }""",
            arg=last.element_handle(),
        )
