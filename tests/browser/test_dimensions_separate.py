"""The Dimensions page: points put into the square by pointer and by keys."""

import numpy as np
from playwright.sync_api import expect

from ffnviz.parts.dimensions.separate import POINTS, Points, best_line, separate
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey


def counts(journey: Journey, phi: str, d_ff: int) -> tuple[str, str]:
    """What the sentence must say of the points in the link."""
    own = POINTS.parse(journey.query()["points"])
    points = Points(np.array([p[:2] for p in own]), np.array([p[2] for p in own]))
    right = separate(points, phi, d_ff, 0, trained=False).right
    return f"{right} of {len(own)} points", f"{best_line(points)}."


def test_what_is_clicked_in_stays_where_it_is_and_is_ahead_of_the_answers(
    new_page: OpenPage,
) -> None:
    journey = new_page(width=1280, height=720).open_page("dimensions", part="separate")
    canvas = journey.page.locator(".points canvas")
    before = canvas.bounding_box()
    journey.page.get_by_role("button", name="Clear").click()
    journey.settle()
    assert "no points yet" in journey.sentence("separate")  # one line shorter
    assert canvas.bounding_box() == before
    # Faster than any answer comes, squares and circles in turn: none gets lost.
    for place in range(12):
        journey.page.get_by_role("button", name=("circles", "squares")[place % 2]).click()
        canvas.click(position={"x": 30 + 30 * place, "y": 200})
    journey.settle()
    assert len(POINTS.parse(journey.query()["points"])) == 12
    assert "of 12 points" in journey.sentence("separate")
    assert canvas.bounding_box() == before


def test_points_are_put_and_taken_and_come_back_by_their_link(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", part="separate")
    assert "64 of 64 points" in journey.sentence("separate")
    canvas = journey.page.locator(".points canvas")
    journey.page.get_by_role("button", name="Clear").click()
    journey.settle()
    assert "no points yet" in journey.sentence("separate")
    expect(journey.chart("lifted")).to_have_count(0)  # of nothing there is nothing to see
    # A click puts a circle, another one on it takes it away; then four corners, crosswise.
    for _ in range(2):
        canvas.click(position={"x": 200, "y": 200})
    box = canvas.bounding_box()
    assert box
    far = box["width"] - 40
    for x, y in ((40, 40), (far, far)):
        canvas.click(position={"x": x, "y": y})
    journey.page.get_by_role("button", name="squares").click()
    for x, y in ((40, far), (far, 40)):
        canvas.click(position={"x": x, "y": y})
    journey.settle()
    assert len(POINTS.parse(journey.query()["points"])) == 4
    for part in counts(journey, "relu", 8):
        assert part in journey.sentence("separate")
    assert "better than 3." in journey.sentence("separate")
    # By keys: a square in the middle.
    canvas.focus()
    canvas.press("ArrowUp")
    canvas.press("Enter")
    journey.settle()
    assert (32, 33, False) in POINTS.parse(journey.query()["points"])
    expect(journey.page.locator(".points > .told")).to_have_text("squares put")
    journey.page.get_by_role("radio", name="identity").click()
    journey.settle()
    for part in counts(journey, "identity", 8):
        assert part in journey.sentence("separate")
    again = new_page().open_page("dimensions", **journey.query())
    assert again.sentence("separate") == journey.sentence("separate")
    assert again.page.locator(".points canvas").get_attribute("aria-label") == canvas.get_attribute(
        "aria-label"
    )
