"""The Journey as a file: its numbers are the networks', nothing is loaded, text stays text."""

import base64
import hashlib
import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import ffnviz
from ffnviz.analysis.journey import neuron_order
from ffnviz.analysis.neurons.memory import written_words
from ffnviz.export.browsers import OLD_BROWSER_JS
from ffnviz.export.document import LARGEST, Contents, TooLargeError, document
from ffnviz.export.journey import PICTURES, ExportedJourney, journey_file
from ffnviz.export.runs import exported_run
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import SHAPES, STRANGERS, network
from tests.export.opened import Markup, contents, markup

TEXT = "She opened the [MASK] and looked out."
LONG = (
    "It was late in the evening when the old man came down to the river with his [MASK], and "
    "nobody had seen him since the first day of the year. He sat upon a stone, took bread out of "
    "his coat, and looked for a long time at the dark water that ran quietly under the bridge. "
    "Then two children, a boy and his little sister, came along the road from the village; they "
    "carried a lantern, and sang. “Good evening,” said the boy, “are you not the man who built "
    "the mill?” But the old man gave no answer, for he was thinking of his own house, and of the "
    "garden behind it where roses grew in summer."
)


@pytest.fixture(scope="module")
def twins() -> list[Model]:
    return [ffnviz.load(name) for name in ("relu", "gelu")]


@pytest.fixture(params=[0, 1], ids=["relu", "gelu"])
def model(twins: list[Model], request: pytest.FixtureRequest) -> Model:
    chosen: Model = twins[request.param]
    return chosen


@pytest.fixture(scope="module")
def taken(twins: list[Model]) -> ExportedJourney:
    return journey_file(exported_run(twins, TEXT))


def test_it_holds_every_token_and_block_to_the_bit(taken: ExportedJourney, model: Model) -> None:
    _, arrays = contents(taken.html)
    trace = model.trace(TEXT)
    for block, record in enumerate(trace.blocks):
        name = f"{model.name} {block}"
        half = {"x": record.ffn.input, "pre": record.ffn.pre_activation,
                "out": record.ffn.output, "stream": record.middle,
                "total": record.output}  # fmt: skip
        np.testing.assert_array_equal(arrays[f"{name} hidden"], record.ffn.hidden.numpy())
        for stage, values in half.items():
            np.testing.assert_array_equal(arrays[f"{name} {stage}"], values.half().numpy())
        for by in ("token", "strength"):
            wanted = neuron_order(record.ffn.hidden.numpy(), by)
            np.testing.assert_array_equal(arrays[f"{name} by {by}"], wanted)


def test_words_and_shares_are_those_of_the_softmax(taken: ExportedJourney, model: Model) -> None:
    header, _ = contents(taken.html)
    trace = model.trace(TEXT)
    shares = torch.softmax(trace.logits.double(), dim=-1)
    for block, record in enumerate(trace.blocks):
        view = header["views"][f"{model.name} {block}"]
        others = _without(model, TEXT, block)
        for token in range(len(trace.tokens)):
            best = shares[token].topk(10)
            panel, without = view["prediction"][token]["panels"]
            assert panel["names"] == [model.tokenizer.label(int(i)) for i in best.indices]
            assert panel["values"] == pytest.approx(best.values.tolist(), abs=1e-5)
            assert without["names"] == others[token]
            asleep = 0.1 if model.name == "gelu" else 0
            awake = int((record.ffn.hidden[token].abs() > asleep).sum())
            notes = {stage["name"]: stage["note"] for stage in view["ffn"][token]["stages"]}
            assert notes["hidden"] == f"{awake:,} active"


def _without(model: Model, text: str, block: int) -> list[list[str]]:
    """The likeliest words with an FFN whose weights are zero: the network itself is changed."""
    changed = replace(model, encoder=deepcopy(model.encoder))
    ffn = changed.encoder.blocks[block].ffn
    with torch.no_grad():
        for weight in ffn.compress.parameters():
            weight.zero_()
    best = changed.trace(text).logits.topk(10).indices
    return [[model.tokenizer.label(int(i)) for i in row] for row in best]


def test_each_neuron_writes_what_the_page_says(taken: ExportedJourney, twins: list[Model]) -> None:
    header, arrays = contents(taken.html)
    for model in twins:
        for block in range(2):
            rows = arrays[f"{model.name} {block} writes"]
            assert rows.shape == (2_048, 8)
            for neuron in range(3, 2_048, 97):
                words = [header["words"][row] for row in rows[neuron]]
                ranked = written_words(model, block, neuron, k=32)[0].words
                pieces = [word for word in ranked if not word.isalpha()]
                assert words == [*(word for word in ranked if word.isalpha()), *pieces][:8]


