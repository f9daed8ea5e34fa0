"""A network that does not tell what its heads do: a sentence says so, and all else works."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from numpy.testing import assert_allclose

import ffnviz
from ffnviz.analysis.needs import Capability
from ffnviz.cli.check import _report
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, config, use
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts import PAGES
from ffnviz.parts.part import Page
from ffnviz.state import run_factory
from tests.models.external.folders import configure, save
from tests.models.external.unseen import SINK
from tests.parts.sheets import drawn
from tests.parts.visits import opened, query
from tests.sent_cells import said, sent_cells

FIRST, SECOND = "the cat sat on the mat", "the mat sat on the cat"
ADDS_UP, NORMED = "odd-gpt", "odd-bert"  # pre-norm and post-norm


@pytest.fixture(scope="module", autouse=True)
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place: Path = tmp_path_factory.mktemp("networks")
    folders = [save("GPT-2", place / ADDS_UP), save("BERT", place / NORMED)]
    for folder in folders:
        configure(folder, attn_implementation=SINK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_OPENED", {})
        before = config()
        use(Config(tuple(NetworkRequest(str(folder)) for folder in folders)))
        run_factory.forget_networks()
        yield
        use(before)
    run_factory.forget_networks()


def network(name: str) -> ExternalNetwork:
    found = registry.open_network(name, "cpu")
    assert isinstance(found, ExternalNetwork)
    return found


@pytest.mark.parametrize("name", [ADDS_UP, NORMED])
def test_a_sentence_says_that_its_heads_are_not_seen(name: str) -> None:
    odd = network(name)
    assert not odd.card.attention_seen
    assert _report(odd)["attention_seen"] == [False, False]
    trace = odd.trace(FIRST)
    with pytest.raises(NotForThisNetwork) as caught:
        trace.blocks[0].attention  # noqa: B018
    assert str(caught.value) == (
        f"Not for {name}: ffnviz does not recognise how its attention combines patterns and "
        "values, or the result is not what it writes. Only its FFNs are taken apart."
    )
    assert trace.blocks[0].ffn.hidden.shape == (len(trace.tokens), odd.sizes.d_ff)


def test_what_it_adds_is_patched_all_the_same_where_it_simply_adds_up() -> None:
    odd = network(ADDS_UP)
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
        ffnviz.patch(network(NORMED), SECOND, FIRST, 1, at="attention")
    shown = drawn("neurons", "compare", compare_view="patch", twin=NORMED, text="the [MASK] sat.",
                  other="a [MASK] sat on it.", patched="attention")  # fmt: skip
    assert "attention" not in str(shown.controls["Put in"]["options"])


@pytest.mark.parametrize("name", [ADDS_UP, NORMED])
def test_the_block_page_says_why_it_draws_no_heads(name: str) -> None:
    app = opened("block", text=FIRST, twin=name)
    refused = said(app, "missing")
    assert "“The block” cannot be shown for this network" in refused
    assert Capability.ATTENTION.value in refused


@pytest.mark.parametrize(
    "page", [each for each in PAGES if each.name != "lab"], ids=lambda each: each.name
)
def test_no_part_stumbles_over_it(page: Page) -> None:
    for part in page.parts:
        app = opened(page.name, text=FIRST, part=part.name, twin=ADDS_UP, words="2", repeats="5")
        assert query(app)["twin"] == ADDS_UP
        assert sent_cells(app) or page.name == "learn"  # which shows what one trains
