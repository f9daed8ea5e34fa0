"""Memory in chunks, the FFN in groups, and the ways to write it, as their pages show them."""

import re

from playwright.sync_api import expect

from ffnviz.analysis.timing.memory import peak_by_hand
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "The cat sat on the mat."


def measured(new_page: OpenPage, page: str, **query: str) -> Journey:
    """The page with its first measurement, which waits for no press."""
    journey = new_page()
    given = "&".join(f"{name}={value}" for name, value in query.items())
    journey.page.goto(f"{journey.address}/{page}?text={SENTENCE}&{given}")
    journey.page.locator("figure[data-painted]").first.wait_for()
    return journey.settle()


def test_chunks_of_tokens_take_the_memory_that_arithmetic_says(new_page: OpenPage) -> None:
    journey = measured(new_page, "timing", part="memory", memory_tokens="256")
    whole, some = (peak_by_hand(256, chunk, 512, 2_048) / 1e6 for chunk in (256, 64))
    sentence = journey.sentence("memory")
    assert f"All 256 tokens at once take {whole:.1f} MB" in sentence
    assert f"64 at a time, {some:.1f} MB" in sentence
    journey.slide("tokens at a time", 0)
    assert "8 at a time" in journey.sentence("memory")
    assert journey.query()["chunk"] == "8"
    expect(journey.page.get_by_text("1 × d_ff numbers a token with ReLU")).to_be_visible()


def test_fewer_channels_are_heard_in_more_groups(new_page: OpenPage) -> None:
    journey = measured(new_page, "timing", part="grouped", repeats="5")
    assert "hears 64 of 512 inputs, 12% of the weights" in journey.sentence("grouped")
    journey.slide("groups", 9)
    assert "Depthwise, in 512 groups" in journey.sentence("grouped")
    assert "hears 1 of 512 inputs" in journey.sentence("grouped")
    assert "512 times fewer multiply-adds" in journey.sentence("grouped-times")
    assert journey.query()["groups"] == "512"
    journey.slide("groups", 0)
    assert "the output is off by" in journey.sentence("grouped")
    assert re.search(r"off by (0\.0|<0\.1)%", journey.sentence("grouped"))


def test_each_way_to_write_it_is_shown_and_run(new_page: OpenPage) -> None:
    journey = measured(new_page, "dimensions", part="forms")
    n = journey.chips.count()
    assert f"({n}, 512) → ({n}, 2,048) → ({n}, 512)" in journey.sentence("forms")
    for name, shapes, code in (
        ("columns", f"(512, {n}) → (2,048, {n}) → (512, {n})", "W2.T @ torch.relu(z)"),
        ("NumPy", f"({n}, 512) → ({n}, 2,048) → ({n}, 512)", "np.maximum(z, 0)"),
        ("a batch of 32", "(32, 128, 512) → (32, 128, 2,048) → (32, 128, 512)", "torch.randn(32"),
    ):
        journey.page.get_by_role("radio", name=name).click()
        journey.settle()
        assert shapes in journey.sentence("forms")
        expect(journey.page.get_by_test_id("stCode")).to_contain_text(code)
    assert journey.query()["form"] == "batch"
