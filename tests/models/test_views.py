"""A network's card, and its parts as equations, against the modules they stand for."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from ffnviz.models.card import seed_in
from ffnviz.models.encoder.model import MODELS, Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network
from ffnviz.models.views import Norm, WordVectors
from tests.analysis.networks import ours
from tests.models.test_lazy_values import TEXT, VARIANTS


@pytest.fixture(params=list(VARIANTS.values()), ids=list(VARIANTS))
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return ours(tokenizer, **request.param)


def test_the_view_computes_what_the_ffn_computes(model: Model) -> None:
    network: Network = model  # it satisfies the protocol: mypy reads this line
    trace = network.trace(TEXT)
    for number, block in enumerate(trace.blocks):
        view = network.ffn(number)
        assert torch.equal(view.reads(block.middle), block.ffn.input)
        assert torch.equal(view.stages(block.ffn.input).hidden, block.ffn.hidden)
        assert torch.equal(view.write(block.ffn.hidden), block.ffn.output)
        by_neuron = [view.neuron(block.ffn.input, n) for n in range(len(view.keys))]
        torch.testing.assert_close(torch.stack(by_neuron, dim=-1), block.ffn.hidden)
        summed = block.ffn.hidden @ view.values
        if view.output_bias is not None:
            summed = summed + view.output_bias
        torch.testing.assert_close(summed, block.ffn.output)


def test_the_word_head_and_the_embedding_are_the_encoders(model: Model) -> None:
    trace = model.trace(TEXT)
    torch.testing.assert_close(model.logits(trace.blocks[-1].output), trace.logits)
    head = model.head
    assert head.words is not None
    last = trace.blocks[-1].output
    read = last if head.norm is None else head.norm(last)
    torch.testing.assert_close(read @ head.words.vectors.mT, trace.logits)
    parts = model.embedding_parts(trace, 2)
    assert list(parts) == ["word", "position"]
    torch.testing.assert_close(sum(parts.values()), trace.embedding[2])


def test_the_last_stream_with_what_an_ffn_wrote_is_the_last_stream(model: Model) -> None:
    trace = model.trace(TEXT)
    for number, block in enumerate(trace.blocks):
        again = model.stream_with(trace, number, block.ffn.output)
        assert torch.equal(again, trace.blocks[-1].output)


def test_walking_gives_each_blocks_stages(model: Model) -> None:
    trace = model.trace(TEXT)
    for walked, block in zip(model.walk(trace.ids), trace.blocks, strict=True):
        assert torch.equal(walked.ffn.hidden, block.ffn.hidden)


def test_hidden_is_shown_of_the_blocks_that_are_asked_for(model: Model) -> None:
    """To the bit what a whole pass has, and nothing behind the last of them runs."""
    trace = model.trace(TEXT)
    n_blocks, ran = model.sizes.n_blocks, list[int]()
    hooks = [block.ffn.compress.register_forward_hook(lambda *_: ran.append(1))
             for block in model.encoder.blocks]  # fmt: skip
    for wanted in (range(n_blocks), [0], [n_blocks - 1]):
        ran.clear()
        shown: list[torch.Tensor] = []
        model.show_hidden(trace.ids, wanted, shown.append)
        assert len(ran) == max(wanted)
        for number, hidden in zip(wanted, shown, strict=True):
            assert torch.equal(hidden, trace.blocks[number].ffn.hidden)
    for hook in hooks:
        hook.remove()


@pytest.mark.parametrize("centred", [True, False], ids=["LayerNorm", "RMSNorm"])
@pytest.mark.parametrize("biased", [True, False])
def test_a_norm_is_pytorchs_and_its_parts_sum_to_it(centred: bool, biased: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    gain, bias, direction = torch.randn(3, 12, generator=generator, dtype=torch.float64)
    x = 3 * torch.randn(7, 12, generator=generator, dtype=torch.float64) + 1
    norm = Norm(gain, bias if biased else None, 1e-3, centred)
    theirs = nn.LayerNorm(12, 1e-3) if centred else nn.RMSNorm(12, 1e-3)
    theirs = theirs.double()
    theirs.weight = nn.Parameter(gain)
    expected = theirs(x) + (bias if biased else 0)
    torch.testing.assert_close(norm(x), expected)
    by_parts = (norm.undivided(x / 3) + norm.undivided(2 * x / 3)) / norm.scale(x)[:, None]
    torch.testing.assert_close(by_parts + (bias if biased else 0), expected)
    torch.testing.assert_close(norm.words_along(WordVectors(x), direction), expected @ direction)
    along = norm.undivided_along(direction)
    torch.testing.assert_close(x @ along, norm.undivided(x) @ direction)


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_a_twins_card_says_what_it_is(twin: str) -> None:
    model = load(twin)
    card = model.card
    assert (card.id, card.colour, card.phi.name) == (twin, twin, twin)
    assert card.label == card.phi.label
    assert card.has_mask
    assert card.has_word_head
    assert card.pre_norm
    assert card.ours
    assert not card.gated
    assert not card.causal
    assert card.provenance is not None
    assert card.provenance.seed == 20_261_120
    assert card.provenance.record == MODELS / twin / "training.json"
    assert card.provenance.index is not None
    assert card.provenance.index.is_file()
    assert model.sizes.d_ff == 2_048
    assert model.sizes.vocab_size == 8_192


def test_a_folder_without_a_record_claims_none(model_folder: Path) -> None:
    model = load(model_folder)
    assert (model.card.id, model.card.label) == ("tiny", "tiny")
    known = model.card.provenance
    assert known is not None
    assert known.record is None
    assert known.seed is None
    assert known.index is None
    assert known.token_counts is model.token_counts


def test_a_name_is_only_a_name(tokenizer: Tokenizer) -> None:
    model = replace(ours(tokenizer, activation="gelu"), name="relu")
    assert (model.card.id, model.card.phi.name, model.card.colour) == ("relu", "gelu", "gelu")
    assert model.card.provenance is not None
    assert model.card.provenance.record is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"recipe": {"seed": "x"}}', "\x00"])
def test_a_record_that_tells_no_seed_tells_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "training.json"
    path.write_text(text)
    assert seed_in(path) is None
    assert seed_in(tmp_path / "nothing.json") is None


def test_a_post_norm_block_reads_its_stream_as_it_is(tokenizer: Tokenizer) -> None:
    view = ours(tokenizer, norm="post").ffn(0)
    assert view.norm is None
    assert view.word_norm is not None
