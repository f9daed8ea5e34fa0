"""Text generated under edits, against a greedy loop with hooks written by hand."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.writing import generate, no_text
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import ids_of, network_of_kind
from tests.analysis.networks import Stranger, Unmasked, ours
from tests.models.external.by_hand import hooked, logits_of

FAMILIES = ["GPT-2", "GPT-NeoX", "Llama", "Qwen3", "Granite", "Gemma 2"]
START, N = "the cat", 6
DIRECTION = torch.linspace(-4, 4, 32)


def greedy(model: nn.Module, ids: Tensor, never: Tensor) -> list[int]:
    """The likeliest next entries, one after the other, those that are not text left out."""
    written = []
    for _ in range(N):
        logits = logits_of(model, ids)[0, -1].masked_fill(never, -torch.inf)
        written.append(int(logits.argmax()))
        ids = torch.cat([ids, ids.new_tensor([[written[-1]]])], dim=1)
    return written


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_what_a_loop_over_the_hooked_network_writes(family: str) -> None:
    network = network_of_kind(family)
    never, ids = torch.from_numpy(no_text(network)), ids_of(network, START)
    plain = generate(network, START, N)

    def moved(x: Tensor) -> Tensor:
        return x + DIRECTION

    def second(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, 1] = 0.5 * x[:, 1]
        return x

    for change, edit in (
        (lambda x: x, ()),
        (moved, Edit(0, add=DIRECTION, at="output")),
        (second, Edit(1, scale=0.5, tokens=[1], at="ffn")),
        (torch.zeros_like, Edit(1, scale=0.0, at="attention")),
    ):
        at, block = (edit.at, edit.block) if isinstance(edit, Edit) else ("output", 0)
        told = greedy(hooked(family, block, at, change), ids, never)
        made = generate(network, START, N, edits=edit)
        assert [step.id for step in made.steps] == told
        assert made.ids == (*ids[0].tolist(), *told)
        assert made.text == START + "".join(map(network.tokenizer.word, told))
    bent = generate(network, START, N, edits=Edit(0, add=DIRECTION, at="output"))
    assert bent.ids != plain.ids


def test_a_mask_behind_the_text_is_filled_under_the_edit(tokenizer: Tokenizer) -> None:
    network = ours(tokenizer)
    text, encoder, never = "The cat sat", network.encoder, torch.from_numpy(no_text(network))
    ids = [token.id for token in tokenizer.encode(text).tokens]
    start = len(ids)

    def off(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (torch.zeros_like(args[0]),)

    for _ in range(N):  # a hook before W₂, and [MASK] behind
        hook = encoder.get_submodule("blocks.1.ffn.compress").register_forward_pre_hook(off)
        logits = encoder(torch.tensor([*ids, tokenizer.mask_id])).logits[-1]
        hook.remove()
        ids.append(int(logits.masked_fill(never, -torch.inf).argmax()))
    made = generate(network, text + " [MASK]", N, edits=[Edit(1, scale=0.0)])
    assert made.ids == tuple(ids)
    assert [step.id for step in made.steps] == ids[start:]
    assert generate(network, text, N).ids != made.ids


def test_chance_follows_its_seed_and_the_room_ends_it(tokenizer: Tokenizer) -> None:
    network = network_of_kind("GPT-2")
    first = generate(network, START, N, sample=True, seed=1)
    assert generate(network, START, N, sample=True, seed=1) == first
    others = [generate(network, START, N, sample=True, seed=seed).ids for seed in range(2, 6)]
    assert any(other != first.ids for other in others)
    assert generate(network, START, N, sample=True, top_k=1).ids == generate(network, START, N).ids
    stranger = Stranger(tokenizer)
    long = generate(stranger, "the man", 100)
    assert long.full
    assert len(long.ids) == stranger.LONGEST
    assert generate(stranger, "the man", 0).steps == ()


def test_what_cannot_be_is_said(tokenizer: Tokenizer) -> None:
    network = network_of_kind("GPT-2")
    for wrong, said in (
        ({"n": -1}, "n = -1"),
        ({"seed": -1}, "seed = -1"),
        ({"top_p": 0.0}, "top_p = 0.0"),
        ({"top_k": 0.5}, "top_k = 0.5"),
        ({"temperature": 0.0}, "temperature 0.0"),
        ({"edits": Edit(9, scale=0.0)}, "There is no block 9"),
        ({"edits": Edit(0, scale=0.0, tokens=[40])}, "There is no token 40"),
    ):
        asked: dict[str, Any] = {"n": 1} | dict(wrong)
        with pytest.raises(ValueError, match=said):
            generate(network, START, **asked)
    with pytest.raises(TypeError, match="A text is a str"):
        generate(network, [START], 1)  # type: ignore[arg-type]
    headless = Stranger(tokenizer, headless=True)
    assert isinstance(headless.tokenizer, Unmasked)
    with pytest.raises(NotForThisNetwork, match="no word head"):
        generate(headless, START)
