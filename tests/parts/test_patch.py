"""Patch and Paths on the page, against hooks on the modules of another network's own code."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

import ffnviz
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, config, use
from ffnviz.parts.neurons import patch
from ffnviz.state import run_factory
from tests.models.external.by_hand import hooked, logits_of
from tests.models.external.folders import save
from tests.parts.sheets import Drawn, drawn, words

FIRST, SECOND = "the cat sat on the mat", "the mat sat on the cat"
MASKED = "He drank a cup of [MASK].", "He read a book of [MASK]."
PLACES = {"ffn": "ffn", "neurons": "hidden", "stream": "output", "attention": "attention"}


@pytest.fixture(scope="module", autouse=True)
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """GPT-2's code with random weights, beside the twins."""
    folder = save("GPT-2", tmp_path_factory.mktemp("networks") / "GPT-2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_OPENED", {})
        before = config()
        use(Config((NetworkRequest(str(folder)),)))
        run_factory.forget_networks()
        yield
        use(before)
    run_factory.forget_networks()


def patched(twin: str = "gpt-2", **query: str) -> Drawn:
    texts = {"text": FIRST, "other": SECOND, **query}
    return drawn("neurons", "compare", True, compare_view="patch", twin=twin, **texts)


def ids_of(part: Drawn, text: str) -> Tensor:
    return torch.tensor([part.run.model.tokenizer.encode(text).ids])


def seen(ids: Tensor, block: int, at: str) -> Tensor:
    found: list[Tensor] = []

    def look(x: Tensor) -> Tensor:
        found.append(x[0].clone())
        return x

    logits_of(hooked("GPT-2", block, at, look), ids)
    return found[0]


def answer(ids: Tensor, given: Tensor, block: int, at: str, token: int) -> Tensor:
    """The last token's logits with rows of the other sentence put in by a hook."""

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        put = given[token]
        if at == "hidden":  # the sixteen that differ most, chosen in another way
            rank = (put - x[0, token]).abs().sort(descending=True).indices[:16]
            kept = torch.zeros(len(put), dtype=torch.bool).index_fill(0, rank, True)
            put = torch.where(kept, put, x[0, token])
        x[0, token] = put
        return x

    return logits_of(hooked("GPT-2", block, at, change), ids)[0, -1].double()


@pytest.mark.parametrize("shown", PLACES)
def test_every_cell_of_the_map_is_a_run_with_a_hook(shown: str) -> None:
    part = patched(patched=shown)
    first, second = ids_of(part, FIRST), ids_of(part, SECOND)
    chart = part.cells["patch-map"]
    (heat,) = chart.data["figure"]["data"]
    z = chart.arrays[heat["z"]["array"]] / 100
    plain = logits_of(hooked("GPT-2", 0, "ffn", lambda x: x), first)[0, -1].double()
    goal = logits_of(hooked("GPT-2", 0, "ffn", lambda x: x), second)[0, -1].double()
    apart = goal.softmax(0) - plain.softmax(0)
    up, down = int(apart.argmax()), int(apart.argmin())

    def m(logits: Tensor) -> float:
        return float(logits[up] - logits[down])

    assert first.shape == second.shape == (1, z.shape[1])
    assert len(z) == 2
    for block in range(2):
        given = seen(second, block, PLACES[shown])
        for token in range(z.shape[1]):
            now = m(answer(first, given, block, PLACES[shown], token))
            way = (now - m(plain)) / (m(goal) - m(plain))
            assert z[block, token] == pytest.approx(way, abs=2e-3)


def test_what_is_said_of_the_chosen_cell_is_what_the_map_has_and_a_click_chooses() -> None:
    part = patched(block="1", token="2")
    chart = part.cells["patch-map"]
    z = chart.arrays[chart.data["figure"]["data"][0]["z"]["array"]]
    head = part.cells["patched"].data["head"]["spans"]
    (told,) = [text for text, kind in head if kind.startswith("number")]
    assert float(told.replace("−", "-").strip("%<")) == pytest.approx(z[0, 1], abs=0.51)
    n = z.shape[1]
    state = chart.events["point"](n + 3).state
    assert (state.block, state.token, state.sentence) == (1, 3, FIRST)
    assert dict(state.settings) == dict(part.run.state.settings)
    assert chart.events["point"](2 * n) is None
    assert chart.data["alt"]


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_twins_answer_goes_all_the_way_with_the_last_stream_at_the_mask(twin: str) -> None:
    part = patched(twin, text=MASKED[0], other=MASKED[1], patched="stream")
    z = part.cells["patch-map"]
    values = z.arrays[z.data["figure"]["data"][0]["z"]["array"]]
    mask = part.run.labels.index("[MASK]")
    assert values[1, mask] == pytest.approx(100, abs=0.01)
    assert_allclose(np.delete(values[1], mask), 0, atol=0.01)  # nobody hears them any more
    assert "The answer's own token aside" in words(z)
    bars = part.cells["patched"].data["panels"]
    assert [each["title"] for each in bars] == ["first sentence", "patched"]


