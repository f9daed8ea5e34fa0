"""The Lab: what it claims, what it measures, and what its buttons and sliders do."""

import re
from pathlib import Path

from playwright.sync_api import Dialog, Locator, expect

from ffnviz.analysis.lab import EXPERIMENTS, try_all
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.models.encoder.model import Model
from ffnviz.parts.lab import fit
from tests.browser.conftest import OpenPage
from tests.browser.journey import PATIENCE_MS, Journey, box_of, download
from tests.browser.looks import pages_of

SENTENCE = "The cat sat on the mat."
TOKEN = 2


def opened(new_page: OpenPage, part: str, **more: str) -> Journey:
    """A part of the Lab with this sentence and token."""
    return new_page().open_page("lab", text=SENTENCE, token=str(TOKEN + 1), part=part, **more)


def claims(journey: Journey) -> Locator:
    return journey.page.locator(".verdicts li")


def test_all_claims_are_tested_in_one_go_saved_as_a_handout_and_lead_to_their_experiments(
    new_page: OpenPage, twins: dict[str, Model], tmp_path: Path
) -> None:
    journey = new_page(alone=True)
    page = journey.page
    page.goto(f"{journey.address}/lab?text={SENTENCE}&token={TOKEN + 1}")
    doing = journey.text(f"{len(EXPERIMENTS)} experiments")
    # A second run of this test finds what the first had computed.
    expect(doing.or_(claims(journey).first).first).to_be_visible()
    expect(claims(journey).first).to_be_visible(timeout=2 * PATIENCE_MS)
    tested = try_all(Subject(twins["relu"], twins["relu"].trace(SENTENCE), 1, TOKEN))
    findings = [finding for each in tested for finding in each.findings]
    expect(claims(journey)).to_have_count(len(findings))
    shown = [" ".join(text.split()) for text in claims(journey).all_inner_texts()]
    for text, finding in zip(shown, findings, strict=True):
        assert finding.claim in text
        assert " ".join(finding.verdict_text.split()) in text
    path = tmp_path / "handout.html"
    download(page.get_by_role("button", name="Handout")).save_as(path)

    opened = page.locator(".verdicts h3 button[aria-expanded=true]")
    expect(opened).to_have_count(1)
    expect(claims(journey).last).to_be_hidden()
    page.get_by_role("button", name=re.compile("^Dropout .*constructed")).click()
    expect(opened).to_contain_text("Dropout")
    last = claims(journey).filter(visible=True).last
    expect(last).to_contain_text("leaves the prediction unchanged")
    page.get_by_role("button", name="Dropout →").click()
    expect(journey.chart("lab-passes")).to_be_visible()
    assert journey.query()["part"] == "residual"
    page.get_by_role("radio", name="All claims").click()
    expect(claims(journey).first).to_be_visible()
    journey.box.fill("Another sentence.")
    journey.box.press("Enter")
    expect(journey.text("for another sentence or setting")).to_be_visible()

    page.context.set_offline(True)
    page.goto(path.as_uri())
    expect(page.locator("blockquote")).to_have_text(SENTENCE)
    titles = [each.experiment.title for each in tested if each.findings]
    assert page.locator("h2").all_inner_texts() == titles
    assert page.locator("figure svg").count() == 3
    assert pages_of(page.pdf(format="A4", prefer_css_page_size=True)) == 1
    assert page.locator("tr").count() == len(findings)


def test_what_is_typed_stays_text_in_the_lab(new_page: OpenPage, twins: dict[str, Model]) -> None:
    typed = "<img src=x onerror=alert(1)> **b** $x$ `c`"
    journey = new_page(alone=True)
    hits: list[str] = []

    def noticed(dialog: Dialog) -> None:
        hits.append(dialog.message)
        dialog.dismiss()

    journey.page.on("dialog", noticed)
    journey.page.goto(f"{journey.address}/lab")
    journey.chips.first.wait_for()
    journey.box.fill(typed)
    journey.box.press("Enter")
    expect(journey.chips).to_have_count(len(twins["relu"].trace(typed).tokens))
    journey.part("Position-wise").part("shared weights")
    journey.page.locator(".verdicts[data-painted]").wait_for()
    journey.part("tokens moved")
    journey.chart("lab-maps").wait_for()
    assert hits == []
    assert journey.page.locator('[data-testid="stMain"] img').count() == 0


