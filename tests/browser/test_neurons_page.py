"""The Neurons page: reached from a map, by a link or by number; what it says is the network's."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from ffnviz.analysis.enrichment import tag_counts
from ffnviz.analysis.index_file import INDEXES, read_index
from ffnviz.analysis.intervention import direct_contributions
from ffnviz.analysis.memory import similar, written_words
from ffnviz.model.edit import Edit
from ffnviz.model.model import Model
from tests.browser.conftest import Journey, OpenPage
from tests.browser.test_neurons import hidden, point_at
from tests.browser.test_sparsity import percents

SENTENCE = "It cost forty pounds."


def number_box(journey: Journey) -> str:
    return journey.page.get_by_label("Neuron, by its number").input_value()


def test_from_the_card_to_the_neuron(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open(text=SENTENCE, neuron="gelu-77")
    journey.press("Meet this neuron →")
    journey.page.wait_for_url("**/neurons?**")
    journey.settle()
    assert number_box(journey) == "77"
    assert journey.query()["twin"] == "gelu"
    values = hidden(twins, "gelu", 1)[:, 77]
    fires = int((values > 0.1).sum())
    assert f"neuron 77 fires on {fires} of {len(values)} tokens" in journey.sentence("fires")


def test_a_double_click_on_a_cell_shows_how_its_value_comes_about(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open(text=SENTENCE, twin="relu", block="2", order="index")
    values = hidden(twins, "gelu", 1)
    # The strongest neuron within its pixel: others there could not be pointed at.
    neuron = int(np.abs(values[3]).argmax())
    point_at(journey, "gelu", neuron, 3, values.shape[1], len(values))
    journey.page.mouse.dblclick(*_mouse(journey, "gelu", neuron, 3, values.shape))
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
    assert "neuron 12 at “forty”" in journey.sentence("working")
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "neuron 12 at “forty”" in journey.sentence("working")


def test_a_neuron_is_chosen_by_number_and_by_strength(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", text=SENTENCE, twin="relu", token="3")
    strongest = np.argsort(-np.abs(hidden(twins, "relu", 1)[2]))
    assert number_box(journey) == str(strongest[0])
    box = journey.page.get_by_label("Neuron, by its number")
    box.fill("2047")
    box.press("Enter")
    journey.settle()
    assert journey.query()["neuron"] == "relu-2047"
    assert "neuron 2047" in journey.sentence("fires")
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
    assert f"on {len(beyond)} of {len(counts)} tags" in journey.sentence("tags")
    assert beyond[0].tag in journey.sentence("tags")
    fired = index.blocks[1].by_position[:, 469].sum() / index.n_tokens
    assert percents(journey.sentence("positions"))[0] == pytest.approx(100 * fired, abs=0.5)


def test_what_it_writes_and_who_is_like_it(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("neurons", part="writes", text=SENTENCE, neuron="relu-469")
    promoted, suppressed = written_words(twins["relu"], 1, 469)
    sentence = journey.sentence("writes")
    assert f"towards {promoted.words[0]} and away from {suppressed.words[0]}" in sentence
    by_key, by_value = similar(twins["relu"], 1, 469)
    assert f"belongs to neuron {by_key.neurons[0]} " in journey.sentence("similar")
    bar = journey.chart("similar").locator(".bars .point").nth(10).bounding_box()  # by value, first
    assert bar
    click_on(journey, bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    assert number_box(journey) == str(by_value.neurons[0])


def click_on(journey: Journey, x: float, y: float) -> None:
    mouse = journey.page.mouse
    mouse.move(x - 2, y)
    mouse.move(x, y)
    journey.page.wait_for_timeout(300)
    mouse.down()
    mouse.up()
    journey.settle()


@pytest.mark.parametrize("twin", ["relu", "gelu"])
@pytest.mark.parametrize("what", ["the neuron", "an output component", "a logit"])
def test_the_snippet_and_the_file_give_the_number_again(
    new_page: OpenPage,
    twins: dict[str, Model],
    twin: str,
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journey = new_page().open_page("neurons", part="working", text=SENTENCE, twin=twin, token="3",
                                   neuron=f"{twin}-40", number=what, component="7",
                                   word="2")  # fmt: skip
    with journey.page.expect_download() as download:
        journey.page.get_by_role("button", name="Download").click()
    name = download.value.suggested_filename
    download.value.save_as(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    code = journey.page.get_by_test_id("stCode").inner_text()
    ran: dict[str, float] = {}
    exec(code, ran)  # what a student would paste
    trace = twins[twin].trace(SENTENCE)
    ffn = trace.blocks[1].ffn
    expected = {
        "the neuron": float(ffn.pre_activation[2, 40]),
        "an output component": float(ffn.output[2, 7]),
        "a logit": float(trace.logits[2].topk(3).values[2]),
    }[what]
    assert ran["z"] == pytest.approx(expected, abs=1e-4)
    if what == "the neuron":
        assert ran["h"] == pytest.approx(float(ffn.hidden[2, 40]), abs=1e-4)
    shown = f"{expected:.4f}".replace("-", "−")
    assert shown in journey.sentence("working")


def words_after(model: Model, edits: list[Edit], token: int) -> list[str]:
    logits = model.trace(SENTENCE, edits=edits).logits[token]
    return [model.tokenizer.label(int(i)) for i in logits.topk(10).indices]


def shown_words(journey: Journey, panel: int) -> list[str]:
    texts = journey.chart("switched").locator(".bars").nth(panel).locator(".bartext")
    return [re.sub(r" [<\d][\d.]*%$", "", text) for text in texts.all_text_contents()]


@pytest.mark.parametrize(
    ("query", "edits"),
    [
        ({}, [Edit(1, [40], scale=0.0)]),
        ({"off": "2:0-1023"}, [Edit(1, range(1_024), scale=0.0)]),
        ({"off": "1:0-500, 7", "do": "multiply by", "by": "-3"},
         [Edit(0, range(501), scale=-3.0), Edit(1, [7], scale=-3.0)]),
        ({"off": "1:3-90", "do": "fix to", "by": "5", "where": "at the chosen token"},
         [Edit(0, range(3, 91), value=5.0, tokens=[2])]),
    ],
)  # fmt: skip
def test_a_link_switches_neurons_and_shows_what_the_edited_network_says(
    new_page: OpenPage, twins: dict[str, Model], query: dict[str, str], edits: list[Edit]
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3",
                                   twin="relu", neuron="relu-40", **query)  # fmt: skip
    assert shown_words(journey, 1) == words_after(twins["relu"], edits, 2)
    assert shown_words(journey, 0) == words_after(twins["relu"], [], 2)
    plain, edited = (twins["relu"].trace(SENTENCE, edits=e) for e in ([], edits))
    a, b = plain.blocks[-1].output[2], edited.blocks[-1].output[2]
    moved = 100 * float((b - a).norm() / a.norm())
    assert percents(journey.sentence("changes"))[1] == pytest.approx(moved, rel=0.06, abs=0.06)
    for name, value in query.items():
        assert journey.query()[name] == value


def test_the_controls_switch_and_the_url_follows(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3")
    box = journey.page.get_by_label("Neurons to switch")
    box.fill("1:0-2047")
    box.press("Enter")
    journey.settle()
    edit = Edit(0, range(2_048), scale=0.0)
    assert shown_words(journey, 1) == words_after(twins["relu"], [edit], 2)
    journey.page.get_by_role("radio", name="at the chosen token").click()
    journey.settle()
    edit = Edit(0, range(2_048), scale=0.0, tokens=[2])
    assert shown_words(journey, 1) == words_after(twins["relu"], [edit], 2)
    assert journey.query()["where"] == "at the chosen token"
    journey.page.get_by_role("radio", name="fix to").click()
    journey.settle()
    amount = journey.page.get_by_label("fix to").last
    amount.fill("0.25")
    amount.press("Enter")
    journey.settle()
    edit = Edit(0, range(2_048), value=0.25, tokens=[2])
    assert shown_words(journey, 1) == words_after(twins["relu"], [edit], 2)
    assert journey.query()["by"] == "0.25"
    journey.press("Only the neuron above")
    assert "off" not in journey.query()


@pytest.mark.parametrize("typed", ["seven", "3:1", "2:9999", "<b>1</b>", "![a](https://x.y/z.png)"])
def test_what_names_no_set_is_answered_in_plain_words_and_kept(
    new_page: OpenPage, typed: str
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE)
    box = journey.page.get_by_label("Neurons to switch")
    box.fill(typed)
    box.press("Enter")
    expect(journey.page.get_by_text("This names no set of neurons.")).to_be_visible()
    assert box.input_value() == typed
    expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    assert journey.page.locator('[data-testid="stText"] :is(b, img)').count() == 0


def test_those_that_speak_for_a_word_can_be_switched_as_a_set(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, token="3")
    model = twins["relu"]
    trace = model.trace(SENTENCE)
    word = int(trace.logits[2].argmax())
    added = direct_contributions(model, trace, 2, word)
    most = np.argsort(-added.ravel())[:10]
    assert f"{most[0] // 2048 + 1}:{most[0] % 2048} adds most" in journey.sentence("contributions")
    journey.press("Switch the 10 that add most")
    edits = [Edit(block, [int(n % 2048) for n in most if n // 2048 == block], scale=0.0)
             for block in (0, 1)]  # fmt: skip
    assert shown_words(journey, 1) == words_after(model, edits, 2)
    share = float(model.trace(SENTENCE, edits=edits).logits[2].softmax(-1)[word])
    assert f"to {share:.1%}" in journey.sentence("switched")
    # A click on the first bar takes that neuron out again.
    bar = journey.chart("contributions").locator(".bars .point").first.bounding_box()
    assert bar
    click_on(journey, bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    assert "With 9 neurons" in journey.sentence("switched")


def test_the_probe_sentences_say_how_much_worse_it_gets(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="switch", text=SENTENCE, off="2:0-2047")
    journey.page.get_by_role("button", name="Measure on the probe sentences").click()
    told = journey.page.get_by_text("masked tokens of our probe sentences")
    expect(told).to_be_visible()
    n, plain, edited, worse = re.findall(r"[\d,]+\.?\d*", told.inner_text())[:4]
    assert int(n.replace(",", "")) > 2_000
    assert 3 < float(plain) < float(edited) < 12
    assert float(worse) == pytest.approx(float(edited) - float(plain), abs=2e-3)
    journey.page.get_by_role("radio", name="multiply by").click()
    expect(told).to_have_count(0)  # what was measured is not what is shown any more


def test_two_sentences_are_compared_and_a_cell_leads_to_its_neuron(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("neurons", part="compare", text=SENTENCE)
    journey.page.get_by_role("button", name="Try “The dog is").click()
    journey.wait_for("The dog is in the house.").settle()
    one, two = (twins["relu"].trace(text).blocks[1].ffn.hidden.numpy()
                for text in ("The dog is in the house.", "The dogs are in the house."))  # fmt: skip
    row, neuron = np.unravel_index(int(np.abs(two - one).argmax()), one.shape)
    sentence = journey.sentence("compared")
    assert f"Neuron {neuron} differs most" in sentence
    assert f"{one[row, neuron]:.2f} → {two[row, neuron]:.2f}" in sentence
    moved = np.linalg.norm(two[5] - one[5])
    assert f"moves by {moved:.2f}" in journey.sentence("pair")
    map_ = journey.chart("compared").locator(".heatmaplayer image").bounding_box()
    assert map_
    click_on(journey, map_["x"] + map_["width"] / 48, map_["y"] + map_["height"] / 2)
    assert journey.query()["neuron"] == f"relu-{neuron}"
    assert number_box(journey) == str(neuron)


def test_another_second_sentence_is_typed_and_stays_text(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="compare", text=SENTENCE)
    box = journey.page.get_by_label("Second sentence")
    for typed in ("It cost <b>sixty</b> pounds.", "👩\u200d👩\u200d👧", "x " * 300, "a"):
        box.fill(typed)
        box.press("Enter")
        journey.page.wait_for_timeout(500)
        expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    box.fill("")
    box.press("Enter")
    expect(journey.page.get_by_text("Type a second sentence to compare")).to_be_visible()


def test_a_name_is_tested_on_sentences_held_back_and_kept_in_the_url(
    new_page: OpenPage, tmp_path: Path
) -> None:
    journey = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-469")
    name = journey.page.get_by_label("Your name for neuron 469")
    name.fill("<i>verbs</i> | of being")
    name.press("Enter")
    journey.page.get_by_role("radio", name="words of my own").click()
    journey.settle()
    words = journey.page.get_by_label("Words, with commas between them")
    words.fill("is, has")
    words.press("Enter")
    journey.settle()
    sentence = journey.sentence("named")
    assert "“<i>verbs</i> | of being” is right on" in sentence
    right, named, found, fires = map(int, re.findall(r"(\d+) of (\d+)", sentence)[0]
                                     + re.findall(r"(\d+) of (\d+)", sentence)[1])  # fmt: skip
    assert right == found <= min(named, fires)
    journey.press("Keep this name")
    assert "469" in journey.query()["names"]
    with journey.page.expect_download() as download:
        journey.page.get_by_role("button", name="Download the names").click()
    download.value.save_as(tmp_path / "names.json")
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert "469" in journey.query()["names"]

    other = new_page().open_page("neurons", part="name", text=SENTENCE, neuron="relu-1")
    other.press("Bring names back")
    other.page.locator('input[type="file"]').set_input_files(tmp_path / "names.json")
    other.page.wait_for_url(re.compile("469"))
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    if not other.page.locator('input[type="file"]').count():
        other.press("Bring names back")
    other.page.locator('input[type="file"]').set_input_files(tmp_path / "bad.json")
    expect(other.page.get_by_text("The names could not be taken over.")).to_be_visible()
    expect(other.page.get_by_test_id("stException")).to_have_count(0)


def test_a_tag_of_nobody_and_garbled_names_take_their_defaults(new_page: OpenPage) -> None:
    journey = new_page().open_page("neurons", part="name", text=SENTENCE, tag="nonsense",
                                   names="{{", level="7", guess="x")  # fmt: skip
    expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    assert "held back" in journey.sentence("named") or "is right on" in journey.sentence("named")


@pytest.mark.parametrize(
    "part", ["wakes", "probes", "writes", "working", "switch", "compare", "name"]
)
@pytest.mark.parametrize("text", ["a", "[MASK] " * 128, "👩\u200d👩\u200d👧 <b>x</b> 你好"])
def test_every_part_draws_any_sentence(new_page: OpenPage, part: str, text: str) -> None:
    journey = new_page()
    journey.page.goto(f"{journey.address}/neurons?part={part}&neuron=gelu-3&twin=gelu&block=1")
    journey.settle()
    journey.box.fill(text)
    journey.box.press("Enter")
    journey.page.wait_for_timeout(500)
    expect(journey.page.locator('[data-test-script-state="notRunning"]')).to_be_visible()
    expect(journey.page.get_by_test_id("stException")).to_have_count(0)
    for sentence in journey.page.locator("figure .sentence").all_inner_texts():
        assert "nan" not in sentence
