"""The Neurons page: reached from a map, by a link or by number; what it says is the network's."""

from pathlib import Path

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.analysis.neurons.memory import similar, written_words
from ffnviz.models.encoder.model import Model
from ffnviz.parts.neurons.activations import tag_counts
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey
from tests.browser.test_neurons import hidden
from tests.parts.test_sparsity_sheets import percents

SENTENCE = "It cost forty pounds."


def number_box(journey: Journey, label: str = "Neuron") -> str:
    return journey.page.get_by_role("spinbutton", name=label, exact=True).input_value()


def test_from_the_card_to_the_neuron(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open(text=SENTENCE, neuron="gelu-77")
    journey.press("Meet this neuron →")
    journey.page.wait_for_url("**/neurons?**")
    journey.settle()
    assert number_box(journey) == "77"
    assert journey.query()["twin"] == "gelu"
    values = hidden(twins, "gelu", 1)[:, 77]
    fires = int((abs(values) > 0.1).sum())
    assert f"Neuron 2:77 fires on {fires} of {len(values)} tokens" in journey.sentence("fires")


def test_a_double_click_on_a_cell_shows_how_its_value_comes_about(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open(text=SENTENCE, twin="relu", block="2", order="index")
    values = hidden(twins, "gelu", 1)
    strongest = int(np.abs(values[3]).argmax())
    place = _mouse(journey, "gelu", strongest, 3, values.shape)
    journey.page.mouse.move(*place)
    tip = journey.page.locator(".maps .tip").inner_text()
    neuron = int(tip.split("neuron ")[1].split(" ")[0])  # a pixel is of some neurons
    journey.page.mouse.dblclick(*place)
    journey.page.wait_for_url("**/neurons?**part=working**")
    journey.settle()
    assert journey.query()["token"] == "4"
    assert number_box(journey) == str(neuron)
    z = float(twins["gelu"].trace(SENTENCE).blocks[1].ffn.pre_activation[3, neuron])
    assert f"= {z:.4f};".replace("-", "−") in journey.sentence("working")


def _mouse(
    journey: Journey, twin: str, place: int, token: int, shape: tuple[int, ...]
) -> tuple[float, float]:
    bounds = journey.map_of(twin).bounding_box()
    assert bounds
    return (bounds["x"] + (place + 0.5) / shape[1] * bounds["width"],
            bounds["y"] + (token + 0.5) / shape[0] * bounds["height"])  # fmt: skip


def test_a_value_on_the_card_opens_its_working_and_back_leads_back(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE, neuron="relu-12")
    journey.card().locator("li button").nth(2).click()
    journey.page.wait_for_url("**/neurons?**part=working**")
    journey.settle()
    assert journey.query()["token"] == "3"
    assert "Neuron 2:12 at “forty”" in journey.sentence("working")
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "Neuron 2:12 at “forty”" in journey.sentence("working")


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


def test_a_neuron_is_chosen_by_number_and_by_strength(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", text=SENTENCE, twin="relu", token="3")
    strongest = np.argsort(-np.abs(hidden(twins, "relu", 1)[2]))
    assert number_box(journey) == str(adds_most(twins["relu"], place=2))
    box = journey.page.get_by_role("spinbutton", name="Neuron", exact=True)
    box.fill("2047")
    box.press("Enter")
    journey.settle()
    assert journey.query()["neuron"] == "relu-2047"
    assert "Neuron 2:2047" in journey.sentence("fires")
    journey.page.get_by_role("radio", name=str(strongest[3]), exact=True).click()
    journey.settle()
    assert number_box(journey) == str(strongest[3])


def test_its_examples_are_the_indexs_and_their_values_the_networks(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", text=SENTENCE, neuron="relu-469", block="2")
    rows = journey.page.locator(".passages li").all_inner_texts()
    assert len(rows) == 12
    for row in rows[:3]:
        value, _, text = row.partition("\n")
        values = twins["relu"].trace(text).blocks[1].ffn.hidden[:, 469]
        assert float(value) == pytest.approx(float(values.max()), abs=0.02)
        token = int(values.argmax())
        marked = journey.page.locator(".passages li", has_text=text).locator("mark")
        assert marked.inner_text() == twins["relu"].trace(text).tokens[token].text.strip()


def test_its_tags_and_positions_are_counted_on_many_sentences(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="probes", text=SENTENCE, neuron="relu-469")
    index = read_index(INDEXES / "relu.npz", 2_048, 2)
    counts = tag_counts(index, 1, 469)
    beyond = [count for count in counts if count.corrected < 0.05]
    assert f"with {len(beyond)} of {len(counts)} tags" in journey.sentence("tags")
    assert beyond[0].tag in journey.sentence("tags")
    fired = index.blocks[1].by_position[:, 469].sum() / index.n_tokens
    assert percents(journey.sentence("positions"))[0] == pytest.approx(100 * fired, abs=0.5)


def test_what_it_writes_and_who_is_like_it(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("neurons", part="writes", text=SENTENCE, neuron="relu-469")
    promoted, suppressed = written_words(twins["relu"], 1, 469)
    sentence = journey.sentence("writes")
    assert f"“{promoted.words[0]}” likelier and “{suppressed.words[0]}” less likely" in sentence
    by_key, by_value = similar(twins["relu"], 1, 469)
    assert f"that of neuron 2:{by_key.neurons[0]} " in journey.sentence("similar")
    journey.chart("similar").locator("ol button").nth(10).click()  # by value, first
    journey.settle()
    assert number_box(journey) == str(by_value.neurons[0])


def test_the_file_of_the_working_is_what_the_snippet_reads(
    new_page: OpenPage, twins: dict[str, Model], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = new_page().open_page("neurons", part="working", text=SENTENCE, twin="relu", token="3",
                                   neuron="relu-40")  # fmt: skip
    with journey.page.expect_download() as download:
        journey.page.get_by_role("button", name="Download").click()
    name = download.value.suggested_filename
    download.value.save_as(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    ran: dict[str, float] = {}
    exec(journey.page.locator(".code code").inner_text(), ran)  # what a student would paste
    z = float(twins["relu"].trace(SENTENCE).blocks[1].ffn.pre_activation[2, 40])
    assert ran["z"] == pytest.approx(z, abs=1e-4)


def test_the_table_of_all_neurons_sorts_by_a_column_and_leads_to_the_row_that_was_clicked(
    new_page: OpenPage,
) -> None:
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
