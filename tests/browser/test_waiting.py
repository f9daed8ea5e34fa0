"""What is seen while something is computed: the cards to come, how far they are, and a way out."""

import os
import re
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import box_of
from tests.served import Server, free_port, served, started_by
from tests.waiting import until

LONG = "The cat sat on the mat, the dog sat on the floor beside her, and nobody knew where she was."
FRESH = "A quiet heron stood by the [MASK] for an hour."
SIZES = ((1280, 720), (390, 844))
GROWTH = "dimensions?part=cost&cost_view=growth"
HEARS = f"lab?part=positions&positions_view=hears&text={LONG}"
# Each part that measures, by its page, with how many cards will stand there.
MEASURING = {
    "timing?part=stages": 2, "timing?part=stages&stages_view=products": 1,
    GROWTH: 2, "dimensions?part=cost&cost_view=memory": 2,
    "dimensions?part=flow&shapes_view=forms": 1, "lab?part=claims": 1, "lab?part=bend": 3,
    "lab?part=positions&positions_view=hears": 2, "lab?part=fit": 3, "lab?part=residual": 4,
    "lab?part=linear&linear_view=frozen": 2, "block?part=turns": 1,
    "neurons?part=plant&plant_view=many": 2, "neurons?part=switch&switch_view=fact": 2,
}  # fmt: skip
CARD = '[data-kind="waiting"]'


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """A server whose measurements can be held."""
    with served(free_port()) as server:
        yield server


@contextmanager
def held(server: Server, page: Page) -> Iterator[None]:
    """No measurement gets on while the block runs."""
    page.goto(f"{server.url}/neurons?part=switch")  # starts the process that measures, and no more
    until(lambda: bool(_workers(server)) and queue(server) == 0)
    stopped = _workers(server)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in set(stopped) & set(_workers(server)):
            os.kill(pid, signal.SIGCONT)


def _workers(server: Server) -> list[int]:
    def is_one(pid: int) -> bool:
        return b"ffnviz.jobs.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()

    return [pid for pid in started_by(server.pid) if is_one(pid)]


def queue(server: Server) -> int:
    """How many measurements wait or run."""
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        found = re.search(r"^ffnviz_long_queue[^ ]* (\d+)", answer.read().decode(), re.MULTILINE)
    assert found
    return int(found[1])


def test_the_cards_that_will_stand_there_are_shown_at_once(new_page: OpenPage, own: Server) -> None:
    first, page = new_page().page, new_page().page
    with held(own, first):
        first.goto(f"{own.url}/{GROWTH}")
        until(lambda: queue(own) == 1)  # behind which all others wait
        for part, n_cards in MEASURING.items():
            page.goto(f"{own.url}/{part}&twin=gelu&block=1&text={FRESH}")
            cards, first_card = page.locator(CARD), page.locator(CARD).first
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                expect(cards).to_have_count(n_cards)
                for card in cards.all():
                    box = box_of(card)
                    assert box["height"] > 80, (part, width, box)
                    assert box["width"] > 200, (part, width, box)
                    assert card.locator(".sentence").inner_text(), (part, width)
                expect(first_card.get_by_role("progressbar")).to_be_visible()
                expect(first_card.get_by_role("button", name="Cancel")).to_be_visible()
            first_card.get_by_role("button", name="Cancel").click()
            expect(first_card.get_by_role("progressbar")).to_be_hidden()
            until(lambda: queue(own) == 1)
        first.locator(CARD).first.get_by_role("button", name="Cancel").click()
        until(lambda: queue(own) == 0)


def test_cancelled_it_can_be_begun_again_and_the_second_visitor_has_it_at_once(
    new_page: OpenPage, own: Server
) -> None:
    one, other = new_page().page, new_page().page
    with held(own, one):
        one.goto(f"{own.url}/{GROWTH}&twin=gelu")
        one.locator(CARD).first.get_by_role("button", name="Cancel").click()
    one.get_by_role("button", name="Measure").click()
    one.locator('[data-cell="growth-growth"] [data-painted]').wait_for()
    one.locator('[data-cell="growth-width"] [data-painted]').wait_for()
    expect(one.locator(CARD)).to_have_count(0)
    with held(own, other):
        other.goto(f"{own.url}/{GROWTH}&twin=gelu&block=1&text=Something else.")
        other.locator('[data-cell="growth-growth"] [data-painted]').wait_for()
        expect(other.locator(CARD)).to_have_count(0)


def test_whoever_has_left_a_part_waits_for_it_no_more(new_page: OpenPage, own: Server) -> None:
    journey = new_page()
    with held(own, journey.page):
        journey.page.goto(f"{own.url}/neurons?part=plant&plant_view=many&twin=gelu")
        journey.page.locator(CARD).first.wait_for()
        assert queue(own) == 1
        journey.choose_part("Switch off")
        until(lambda: queue(own) == 0)


def test_what_was_there_stays_until_the_new_is_there(new_page: OpenPage, own: Server) -> None:
    page = new_page().page
    page.goto(f"{own.url}/lab?part=bend&text=She opened the [MASK] and looked out.")
    old = page.locator('[data-cell="lab-without"]')
    old.locator("[data-painted]").wait_for()
    said = old.locator(".sentence").inner_text()
    with held(own, new_page().page):
        page.get_by_role("radio", name="block 1").click()
        expect(old).to_have_attribute("data-pale", "")
        assert old.locator(".sentence").inner_text() == said
        over = page.locator('[data-cell="waiting-bend"]')
        expect(over).to_contain_text("This is for another sentence or setting.")
    expect(over).to_have_count(0)
    expect(old).not_to_have_attribute("data-pale", "")


def test_the_second_waits_for_the_first_and_its_closed_tab(new_page: OpenPage) -> None:
    first, second = new_page(), new_page()
    first.page.goto(f"{first.address}/{HEARS}&length=24&depth=6")
    doing = "Computing the gradients of ten kinds of layers …"
    expect(first.page.get_by_text(doing)).to_be_visible()
    second.page.goto(f"{second.address}/{HEARS}&length=2&depth=1")
    expect(second.text("Waiting for 1 other …")).to_be_visible()
    first.page.close()
    second.chart("lab-influence").wait_for()
    assert "Over 2 tokens in 1 layer an RNN takes 2 sequential steps" in second.sentence(
        "lab-influence"
    )
    expect(second.text("Waiting for")).to_have_count(0)