def test_a_function_is_drawn_by_pointer_or_arrows_and_linked(new_page: OpenPage) -> None:
    journey = opened(new_page, "fit", function="my drawing")
    canvas = journey.page.locator(".drawing canvas")
    before = journey.query().get("curve")
    bounds = box_of(canvas)
    journey.page.mouse.move(bounds["x"] + 12, bounds["y"] + 130)
    journey.page.mouse.down()
    journey.page.mouse.move(bounds["x"] + bounds["width"] - 12, bounds["y"] + 20, steps=4)
    journey.page.mouse.up()
    journey.settle()
    drawn = journey.query()["curve"]
    assert drawn != before
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDE"
    heights = [digits.index(sign) for sign in drawn]
    assert heights == sorted(heights)  # a stroke upwards, with no place skipped
    assert heights[0] < 8
    assert heights[-1] > 32
    canvas.focus()
    for _ in range(4):
        canvas.press("ArrowDown")
    journey.settle()
    lowered = [digits.index(sign) for sign in journey.query()["curve"]]
    assert lowered[16] < heights[16]
    assert lowered[:16] == heights[:16]
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert [digits.index(sign) for sign in journey.query()["curve"]] == lowered
    expect(claims(journey)).to_have_count(2, timeout=2 * PATIENCE_MS)  # fitted unasked
    expect(journey.text("Press “Fit” again")).to_have_count(0)


def corners_of(journey: Journey) -> list[tuple[int, int]]:
    """The corners in the link, in columns and rows."""
    places = [fit.SIGNS.index(sign) for sign in journey.query()["corners"]]
    return list(zip(places[::2], places[1::2], strict=True))


def test_corners_are_moved_by_pointer_or_arrows_and_linked(new_page: OpenPage) -> None:
    journey = opened(new_page, "fit", fit_view="hand")
    said = journey.sentence("hand")
    handle = journey.page.locator(".handles circle[role=slider]").nth(1)
    bounds = box_of(handle)
    x, y = bounds["x"] + bounds["width"] / 2, bounds["y"] + bounds["height"] / 2
    journey.page.mouse.move(x, y)
    journey.page.mouse.down()
    journey.page.mouse.move(x + 15, y - 40, steps=4)
    journey.page.mouse.up()
    journey.settle()
    moved = corners_of(journey)
    assert moved[1][0] > 15
    assert moved[1][1] > 30
    assert [moved[at] for at in (0, 2, 3, 4)] == [(0, 30), (30, 30), (45, 30), (60, 30)]
    assert journey.sentence("hand") != said
    handle.focus()
    for key in ("ArrowLeft", "ArrowDown", "ArrowDown"):
        handle.press(key)
    journey.settle()
    assert corners_of(journey)[1] == (moved[1][0] - 1, moved[1][1] - 2)
    first = journey.page.locator(".handles circle[role=slider]").first
    first.focus()
    first.press("ArrowRight")
    journey.settle()
    assert corners_of(journey)[0] == (0, 30), "the outer corners stay in their columns"


def test_a_finger_drags_a_corner_and_scrolls_the_page_anywhere_else(phone: Journey) -> None:
    page = phone.page
    page.goto(f"{phone.address}/lab?part=fit&fit_view=hand")
    picture = page.locator(".handles svg")
    picture.scroll_into_view_if_needed()
    corner = page.locator(".handles circle[role=slider]").nth(1).bounding_box()
    all_ = picture.bounding_box()
    assert corner
    assert all_
    finger = page.context.new_cdp_session(page)

    def drag(x: float, y: float, by: float) -> None:
        for step in range(6):
            point = {"x": x, "y": y + by * step / 5}
            kind = "touchMove" if step else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    drag(corner["x"] + 25, corner["y"] + 5, -60)  # beside it: a finger is broad
    phone.settle()
    moved = corners_of(phone)
    assert moved[1][1] > 30
    before = page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    drag(all_["x"] + all_["width"] / 2, all_["y"] + all_["height"] - 4, -60)
    scrolled = "([before]) => document.querySelector('[data-testid=stMain]').scrollTop > before"
    page.wait_for_function(scrolled, arg=[before])
    assert corners_of(phone) == moved
