"""How a page looks to a person: what faults.js, phone_faults.js and axe complain of."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

FAULTS = Path(__file__).with_name("faults.js").read_text(encoding="utf-8")
PHONE_FAULTS = Path(__file__).with_name("phone_faults.js").read_text(encoding="utf-8")
PHONE, ON_ITS_SIDE = (390, 844), (844, 390)
HALL = 1920  # where no type may be smaller than SMALLEST pixels
SMALLEST = 16
FINGER, LEGIBLE = 44, 12  # pixels, of what is pressed; of type on a phone
AXE = "async ([within, asked]) => (await axe.run(within || document, asked)).violations"

# True once every chart has been drawn for the room it has now.
FITTED = """([width, height]) => {
    const near = (a, b) => Math.abs(a - b) <= 1;
    const plots = [...document.querySelectorAll("*")]
        .flatMap((e) => [...(e.shadowRoot?.querySelectorAll(".plot") ?? [])]);
    return innerWidth === width && innerHeight === height && plots.every((plot) => {
        const drawn = plot.querySelector(".main-svg");
        return drawn && near(drawn.clientWidth, plot.clientWidth)
            && near(drawn.clientHeight, plot.clientHeight);
    });
}"""
# Sizes are told to the pictures with the next frame.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def resized(page: Page, width: int, height: int) -> None:
    """Give the window a size, and wait until everything stands as it does there."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(FRAMES)
    page.wait_for_function(FITTED, arg=[width, height])


def seen_at(page: Page, width: int, height: int, parts: bool = False) -> list[str]:
    """What a person would complain of in a window of that size."""
    resized(page, width, height)
    smallest = SMALLEST if width == HALL else 0
    found: list[str] = page.evaluate(FAULTS, {"smallest": smallest, "parts": parts})
    if (width, height) in (PHONE, ON_ITS_SIDE):
        found += page.evaluate(PHONE_FAULTS, {"smallest": LEGIBLE, "target": FINGER})
    return found


def violations(page: Page, rules: Sequence[str] = (), within: str = "") -> list[Any]:
    """What axe says of these rules, or of all; of what a selector finds, or of the whole page.

    Its 500 kB of script are read once by each document, not at each look.
    """
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(Axe().axe_script)
    asked = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found: list[Any] = page.evaluate(AXE, [within, asked])
    return found


def check_file(page: Page, width: int, height: int, *, dark: bool) -> None:
    """A page that is a file fits a window of that size, in the light or in the dark."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    for _ in range(2):
        page.evaluate(FRAMES)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    faults = page.evaluate(FAULTS, {"smallest": 0})
    # On a phone the tokens stand in a row that is moved along.
    assert [each for each in faults if width > 700 or not each.startswith("cut:")] == []
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations(page)] == []


def pages_of(pdf: bytes) -> int:
    """How many sheets of paper a PDF of Chromium's has."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))
