"""Writing on: each step is the network's own, under edits too; chance follows its seed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ffnviz.analysis.writing import (
    Generation,
    Strategy,
    begin,
    generate,
    logits_before,
    no_text,
    write_word,
)
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.models.network import Network, NotForThisNetwork
from tests.analysis.causal.networks import hooks, ids_of, network_of_kind
from tests.analysis.networks import Stranger, ours, small_model
from tests.models.external.by_hand import Change, logits_of

CHANCE = Strategy(sample=True, seed=5, top_k=50)


@pytest.fixture(scope="module")
def model() -> Model:
    return load("relu")


def written(model: Model, text: str, n: int, strategy: Strategy) -> Generation:
    writing = begin(model, text)
    for _ in range(n):
        writing = write_word(model, writing, strategy)
    return writing


def test_the_same_seed_writes_the_same_text(model: Model) -> None:
    one, two = (written(model, "Once upon a time", 5, CHANCE) for _ in range(2))
    assert one.text == two.text
    other = written(model, "Once upon a time", 5, Strategy(sample=True, seed=6, top_k=50))
    assert other.text != one.text
    inside = written(model, "The [MASK] sat on the", 1, Strategy())
    assert inside.text.startswith("The [MASK] sat on the ")


@pytest.mark.parametrize("text", ["Once upon a [MASK]", "Once upon a", "Once upon a  [mask] "])
def test_the_first_word_is_what_the_page_says_at_a_mask_at_the_end(model: Model, text: str) -> None:
    trace = model.trace("Once upon a [MASK]")
    one_word = written(model, text, 1, Strategy())
    step = one_word.steps[0]
    allowed = np.where(no_text(model), -np.inf, trace.logits[-1].numpy())
    assert step.id == int(allowed.argmax())
    np.testing.assert_allclose(
        logits_before(model, one_word, 0), trace.logits[-1].numpy(), atol=1e-4
    )
    expected = torch.tensor(allowed).double().softmax(dim=0)[step.id]
    assert step.probability == pytest.approx(float(expected), rel=1e-4)


def test_each_word_is_read_before_the_next_is_written(model: Model) -> None:
    writing = written(model, "The old", 5, CHANCE)
    for n in range(1, 5):
        ids = [*model.tokenizer.encode("The old").ids, *(s.id for s in writing.steps[:n])]
        with torch.inference_mode():
            logits = model.encoder(torch.tensor([*ids, model.tokenizer.mask_id])).logits[-1]
        np.testing.assert_allclose(logits_before(model, writing, n), logits.numpy(), atol=1e-4)


def test_writing_stops_where_the_network_can_read_no_more(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    writing = written(model, "a " * 60, 80, CHANCE)
    assert writing.full
    assert len(writing.ids) == model.encoder.config.max_tokens
    assert write_word(model, writing, CHANCE) is writing
    assert begin(model, "a " * 500).full
    # Neither masks nor broken characters are written.
    assert no_text(model)[tokenizer.mask_id]
    text = written(model, "the", 60, Strategy(sample=True, temperature=100)).written
    assert MASK not in text
    assert "\ufffd" not in text


@settings(max_examples=10)
@given(text=st.text(max_size=30))
def test_any_text_can_be_written_on(model: Model, text: str) -> None:
    writing = written(model, text, 2, CHANCE)
    assert len(writing.steps) == 2
    assert writing.text.endswith(writing.steps[-1].word)


FAMILIES = ["GPT-2", "GPT-NeoX", "Llama", "Qwen3", "Granite", "Gemma 2"]
START, N = "the cat", 6
DIRECTION = torch.linspace(-4, 4, 32)


def greedy(
    network: Network, ids: list[int], logits_of_next: Callable[[Tensor], Tensor]
) -> list[int]:
    """The likeliest next entries, one after the other, those that are not text left out."""
    never, written = torch.from_numpy(no_text(network)), list(ids)
    for _ in range(N):
        logits = logits_of_next(torch.tensor(written))
        written.append(int(logits.masked_fill(never, -torch.inf).argmax()))
    return written[len(ids) :]


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_what_a_loop_over_the_hooked_network_writes(family: str) -> None:
    network = network_of_kind(family)
    ids = ids_of(network, START)[0].tolist()

    def second(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, 1] = 0.5 * x[:, 1]
        return x

    moved = Edit(0, add=DIRECTION, at="output")
    changes: list[tuple[Edit | tuple[()], Change]] = [
        ((), lambda x: x),
        (moved, lambda x: x + DIRECTION),
        (Edit(1, scale=0.5, tokens=[1], at="ffn"), second),
        (Edit(1, scale=0.0, at="attention"), torch.zeros_like),
    ]
    for edit, change in changes:
        where = (edit.block, edit.at, change) if isinstance(edit, Edit) else (0, "output", change)
        with hooks(family, where) as model:
            told = greedy(network, ids, lambda ids: logits_of(model, ids[None])[0, -1])
        made = generate(network, START, N, edits=edit)
        assert [step.id for step in made.steps] == told
        assert made.ids == (*ids, *told)
        assert made.text == START + "".join(map(network.tokenizer.word, told))
    assert generate(network, START, N, edits=moved).ids != generate(network, START, N).ids


def test_a_mask_behind_the_text_is_filled_under_the_edit(tokenizer: Tokenizer) -> None:
    network, text = ours(tokenizer), "The cat sat"
    ids = [token.id for token in tokenizer.encode(text).tokens]
    mask, hooked = torch.tensor([tokenizer.mask_id]), network.encoder.blocks[1].ffn.compress
    with hooked.register_forward_pre_hook(lambda _, args: (torch.zeros_like(args[0]),)):
        told = greedy(network, ids, lambda ids: network.encoder(torch.cat([ids, mask])).logits[-1])
    made = generate(network, text + " [MASK]", N, edits=[Edit(1, scale=0.0)])
    assert [step.id for step in made.steps] == told
    assert made.ids == (*ids, *told)
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
    assert headless.tokenizer.mask_id is None
    with pytest.raises(NotForThisNetwork, match="no word head"):
        generate(headless, START)
