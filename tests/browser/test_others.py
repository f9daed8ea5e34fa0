"""What other people found, as a visitor reads it: descriptions of neurons, features of an SAE."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

import ffnviz
from ffnviz.analysis.neurons.descriptions import Score
from ffnviz.models.encoder.model import Model
from tests.analysis.features.folders import drawn, encoded, saved
from tests.browser.conftest import ROOT, OpenPage, serving
from tests.browser.looks import seen_at

TEXT = "She opened the [MASK] and looked out."
MARKUP = (
    "<b>x</b><script>document.title = 'taken'</script><img src=x onerror=document.title='taken'>"
)
TOLD: dict[str, Any] = {"architecture": "topk", "k": 5}
NAMED = "mlp <b>50<i>"
EXAMPLES = "Find its strongest examples"
SIZES = ((390, 844), (1280, 720), (1920, 1080))


@dataclass(frozen=True)
class Given:
    """What the server was started with: each is sound, then the GELU twin's are spoilt."""

    address: str
    sae: Path
    descriptions_to_spoil: Path
    sae_to_spoil: Path


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
    folder = tmp_path_factory.mktemp("found")
    score = Score(0.5, "recall_alt", "o3")
    said = [
        ffnviz.Description("1", 469, MARKUP, "relu", "gpt-4o-mini", method="oai_token-act-pair"),
        ffnviz.Description("1", 469, "his and her", "relu", "Ada <i>", scores=(score,)),
    ]
    good, broken = folder / "said.jsonl", folder / "broken.jsonl"
    for file in (good, broken):
        ffnviz.write_descriptions(said, file)
    weights, hook = drawn("topk", 512, 50), "blocks.1.hook_mlp_out"
    sound, spoilt = (saved(folder / name, weights, hook, **TOLD) for name in (NAMED, "spoilt"))
    options = [
        f"--descriptions=relu={good}", f"--descriptions=gelu={broken}",
        f"--sae=relu={sound}", f"--sae=gelu={spoilt}",
    ]  # fmt: skip
    with serving([sys.executable, "-m", "ffnviz"], ROOT, options=options) as address:
        yield Given(address, sound, broken, spoilt)


@pytest.fixture
def address(given: Given) -> str:
    return given.address


def test_who_described_a_neuron_is_read_beside_it_and_markup_is_text(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", text=TEXT, neuron="relu-469", block="2")
    page = journey.page
    table = page.get_by_role("table").filter(has_text="said by")
    assert [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()] == [
        ["his and her", "Ada <i>", "0.50 (recall_alt, o3)"],
        [MARKUP, "gpt-4o-mini (oai_token-act-pair)", ""],
    ]
    expect(page.get_by_text("2 descriptions of this neuron in said.jsonl.")).to_be_visible()
    for tag in ("b", "script", "img", "i"):
        assert table.locator(tag).count() == 0
    assert "taken" not in page.title()
    found = {size: seen_at(journey.page, *size) for size in SIZES}
    assert not any(found.values()), found
    page.set_viewport_size({"width": 1280, "height": 720})
    assert table.evaluate("(t) => t.scrollWidth <= t.parentElement.clientWidth")


def test_a_description_is_taken_as_a_name_with_who_said_it(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="name", text=TEXT, neuron="relu-469", block="2")
    journey.press(MARKUP)
    assert journey.query()["called"] == MARKUP[:120]
    journey.press("Keep this name")
    kept = journey.page.get_by_role("table").filter(has_text="guess").locator("tbody tr")
    assert MARKUP[:20] in kept.inner_text()
    assert "gpt-4o-mini" in kept.inner_text()


def test_features_are_shown_with_what_they_write_miss_and_their_examples(
    new_page: OpenPage, twins: dict[str, Model], given: Given
) -> None:
    asked = {"activations_view": "features", "twin": "relu", "block": "2", "token": "4"}
    journey = new_page().open_page("neurons", text=TEXT, **asked)
    page, model = journey.page, twins["relu"]
    values, missed = _by_hand(model, TEXT)
    best = int(values[3].argmax())
    assert f"5 of 50 features of {NAMED} are active" in journey.sentence("features")
    expect(page.get_by_text(f"Feature {best} is active on")).to_be_visible()
    expect(page.get_by_text(f"the dictionary misses {missed[3]:.0%} of x")).to_be_visible()
    told = ffnviz.sae_error(model, TEXT, ffnviz.read_sae(given.sae), token=3)
    expect(page.get_by_text(f"{told.divergence:.3g} nats")).to_be_visible()
    promoted, _ = ffnviz.sae_words(model, ffnviz.read_sae(given.sae), best, 1)
    assert f"Feature {best} promotes “{promoted.words[0]}”" in journey.sentence("writes")
    page.get_by_role("button", name=EXAMPLES, exact=True).click()
    rows = page.locator(".passages li")
    expect(rows).to_have_count(12, timeout=120_000)  # computed beside the page, at low priority
    strongest, _, text = rows.first.inner_text().partition("\n")
    assert float(strongest) == pytest.approx(_by_hand(model, text)[0][:, best].max(), abs=0.01)
    found = {size: seen_at(journey.page, *size) for size in SIZES}
    assert not any(found.values()), found


def _by_hand(model: Model, text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The features' values on each token, and the share of x that they miss."""
    x = model.trace(text).blocks[1].ffn.output.double().numpy()
    values, x_hat = encoded(x, drawn("topk", 512, 50), TOLD)
    return values, np.linalg.norm(x - x_hat, axis=1) / np.linalg.norm(x, axis=1)


def test_what_broke_after_the_start_is_named_in_a_sentence(
    new_page: OpenPage, given: Given
) -> None:
    given.descriptions_to_spoil.write_bytes(b"\x00\xff<script>")
    weights = given.sae_to_spoil / "sae_weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])
    asked = {"text": TEXT, "twin": "gelu", "block": "2", "neuron": "gelu-469"}
    journey = new_page().open_page("neurons", **asked)
    page = journey.page
    expect(page.get_by_text("The descriptions of neurons cannot be read.")).to_be_visible()
    why = "broken.jsonl has no descriptions of neurons. broken.jsonl, line 1: it is not JSON."
    expect(page.get_by_text(why)).to_be_visible()
    assert "Neuron 2:469 fires on" in journey.sentence("fires")
    page.get_by_role("radio", name="features ★", exact=True).click()
    expect(page.get_by_text("The dictionary of features cannot be read.")).to_be_visible()
    expect(page.get_by_text(f"{weights.name} ")).to_be_visible()
    expect(journey.box).to_have_value(TEXT)
    assert "Traceback" not in page.locator("body").inner_text()
