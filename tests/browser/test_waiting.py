"""Two visitors who want something heavy: the second waits; a page says how far its own is."""

from playwright.sync_api import expect

from ffnviz.app.mounting import mount_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.text import StepProgress, text_cell
from tests.browser.conftest import OpenPage
from tests.browser.plain_page import PlainPage

LONG = "The cat sat on the mat, the dog sat on the floor beside her, and nobody knew where she was."


def test_the_second_waits_for_the_first_and_goes_on_when_its_tab_is_closed(
    new_page: OpenPage,
) -> None:
    first, second = new_page(), new_page()
    first.page.goto(f"{first.address}/lab?text={LONG}&part=hears&length=24&depth=6")
    doing = first.page.locator('[data-cell="doing"]')  # nothing else is on the sheet yet
    expect(doing).to_have_text("Differentiating ten kinds of layers …")
    second.page.goto(f"{second.address}/lab?text={LONG}&part=hears&length=2&depth=1")
    expect(second.text("Waiting for 1 other …")).to_be_visible()
    first.page.close()
    second.chart("lab-influence").wait_for()
    assert "Over 2 tokens in 1 layer an RNN takes 2 sequential steps" in second.sentence(
        "lab-influence"
    )
    expect(second.text("Waiting for")).to_have_count(0)


def test_the_place_of_a_result_says_which_step_is_done(plain: PlainPage) -> None:
    steps = StepProgress("patch", "Opening the network …", (("block", 12), ("pass", 2_280)))
    words = plain.hang("here", lambda: mount_cell(text_cell("soon", "Soon.", progress=steps)))
    shown = words.locator(".progress")
    expect(shown).to_be_hidden()

    def told(share: float, waits: str = "", name: str = "patch") -> None:
        told = {"name": name, "share": share, "waits": waits, "mine": False}
        mount_cell(Cell("progress", "progress", {"measurements": [told]}))

    plain.hang("told", lambda: told(0))
    expect(shown).to_have_text("Opening the network …")
    for share, said in ((1 / 2_280, "block 1 of 12, pass 2 of 2,280"),
                        (0.5, "block 7 of 12, pass 1,141 of 2,280"),
                        (1, "block 12 of 12, pass 2,280 of 2,280")):  # fmt: skip
        plain.update("told", lambda share=share: told(share))  # type: ignore[misc]
        expect(shown).to_have_text(f"Now: {said}.")
    plain.update("told", lambda: told(0.1, "Waiting for 1 other …"))
    expect(shown).to_have_text("Waiting for 1 other …")
    plain.update("told", lambda: told(0.9, name="another"))
    plain.update("here", lambda: mount_cell(text_cell("soon", "Soon.", progress=steps)))
    expect(shown).to_be_hidden()
