"""What can be read under the components' address: what a browser needs, and no source."""

import re
import urllib.request
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, Route, expect

from ffnviz.export.browsers import NO_SCRIPT, OLD_BROWSER_JS, TOO_OLD
from tests.browser.conftest import OpenPage

COMPONENTS = Path(__file__).parents[2] / "ffnviz" / "pictures"


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # of this machine
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


@pytest.mark.parametrize(("path", "width"), [("", 390), ("neurons", 1280), ("journey", 1280)])
def test_a_page_asks_for_nothing_in_vain_nor_elsewhere_nor_for_a_font_before_it_is_wanted(
    browser: Browser, address: str, path: str, width: int
) -> None:
    missing: list[str] = []
    asked: list[str] = []
    with closing(browser.new_context(viewport={"width": width, "height": 844})) as context:
        page = context.new_page()
        page.on("response", lambda r: missing.append(r.url) if r.status >= 400 else None)
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.goto(f"{address}/{path}?text=It+rained.")
        page.get_by_role("group", name="Tokens of the sentence").first.wait_for()
        page.wait_for_timeout(500)
        assert not [url for url in asked if "MaterialSymbols" in url or "SourceSans" in url]
        if width < 768:
            with page.expect_request("**/MaterialSymbols*"):
                page.get_by_role("button", name="Expand sidebar").click()
        if path == "journey":
            page.get_by_role("button", name="What am I looking at?").first.click()
            page.locator(".note math").first.wait_for(state="attached")
            page.get_by_role("button", name="by index", exact=True).click()
            # The whole font comes with the first letter that its parts lack.
            assert page.evaluate("document.fonts.check('700 16px \"Source Sans\"', 'naïve → ≤')")
            with page.expect_request("**/SourceSansVF-Upright*"):
                page.get_by_role("textbox", name="Sentence").fill("Дождь [MASK].")
    assert missing == []
    ours = (address, address.replace("http", "ws", 1), "data:", "blob:")
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith(ours)] == []


def test_scripts_that_a_first_visit_leaves_for_later_are_asked_for_until_they_come(
    new_page: OpenPage,
) -> None:
    page = new_page(alone=True).page
    failed: list[str] = []

    def fail(route: Route) -> None:
        failed.append(route.request.url)
        route.abort()

    page.route("**/more_pictures.*", fail)
    page.goto(f"{new_page().address}/?text=It+rained.")
    page.get_by_role("group", name="Tokens of the sentence").first.wait_for()
    for _ in range(100):
        if failed:
            break
        page.wait_for_timeout(100)
    assert len(failed) == 1, "while nothing else wanted them"
    page.unroute("**/more_pictures.*")
    with page.expect_response("**/more_pictures.*"):
        page.get_by_role("link", name="Learn").click()
    expect(page.locator("[data-cell=learn-bar] .buttons")).to_be_visible()
    expect(page.get_by_text("This picture could not be drawn")).to_have_count(0)


def test_the_pictures_are_served_and_no_source(new_page: OpenPage, address: str) -> None:
    new_page().open()  # a component may be registered only when first shown
    components = f"{address}/_stcore/bidi-components"
    for file in ("ffnviz.picture/adapter.js", "ffnviz.pictures/notes/ffn.html"):
        assert status_of(f"{components}/{file}") == 200
    sources = [path.name for path in COMPONENTS.glob("*.py")]
    assert "chart.py" in sources
    for component in ("picture", "pictures", "chart", "chips", "plotly"):
        for name in sources:
            for path in (name, f"../{name}", f"../components/{name}"):
                assert status_of(f"{components}/ffnviz.{component}/{path}") in (400, 404)


def test_a_sheet_is_hung_once_however_late_its_script_comes(browser: Browser, address: str) -> None:
    """Streamlit calls again and again meanwhile, and the sheet that came first has left."""
    held: list[Route] = []
    errors: list[str] = []
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.route("**/pictures.*.js", lambda route: held.append(route))
        page.goto(f"{address}/?text=It+rained.")
        idle = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
        page.get_by_role("textbox", name="Sentence").fill("It snowed.")
        expect(page).to_have_url(re.compile("snowed"))
        idle.wait_for()
        page.get_by_role("link", name="Block").click()
        expect(page).to_have_url(re.compile("/block"))
        idle.wait_for()
        assert page.locator(".sheet").count() == 0
        for route in held:
            route.continue_()
        page.get_by_role("group", name="Tokens of the sentence").wait_for()
        assert page.locator(".sheet").count() == 1
        expect(page.get_by_role("radio", name="The block")).to_be_visible()
    assert errors == []


def test_nothing_is_drawn_before_the_style_of_the_page_is_there(
    browser: Browser, address: str
) -> None:
    """It comes by a script of Streamlit's own, which a slow line may bring last."""
    held: list[Route] = []
    with closing(browser.new_context(viewport={"width": 1280, "height": 720})) as context:
        page = context.new_page()
        page.route("**/purify.es.*.js", lambda route: held.append(route))
        page.goto(f"{address}/exercises?text=It+rained.")
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        page.wait_for_timeout(500)
        assert page.locator(".sheet").count() == 0
        held[0].continue_()
        expect(page.locator(".sheet")).to_have_css("display", "grid")


OLD = """const { supports } = CSS;
CSS.supports = (...asked) =>
    !asked.includes("light-dark(red, red)") && supports.call(CSS, ...asked);"""


def test_an_old_browser_is_told_so_in_a_sentence(browser: Browser, address: str) -> None:
    with closing(browser.new_context()) as context:
        context.add_init_script(OLD)
        page = context.new_page()
        page.goto(address)
        expect(page.locator("body")).to_have_text(TOO_OLD)
        page.set_content(f"<script>{OLD_BROWSER_JS}</script><p>of a file</p>")
        expect(page.locator("body")).to_have_text(TOO_OLD)


def test_a_browser_without_scripts_is_told_so_in_a_sentence(browser: Browser, address: str) -> None:
    with closing(browser.new_context(java_script_enabled=False)) as context:
        page = context.new_page()
        page.goto(address)
        assert page.locator("body").inner_text().strip() == NO_SCRIPT
