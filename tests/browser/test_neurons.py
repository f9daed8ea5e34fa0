"""The Neurons page: reached from a map, by a link or by number; what it says is the network's."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect

from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of, download
from tests.browser.test_journey import COST as SENTENCE
from tests.browser.test_journey import cell, hidden

TEA, BOOK = "He drank a cup of [MASK].", "He read a book of [MASK]."


def number_box(journey: Journey) -> Locator:
    return journey.page.get_by_role("spinbutton", name="Neuron", exact=True)


def test_from_a_card_or_a_map_to_the_neuron_and_its_working(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open(text=SENTENCE, neuron="gelu-77", order="index")
    working = "**/neurons?**part=working**"
    journey.card().locator("li button").nth(2).click()
    journey.page.wait_for_url(working)
    journey.settle()
    assert journey.query()["token"] == "3"
    assert "Neuron 2:77 at “forty”" in journey.sentence("working")
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "Neuron 2:77 at “forty”" in journey.sentence("working")

    journey.page.go_back()
    journey.wait_for(SENTENCE)
    values = hidden(twins["gelu"], 1)
    strongest = int(np.abs(values[3]).argmax())
    place = cell(journey, "gelu", strongest, 3, values.shape)
    journey.page.mouse.move(*place)
    tip = journey.page.locator(".maps .tip").inner_text()
    neuron = int(tip.split("neuron ")[1].split(" ")[0])  # a pixel is of some neurons
    journey.page.mouse.dblclick(*place)
    journey.page.wait_for_url(working)
    journey.settle()
    assert journey.query()["token"] == "4"
    expect(number_box(journey)).to_have_value(str(neuron))
    z = float(twins["gelu"].trace(SENTENCE).blocks[1].ffn.pre_activation[3, neuron])
    assert f"= {z:.4f};".replace("-", "−") in journey.sentence("working")

    journey.page.go_back()
    journey.wait_for(SENTENCE).press("Meet this neuron →")
    journey.page.wait_for_url("**/neurons?**")
    journey.settle()
    assert journey.query()["twin"] == "gelu"
    number = int(number_box(journey).input_value())
    fires = int((abs(values[:, number]) > 0.1).sum())
    said = f"Neuron 2:{number} fires on {fires} of {len(values)} tokens"
    assert said in journey.sentence("fires")


def adds_most(model: Model, place: int) -> int:
    """The neuron of block 2 that adds most to the likeliest word, the norm held."""
    trace = model.trace(SENTENCE)
    encoder, record = model.encoder, trace.blocks[1]
    with torch.no_grad():
        word = int(trace.logits_at(place).argmax())
        stream = record.output[place]
        (gain, _) = encoder.final_norm.parameters()
        direction = gain * encoder.token_embedding.weight[word]
        centred = direction - direction.mean()
        written = record.ffn.hidden[place][:, None] * encoder.blocks[1].ffn.compress.weight.mT
        return int((written @ centred / stream.std(correction=0)).argmax())


def test_a_neuron_is_chosen_by_strength_and_by_number_and_its_examples_are_the_networks(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", text=SENTENCE, twin="relu", token="3")
    box = number_box(journey)
    expect(box).to_have_value(str(adds_most(twins["relu"], place=2)))
    strongest = np.argsort(-np.abs(hidden(twins["relu"], 1)[2]))
    journey.choose(str(strongest[3]))
    expect(box).to_have_value(str(strongest[3]))
    for number in ("2047", "469"):
        box.fill(number)
        box.press("Enter")
        journey.settle()
        assert journey.query()["neuron"] == f"relu-{number}"
        assert f"Neuron 2:{number}" in journey.sentence("fires")
    rows = journey.page.locator(".passages li").all_inner_texts()
    assert len(rows) == 12
    for row in rows[:3]:
        value, _, text = row.partition("\n")
        trace = twins["relu"].trace(text)
        values = trace.blocks[1].ffn.hidden[:, 469]
        assert float(value) == pytest.approx(float(values.max()), abs=0.02)
        marked = journey.page.locator(".passages li", has_text=text).locator("mark")
        assert marked.inner_text() == trace.tokens[int(values.argmax())].text.strip()


def test_the_table_sorts_by_a_column_and_leads_to_a_clicked_row(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="browse", text=SENTENCE, twin="relu")
    rows = journey.page.locator("tbody tr")
    assert rows.count() == 500
    numbers = journey.page.locator("thead button").first
    numbers.click()
    assert rows.first.locator("td").first.inner_text() == "2047"
    numbers.click()
    assert rows.first.locator("td").first.inner_text() == "0"
    rows.nth(2).click()
    journey.page.wait_for_url("**neuron=relu-2")
    journey.settle()
    assert "part" not in journey.query()
    assert "Neuron 2:2 " in journey.sentence("fires")


def test_a_name_is_kept_in_the_url_and_goes_from_page_to_page_as_a_file(
    new_page: OpenPage, tmp_path: Path
) -> None:
    journey = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-469")
    journey.page.get_by_label("Your name for neuron 2:469").fill("<i>verbs</i> | of being")
    journey.settle()
    journey.choose("words of my own")
    journey.page.get_by_label("Words, with commas between them").fill("is, has")
    journey.settle()
    expect(journey.chart("named")).to_contain_text("“<i>verbs</i> | of being” is right about ")
    journey.press("Keep this name")
    assert "469" in journey.query()["names"]
    saved = download(journey.page.get_by_role("button", name="Export names"))
    saved.save_as(tmp_path / "names.json")
    names = (tmp_path / "names.json").read_text(encoding="utf-8")
    (tmp_path / "names.json").write_text(names, encoding="utf-16")  # as an editor may save it
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "469" in journey.query()["names"]

    other = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-1")
    with other.page.expect_file_chooser() as chooser:
        other.page.get_by_role("button", name="Import names").click()
    chooser.value.set_files(tmp_path / "names.json")
    other.page.wait_for_url(re.compile("names=[^&]*469"))
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    other.page.locator('input[type="file"]').set_input_files(tmp_path / "bad.json")
    expect(other.text("The names could not be imported.")).to_be_visible()
    other.page.get_by_role("button", name="relu 2:469").click()
    expect(other.page.get_by_label("Your name for neuron 2:469")).to_have_value(
        "<i>verbs</i> | of being"
    )
    expect(other.text("The names could not be imported.")).to_have_count(0)
    expect(other.page.get_by_test_id("stException")).to_have_count(0)


def test_a_word_is_planted_spreads_and_comes_back_by_its_link(new_page: OpenPage) -> None:
    text = "She opened the [MASK] and looked out."
    journey = new_page().open_page("neurons", part="plant", text=text)
    box = journey.page.get_by_label("A word for the new neuron")
    for typed in ("xyzzy", "<b>x</b>", ""):
        box.fill(typed)
        expect(journey.text("This word cannot be inserted.")).to_be_visible()
        assert box.input_value() == typed
    box.fill("elephant")
    box.press("Enter")
    journey.settle()
    journey.slide("strength", 9).slide("similarity", 4)
    query = journey.query()
    assert (query["plant"], query["strength"], query["choosy"]) == ("elephant", "3", "0.2")
    assert "elephant" in journey.sentence("planted")
    assert "7 of the 7 other tokens" in journey.sentence("planted-here")
    journey.press("Try it on other sentences")
    expect(journey.text("the inserted neuron's word")).to_be_visible()
    expect(journey.page.locator(".passages li")).to_have_count(10)
    again = new_page().open_page("neurons", **query)
    assert again.sentence("planted") == journey.sentence("planted")


def test_a_click_on_the_map_patches_there_and_it_is_saved(new_page: OpenPage) -> None:
    journey = (
        new_page().open_page("neurons", part="compare", text=TEA, other=BOOK).choose("patch ★")
    )
    map_ = box_of(journey.chart("patch-map").locator(".heatmaplayer image"))
    n = journey.chips.count()
    place = journey.chips.all_inner_texts().index("cup")
    x = map_["x"] + (place + 0.5) / n * map_["width"]
    journey.page.mouse.click(x, map_["y"] + map_["height"] / 4)
    journey.page.wait_for_url(lambda url: f"token={place + 1}" in url and "block=1" in url)
    assert journey.settle().query()["compare_view"] == "patch"
    assert journey.sentence("patched").startswith("A patch in block 1 at “cup”")
    told = re.search(r"moves the answer (\S+)% of the way", journey.sentence("patched"))
    assert told
    saved = journey.save("patch-map", "Save the numbers as CSV").read_text("utf-8-sig")
    rows = csv.DictReader(io.StringIO(saved))
    table = {(row["y"], row["x"]): float(row["value"]) for row in rows}
    assert len(table) == 2 * n
    assert round(table["1", "cup"]) == round(float(told[1].replace("−", "-")))
    journey.page.get_by_role("radio", name="the stream").click()
    expect(journey.chart("patch-map").locator(".sentence")).to_contain_text("own token aside")


def test_a_path_leads_to_the_later_neuron(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="writes", text=TEA, block="1")
    journey.choose("later neurons ★")
    bar = journey.chart("paths").get_by_role("button", name=re.compile("^2:")).first
    neuron = bar.inner_text().removeprefix("2:")
    bar.focus()
    journey.page.keyboard.press("Enter")
    journey.page.wait_for_url(lambda url: f"neuron=relu-{neuron}" in url and "block=2" in url)


def test_neurons_are_switched_and_the_url_follows(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3")
    box = journey.page.get_by_label("Neurons to switch")
    box.fill("seven")
    expect(journey.text("This names no set of neurons.")).to_be_visible()
    assert box.input_value() == "seven"
    box.fill("1:0-2047")
    journey.settle()
    assert "With 2,048 neurons set to zero" in journey.sentence("switched")
    journey.choose("at the chosen token").choose("fix to")
    amount = journey.page.get_by_role("spinbutton", name="fix to")
    amount.fill("0.25")
    amount.press("Enter")
    journey.settle()
    assert "With 2,048 neurons fixed to 0.25" in journey.sentence("switched")
    query = journey.query()
    assert (query["off"], query["do"], query["by"]) == ("1:0-2047", "fix", "0.25")
    assert query["where"] == "token"
    journey.press("Reset")
    assert "off" not in journey.query()
    journey.press("Switch the 10 that add most")
    # A click on the first bar takes that neuron out again.
    journey.chart("contributions").locator("ol button").first.click()
    journey.settle()
    assert "With 9 neurons" in journey.sentence("switched")
    journey.page.get_by_role("button", name="Try it on 2,000 hidden words").click()
    result = journey.text("hidden words of our probe sentences")
    expect(result).to_be_visible()
    journey.page.get_by_role("radio", name="multiply by").click()
    expect(result).to_have_count(0)


def test_another_sentence_is_compared_while_it_is_typed(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="compare", text=SENTENCE)
    journey.press("Try “The dog is …” and “The dogs are …”")
    journey.wait_for("The dog is in the house.").settle()
    box = journey.page.get_by_label("Second sentence")
    expect(box).to_have_value("The dogs are in the house.")
    box.fill("")
    expect(journey.text("Type a second sentence to compare")).to_be_visible()
    box.fill("It cost <b>sixty</b> pounds.")
    journey.settle()
    assert "differs most" in journey.sentence("compared")
    map_ = box_of(journey.chart("compared").locator(".heatmaplayer image"))
    journey.page.mouse.click(map_["x"] + map_["width"] / 48, map_["y"] + map_["height"] / 2)
    journey.page.wait_for_url(lambda url: "neuron=relu-" in url and "part=" not in url)