def test_tokens_without_a_counterpart_and_sentences_that_cannot_be_compared() -> None:
    longer = "He quickly drank a cup of [MASK]."
    more = patched("relu", text=longer, other="He drank a glass of [MASK].", token="2")
    figure = more.cells["patch-map"].data["figure"]
    z = more.cells["patch-map"].arrays[figure["data"][0]["z"]["array"]]
    assert np.isnan(z[:, 1]).all()
    assert "(quickly)" in figure["layout"]["xaxis"]["ticktext"]
    assert "1 of" in words(more.cells["patch-map"])
    assert "has no counterpart" in words(more.cells["no-counterpart"])
    for texts, why in (
        ({"other": ""}, "Type a second sentence"),
        ({"other": FIRST}, "Both sentences get the same answer"),
        ({"text": MASKED[0], "other": "He read a book."}, "give both the same question"),
    ):
        assert why in patched("relu", **texts).said


def paths(twin: str = "gpt-2", **query: str) -> Drawn:
    return drawn("neurons", "writes", True, writes_view="paths", twin=twin, text=FIRST, **query)


def test_paths_lead_from_a_neuron_to_those_of_the_next_block() -> None:
    part = paths(block="1", neuron="gpt-2-11", token="3")
    direct, rest = part.cells["paths"].data["panels"]
    assert rest["ids"] == direct["ids"]
    ends = [each - part.run.model.sizes.d_ff for each in direct["ids"]]
    assert direct["names"] == [f"2:{end}" for end in ends]
    found = ffnviz.neuron_paths(part.run.trace, 0, 11, to_block=1, token=2)
    assert_allclose(direct["values"], found.direct[ends], atol=1e-5)
    assert_allclose(rest["values"], found.rest[ends], atol=1e-5)
    keyed, measured = part.cells["paths-blocks"].data["panels"]
    assert keyed["names"] == measured["names"] == ["block 2"]
    assert measured["values"] == pytest.approx([np.linalg.norm(found.total)], rel=1e-4)
    assert keyed["values"] == pytest.approx([np.linalg.norm(found.direct)], rel=1e-4)
    opened = part.cells["paths"].events["point"](direct["ids"][0])
    assert (opened.neuron.block, opened.neuron.index) == (1, ends[0])
    assert part.cells["paths"].events["point"](0) is None  # a neuron that is not drawn


def test_the_last_block_feeds_nobody_and_a_silent_neuron_nothing() -> None:
    last = paths(block="2")
    assert "Block 2 is the last" in last.said
    assert "Go to block 1" in last.controls
    relu = drawn("neurons", "writes", writes_view="paths", twin="relu", text=FIRST, block="1")
    silent = int(relu.run.trace.blocks[0].ffn.hidden[relu.run.token].argmin())
    told = drawn("neurons", "writes", writes_view="paths", twin="relu", text=FIRST, block="1",
                 neuron=f"relu-{silent}")  # fmt: skip
    assert f"Neuron 1:{silent} is 0 on" in told.said


def test_where_a_map_takes_long_it_says_what_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch, "AT_ONCE", 0)
    n = len(ids_of(patched(), FIRST)[0])
    soon = drawn("neurons", "compare", False, compare_view="patch", twin="gpt-2", text=FIRST,
                 other=SECOND, patched="stream").cells["soon-patch-map"]  # fmt: skip
    assert (
        "each time, the second sentence gives the stream at that one place only: "
        f"2 blocks × {n} tokens" in words(soon)
    )
    assert soon.data["name"] == "patch stream"
    assert "patch-map" in patched(patched="stream").cells
