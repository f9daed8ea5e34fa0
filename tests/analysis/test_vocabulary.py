"""Predictions, the stream read early, a logit taken apart, decoding, and writing on: by hand."""

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lens import largest_gain, read_early
from ffnviz.analysis.writing import (
    Generation,
    Strategy,
    begin,
    distribution,
    entropy,
    generate,
    logits_before,
    no_text,
    pick,
    write_word,
)
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.models.network import Network, NotForThisNetwork
from tests.analysis.causal.networks import hooks, ids_of, network_of_kind
from tests.analysis.networks import Stranger, ours, small_model
from tests.models.external.by_hand import Change, logits_of

TEXT = "The cat sat on the [MASK]."


@pytest.fixture
def small(tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", "gelu")


def test_a_reading_is_the_norm_and_the_output_on_the_stream(small: Model) -> None:
    trace, encoder = small.trace(TEXT), small.encoder
    word = int(trace.logits[5].argmax())
    readings = read_early(small, trace, 5, word, k=4)
    streams = [trace.embedding]
    streams += [stream for block in trace.blocks for stream in (block.middle, block.output)]
    norm = copy.deepcopy(encoder.final_norm).double()
    for reading, stream in zip(readings, streams, strict=True):
        logits = encoder.token_embedding.weight.double() @ norm(stream[5].double())
        assert reading.prediction.ids.tolist() == logits.topk(4).indices.tolist()
        assert reading.probability == pytest.approx(float(logits.softmax(0)[word]), rel=1e-4)
        assert reading.rank == 1 + int((logits > logits[word]).sum())
    assert [reading.stage for reading in readings] == [
        "embedding", "attention 1", "FFN 1", "attention 2", "FFN 2", "attention 3", "FFN 3"
    ]  # fmt: skip
    before, after = largest_gain(readings)
    grown = np.diff(np.log([reading.probability for reading in readings]))
    assert (before, after) == (readings[grown.argmax()], readings[grown.argmax() + 1])


LOGITS = hnp.arrays(np.float32, st.integers(1, 30), elements=st.floats(-20, 20, width=32))
FOUR = np.log(np.array([0.5, 0.25, 0.15, 0.1]))


@given(logits=LOGITS, k=st.integers(0, 40), p=st.floats(0.01, 1), temperature=st.floats(0.05, 10))
def test_the_softmax_is_torchs_and_the_cut_keeps_the_likeliest(
    logits: NDArray[np.float32], k: int, p: float, temperature: float
) -> None:
    found = distribution(logits, Strategy(temperature, k, p))
    expected = torch.softmax(torch.tensor(logits).double() / temperature, dim=0).numpy()
    np.testing.assert_allclose(found.softmax, expected, rtol=1e-9, atol=1e-15)
    kept = set(found.order[: found.n_kept].tolist())
    assert found.cut.sum() == pytest.approx(1)
    assert set(np.flatnonzero(found.cut).tolist()) <= kept
    ranked = np.sort(found.softmax)[::-1][: k or None]
    reached = ranked.cumsum() / ranked.sum()  # top-p counts among what top-k left
    assert 1 <= found.n_kept <= len(ranked)
    assert reached[found.n_kept - 1] >= p - 1e-9, "as many as reach p"
    assert found.n_kept == 1 or reached[found.n_kept - 2] < p + 1e-9, "and no more"
    least_kept = min(found.softmax[list(kept)])
    assert all(found.softmax[i] <= least_kept for i in range(len(logits)) if i not in kept)
    np.testing.assert_allclose(found.cut * found.kept_share, np.where(
        np.isin(np.arange(len(logits)), list(kept)), found.softmax, 0), atol=1e-12)  # fmt: skip


def test_what_is_no_text_has_no_share_and_entropy_is_in_bits() -> None:
    found = distribution(FOUR, Strategy(), np.array([True, False, False, False]))
    assert found.softmax[0] == 0
    assert found.order[0] == 1
    assert found.softmax[1] == pytest.approx(0.5)
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(3)
    assert entropy(np.array([1.0, 0.0])) == 0
    assert entropy(np.array([0.5, 0.25, 0.25])) == pytest.approx(1.5)


def test_the_same_seed_and_step_pick_the_same_and_others_differ() -> None:
    chance = torch.random.get_rng_state(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    told = distribution(np.zeros(1_000), Strategy())
    picks, again, others = (
        [pick(told, Strategy(sample=True, seed=seed), step) for step in range(20)]
        for seed in (3, 3, 4)
    )
    assert picks == again != others
    assert len(set(picks)) > 15
    assert torch.equal(chance[0], torch.random.get_rng_state())
    assert np.random.get_state()[1].tolist() == chance[1]  # type: ignore[index]  # noqa: NPY002


def test_picks_by_chance_have_the_probabilities_of_the_cut() -> None:
    told = distribution(FOUR, Strategy(top_k=3))
    n = 4_000
    counts = Counter(pick(told, Strategy(sample=True, seed=seed)) for seed in range(n))
    assert set(counts) == {0, 1, 2}
    for entry in range(3):
        spread = np.sqrt(told.cut[entry] * (1 - told.cut[entry]) / n)
        assert counts[entry] / n == pytest.approx(told.cut[entry], abs=4 * spread)


# Writing on: each step is the network's own, under edits too; chance follows its seed.


CHANCE = Strategy(sample=True, seed=5, top_k=50)


@pytest.fixture(scope="module")
def model() -> Model:
    return load("relu")


def written(model: Model, text: str, n: int, strategy: Strategy) -> Generation:
    writing = begin(model, text)
    for _ in range(n):
        writing = write_word(model, writing, strategy)
    return writing


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


def test_writing_stops_where_the_network_can_read_no_more(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    room = model.encoder.config.max_tokens
    writing = written(model, "a " * (room - 10), 20, CHANCE)
    assert writing.full
    assert len(writing.ids) == room
    assert write_word(model, writing, CHANCE) is writing
    assert written(model, "The [MASK] is", 1, CHANCE).text.startswith("The [MASK] is")
    assert begin(model, "a " * 500).full
    # Neither masks nor broken characters are written.
    assert no_text(model)[tokenizer.mask_id]
    text = written(model, "the", 30, Strategy(sample=True, temperature=100)).written
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
        ({"top_p": 1.1}, "top_p = 1.1"),
        ({"top_k": 0.5}, "top_k = 0.5"),
        ({"top_k": -1}, "top_k = -1"),
        ({"temperature": 0.0}, "temperature 0.0"),
        ({"edits": Edit(9, scale=0.0)}, "There is no block 9"),
        ({"edits": Edit(0, scale=0.0, tokens=[40])}, "There is no token 40"),
    ):
        asked: dict[str, Any] = {"n": 1} | dict(wrong)
        with pytest.raises(ValueError, match=said):
            generate(network, START, **asked)
    with pytest.raises(ValueError, match="top_k = -1"):
        Strategy(top_k=-1)
    with pytest.raises(TypeError, match="A text is a str"):
        generate(network, [START], 1)  # type: ignore[arg-type]
    headless = Stranger(tokenizer, headless=True)
    assert headless.tokenizer.mask_id is None
    with pytest.raises(NotForThisNetwork, match="no word head"):
        generate(headless, START)
