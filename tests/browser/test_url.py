"""The URL is the state: reload it, share it, go back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.journey import FIRST, Journey

STATE = {
    "text": "The dogs [MASK] here.",
    "twin": "gelu",
    "block": "2",
    "token": "2",
    "order": "strength",
    "neuron": "relu-77",
}
ALONG = {"twin": "gelu", "block": "2"}  # to every page


def state(journey: Journey) -> dict[str, object]:
    """What a person sees of it."""
    page = journey.page
    return {
        "text": journey.box.input_value(),
        "token": page.locator('.row [aria-pressed="true"] bdi').all_inner_texts(),
        "order": page.locator('.orders [aria-pressed="true"]').all_inner_texts(),
        "neuron": journey.card().locator("h3").inner_text(),
        "sentences": page.locator(".sentence").all_inner_texts(),
    }


def test_the_url_holds_what_is_shown_back_and_forward(new_page: OpenPage) -> None:
    journey = new_page().open()
    assert journey.query() == {"text": FIRST, "twin": "relu", "block": "2", "token": "4"}
    journey.write(STATE["text"]).settle()
    journey.page.go_back()
    journey.wait_for(FIRST)
    assert journey.box.input_value() == FIRST
    journey.page.go_forward()
    journey.wait_for(STATE["text"])
    assert journey.box.input_value() == STATE["text"]
    journey.settle().choose("GELU").choose("block 1")
    assert journey.query()["twin"] == "gelu"
    assert journey.query()["block"] == "1"
    assert journey.page.locator(".picture .step small").all_inner_texts()[1] == "GELU"


def test_a_link_shows_the_same_thing_elsewhere_and_after_a_reload(new_page: OpenPage) -> None:
    here = new_page().open(**STATE)
    assert here.query() == STATE
    seen = state(here)
    assert seen["token"] == ["dogs"]
    assert str(seen["neuron"]).startswith("Neuron 2:77 · ReLU")
    here.page.reload()
    here.wait_for(STATE["text"])
    assert state(here) == seen
    elsewhere = new_page()
    elsewhere.page.goto(here.page.url)
    elsewhere.wait_for(STATE["text"])
    assert state(elsewhere) == seen


def test_the_first_page_has_a_name_the_sentence_goes_along_and_the_parts_are_links(
    new_page: OpenPage,
) -> None:
    journey = new_page().open_page("journey", **STATE)
    assert journey.query() == STATE
    assert journey.page.get_by_role("dialog").count() == 0
    current = journey.page.locator('header a[aria-current="page"]')
    assert current.all_inner_texts() == ["Journey"]
    for name, path in (("Activation", "/sparsity"), ("Journey", "/"), ("Activation", "/sparsity")):
        journey.page.get_by_role("link", name=name).first.click()
        journey.page.wait_for_function(
            "(path) => location.pathname === path && location.search", arg=path
        )
        journey.wait_for(STATE["text"]).settle()
        assert current.all_inner_texts() == [name]
        assert {name: journey.query()[name] for name in ("twin", "block")} == ALONG
        if path == "/":
            assert journey.query() == STATE
    assert "part" not in journey.query()
    journey.part("Active neurons").part("neurons that never fire")
    expect(journey.chart("never")).to_be_visible()
    assert journey.query()["part"] == "awake"
    assert journey.query()["training_view"] == "never"
    journey.page.reload()
    journey.wait_for(STATE["text"])
    expect(journey.chart("never")).to_be_visible()
    for _ in range(2):
        journey.page.go_back()
        journey.settle()
    expect(journey.chart("bend").first).to_be_visible()


def test_a_garbled_url_falls_back_to_what_there_is(new_page: OpenPage) -> None:
    journey = new_page().open(twin="tanh", block="-3", token="٣", order="x", neuron="relu-99999")
    assert journey.query()["twin"] == "relu"
    assert journey.query()["block"] == "2"
    journey.open_page("dimensions/x/y", text="The dogs ran.")  # below a page is that page
    assert journey.page.url.startswith(f"{journey.address}/dimensions?")


def test_the_first_back_leaves_the_page(new_page: OpenPage) -> None:
    """The bare address is no step of its own, neither here nor on a page that a link leads to."""
    journey = new_page()
    journey.page.goto("about:blank")
    journey.page.goto(f"{journey.address}/")
    journey.wait_for(FIRST).settle()
    assert journey.query()["token"] == "4"
    journey.page.get_by_role("link", name="Dimensions").click()
    journey.settle()
    assert journey.query()["text"] == FIRST
    journey.page.go_back()
    journey.settle()
    assert journey.page.url.split("?")[0] == f"{journey.address}/"
    journey.page.go_back()
    assert journey.page.url == "about:blank"


@pytest.mark.parametrize("link", ["text=Hello%20there.", "text=It+rained.&twin=gelu"])
def test_a_link_that_says_little_is_one_step(new_page: OpenPage, link: str) -> None:
    journey = new_page()
    journey.page.goto("about:blank")
    journey.page.goto(f"{journey.address}/?{link}")
    journey.page.wait_for_url(re.compile("token="))
    journey.settle()
    journey.chips.first.click()  # what a person does is a step of its own
    journey.page.wait_for_url(re.compile("token=1(&|$)"))
    journey.page.go_back()
    journey.page.wait_for_url(lambda url: "token=1" not in url)
    journey.page.go_back()
    journey.page.wait_for_url("about:blank")


def test_a_page_that_stays_white_is_loaded_again_once(new_page: OpenPage) -> None:
    """The error is Streamlit's own, and rare: here we raise it ourselves."""
    journey = new_page().open()
    error = "Uncaught TypeError: Cannot destructure property 'deltaPath' of 'n' as it is null."
    raised = "message => window.dispatchEvent(new ErrorEvent('error', { message }))"
    for loads_again in (True, False):
        journey.page.evaluate("window.sameLoad = true")
        journey.page.evaluate(raised, error)
        if loads_again:
            journey.page.wait_for_function("!window.sameLoad")
            journey.wait_for(FIRST)
    assert journey.page.evaluate("window.sameLoad")
    journey.page.evaluate(raised, "some other error")
    assert journey.page.evaluate("window.sameLoad")