def test_a_file_is_small_of_a_long_sentence_too_or_refused_in_a_sentence(
    taken: ExportedJourney, twins: list[Model]
) -> None:
    assert len(taken.html.encode()) < 1_200_000
    assert (taken.n_left_out, taken.notice) == (0, "")
    trace = twins[0].trace(LONG)
    n_all, room = len(trace.tokens) + trace.n_left_out, LARGEST // 3  # quicker than the whole
    long = journey_file(exported_run(twins, LONG), largest=room)
    assert 0.9 * room < len(long.html.encode()) <= room
    assert 5 <= long.n_tokens < n_all
    assert long.n_tokens + long.n_left_out == n_all
    header, _ = contents(long.html)
    assert LONG.startswith(header["sentence"])
    assert len(header["cards"]["relu 0"]["texts"]) == long.n_tokens
    assert header["says"][0] == long.notice
    assert f"room for {long.n_tokens}" in long.notice

    with pytest.raises(TooLargeError, match="One token of this network takes more room"):
        journey_file(exported_run(twins, TEXT), largest=200_000)


@pytest.mark.parametrize("name", [*SHAPES, *STRANGERS])
def test_a_network_of_any_kind_is_taken_home_alone(name: str, tokenizer: Tokenizer) -> None:
    text = "a" if name == "wide" else "The cat sat."
    # A token of 65,537 neurons takes more than a megabyte.
    made = journey_file(exported_run([network(name, tokenizer)], text), largest=2 * LARGEST)
    header, arrays = contents(made.html)
    trace = network(name, tokenizer).trace(header["sentence"])
    card, *others = header["networks"]
    assert others == []
    assert card["n_blocks"] == len(trace.blocks)
    for block, record in enumerate(trace.blocks):
        key = f"{card['id']} {block}"
        hidden = arrays[f"{key} hidden"]
        np.testing.assert_allclose(hidden, record.ffn.hidden, rtol=1e-4, atol=1e-5)
        before = record.ffn.pre_activation.numpy()
        np.testing.assert_allclose(arrays[f"{key} pre"], before, rtol=2e-3, atol=1e-3)
        assert len(header["views"][key]["ffn"]) == made.n_tokens
    says = [each for view in header["views"].values() for each in view["prediction"]]
    assert all(("nearest" in str(each)) == name.startswith("headless") for each in says if each)


def test_a_notebook_shows_the_same_in_a_frame_that_reaches_nothing(small: Model) -> None:
    shown = ffnviz.show(small.trace("The cat sat."), height=700)
    (tag, *_), attributes = (found := markup(shown._repr_html_())).tags, found.attributes
    told = {name: value for _, name, value in attributes}
    assert tag == "iframe"
    assert told["srcdoc"] == shown.html
    assert told["sandbox"] == "allow-scripts allow-downloads"
    assert "height: 700px" in told["style"]
    header, _ = contents(shown.html)
    assert [each["label"] for each in header["networks"]] == [small.card.label]


def test_a_twin_brings_the_other_and_an_edited_trace_is_refused(twins: list[Model]) -> None:
    header, _ = contents(ffnviz.show(twins[1].trace("A cat.")).html)
    assert header["start"]["network"] == "gelu"
    assert {each["id"] for each in header["networks"]} == {"relu", "gelu"}
    edits = [ffnviz.Edit(block=1, neurons=[3], scale=0.0)]
    with pytest.raises(ValueError, match="without edits"):
        ffnviz.show(twins[0].trace("A cat.", edits=edits))


def test_it_loads_nothing_and_runs_nothing_else(taken: ExportedJourney) -> None:
    found = markup(taken.html)
    names = {name for _, name, _ in found.attributes}
    assert names <= {"lang", "charset", "http-equiv", "content", "name", "type", "id"}
    policy = next(value for _, _, value in found.attributes if "default-src" in value)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", taken.html, re.DOTALL)
    sums = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    assert rules["script-src"].split() == [f"'sha256-{each}'" for each in sums]
    assert OLD_BROWSER_JS in scripts
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not re.search(r"https?:", policy)
    assert not re.search(r"""(?:url\(|fetch\(|src=|href=)["']?https?:""", taken.html)


NASTY = ["</script><img src=x onerror=alert(1)>", "<!--", "]]>", "</title><b>", "\ud800", "\x00",
         "&lt;script&gt;", "\u202e", "{{7*7}}", "${alert(1)}", "</noscript>"]  # fmt: skip


@pytest.fixture(scope="module")
def small(model_folder: Path) -> Model:
    return load(model_folder)


@pytest.fixture(scope="module")
def plain(small: Model) -> Markup:
    return markup(journey_file(exported_run([small], "a")).html)


def same(html: str, plain: Markup) -> None:
    """The file has the tags and the script that it has of any other sentence."""
    found = markup(html)
    assert found.tags == plain.tags
    assert [a[:2] for a in found.attributes] == [a[:2] for a in plain.attributes]
    assert found.text["script"].endswith(plain.text["script"][-5_000:])


@example("</script><img src=x onerror=alert(1)>")
@given(st.lists(st.one_of(st.text(max_size=12), st.sampled_from(NASTY)), max_size=4).map("".join))
def test_typed_text_is_never_markup(plain: Markup, text: str) -> None:
    html = document(Contents(text, ("play_journey", *PICTURES), {"sentence": text}, {}))
    same(html, plain)
    assert contents(html)[0]["sentence"] == text


def test_a_sentence_that_would_break_out_stays_a_sentence(small: Model, plain: Markup) -> None:
    text = "".join(each for each in NASTY if each != "\ud800")
    html = journey_file(exported_run([small], text)).html
    same(html, plain)
    assert contents(html)[0]["sentence"] == text
