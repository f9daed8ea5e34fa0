"""A person's own points on the page Dimensions: put, taken away, and kept in the link."""

import numpy as np
from playwright.sync_api import expect

from ffnviz.parts.dimensions.separate import POINTS, Points, best_line, separate
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of


def says_what_is_right(journey: Journey, phi: str) -> None:
    """The sentence says of the points in the link what is computed of them here."""
    own = POINTS.parse(journey.query()["points"])
    points = Points(np.array([p[:2] for p in own]), np.array([p[2] for p in own]))
    right = separate(points, phi, 8, 0, trained=False).right
    for said in (f"{right} of {len(own)} points", f"{best_line(points)}."):
        assert said in journey.sentence("separate")


def test_points_are_put_and_taken_and_come_back_by_their_link(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open_page("dimensions", part="separate")
    assert "64 of 64 points" in journey.sentence("separate")
    canvas, clear = journey.page.locator(".points canvas"), "Clear"
    before = box_of(canvas)
    journey.press(clear)
    assert "no points yet" in journey.sentence("separate")  # one line shorter
    assert box_of(canvas) == before
    expect(journey.chart("lifted")).to_have_count(0)  # of nothing there is nothing to see
    # Faster than any answer comes, squares and circles in turn: none gets lost.
    for place in range(12):
        journey.page.get_by_role("button", name=("circles", "squares")[place % 2]).click()
        canvas.click(position={"x": 30 + 30 * place, "y": 200})
    journey.settle()
    assert len(POINTS.parse(journey.query()["points"])) == 12
    assert "of 12 points" in journey.sentence("separate")
    assert box_of(canvas) == before
    # A click puts a circle, another one on it takes it away; then four corners, crosswise.
    journey.press(clear)
    journey.page.get_by_role("button", name="circles").click()
    for _ in range(2):
        canvas.click(position={"x": 200, "y": 200})
    far = before["width"] - 40
    for shape, places in (("circles", ((40, 40), (far, far))), ("squares", ((40, far), (far, 40)))):
        journey.page.get_by_role("button", name=shape).click()
        for x, y in places:
            canvas.click(position={"x": x, "y": y})
    journey.settle()
    assert len(POINTS.parse(journey.query()["points"])) == 4
    says_what_is_right(journey, "relu")
    assert "better than 3." in journey.sentence("separate")
    # By keys: a square in the middle.
    canvas.focus()
    canvas.press("ArrowUp")
    canvas.press("Enter")
    journey.settle()
    assert (32, 33, False) in POINTS.parse(journey.query()["points"])
    expect(journey.page.locator(".points > .told")).to_have_text("squares put")
    journey.choose("identity")
    says_what_is_right(journey, "identity")
    again = new_page().open_page("dimensions", **journey.query())
    assert again.sentence("separate") == journey.sentence("separate")
    label = again.page.locator(".points canvas").get_attribute("aria-label")
    assert label == canvas.get_attribute("aria-label")
