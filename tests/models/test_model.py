"""ffnviz.load and Model.trace, the network's card, and its parts as equations."""

import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import ffnviz
from ffnviz.models.card import seed_in
from ffnviz.models.encoder import model as model_module
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.model import MODELS, Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network
from ffnviz.models.views import Norm, WordVectors
from tests.analysis.networks import ours
from tests.models.awkward import AWKWARD
from tests.models.test_trace import VARIANTS

TEXT = "The cat sat on the [MASK]."


@pytest.fixture(scope="module")
def tiny(model_folder: Path) -> Model:
    model = ffnviz.load(model_folder)
    assert isinstance(model, Model)
    return model


@pytest.fixture(params=list(VARIANTS.values()), ids=list(VARIANTS), scope="module")
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return ours(tokenizer, **request.param)


def test_a_text_that_fills_all_positions_is_whole_and_a_longer_one_cut(tiny: Model) -> None:
    trace = tiny.trace("[MASK]" * 128)
    assert (len(trace.tokens), trace.n_left_out) == (128, 0)
    text = "the cat and " * 100
    trace = tiny.trace(text)
    assert len(trace.tokens) == trace.logits.shape[0] == 128
    assert trace.n_left_out == len(tiny.tokenizer.encode(text).ids) - 128 > 0
    assert "".join(token.text for token in trace.tokens) + trace.left_out == text
    fitting = tiny.trace(text[: -len(trace.left_out)])
    torch.testing.assert_close(trace.logits, fitting.logits, atol=1e-6, rtol=0)


def test_any_text_can_be_traced_but_the_empty_one(tiny: Model) -> None:
    for name, text in AWKWARD.items():
        trace = tiny.trace(text)
        assert trace.logits.isfinite().all(), name
        shown = "".join(token.text for token in trace.tokens)
        assert shown + trace.left_out == trace.text == text, name
        assert [token.id for token in trace.tokens] == trace.ids.tolist()
        assert torch.equal(tiny.trace(text).logits, trace.logits)
    with pytest.raises(ValueError, match="text is empty"):
        tiny.trace("")


def test_a_model_is_loaded_by_its_folder_as_path_or_text_and_a_twin_by_its_name(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (model_folder, str(model_folder)):
        model = ffnviz.load(folder)
        assert isinstance(model, Model)
        assert (model.name, model.device) == ("tiny", torch.device("cpu"))
        assert model.token_counts.tolist() == list(range(300))
    with pytest.raises(ffnviz.ModelFolderError, match="no-such-model: there is no such folder"):
        ffnviz.load(Path("no-such-model"))
    with pytest.raises(RuntimeError, match="abacus"):
        ffnviz.load(model_folder, device="abacus")
    monkeypatch.setattr(model_module, "MODELS", tmp_path)
    shutil.copytree(model_folder, tmp_path / "relu")
    assert ffnviz.load("relu").name == "relu"


def test_the_view_computes_what_the_ffn_computes(model: Model) -> None:
    network: Network = model  # it satisfies the protocol: mypy reads this line
    trace = network.trace(TEXT)
    for number, (block, walked) in enumerate(zip(trace.blocks, model.walk(trace.ids), strict=True)):
        view = network.ffn(number)
        assert torch.equal(walked.ffn.hidden, block.ffn.hidden)
        assert torch.equal(view.reads(block.middle), block.ffn.input)
        assert torch.equal(view.stages(block.ffn.input).hidden, block.ffn.hidden)
        assert torch.equal(view.write(block.ffn.hidden), block.ffn.output)
        by_neuron = [view.neuron(block.ffn.input, n) for n in range(len(view.keys))]
        torch.testing.assert_close(torch.stack(by_neuron, dim=-1), block.ffn.hidden)
        summed = block.ffn.hidden @ view.values
        if view.output_bias is not None:
            summed = summed + view.output_bias
        torch.testing.assert_close(summed, block.ffn.output)
        again = model.stream_with(trace, number, block.ffn.output)
        assert torch.equal(again, trace.blocks[-1].output)
        if not model.card.pre_norm:
            assert view.norm is None, "it reads its stream as it is"
            assert view.word_norm is not None


def test_the_word_head_and_the_embedding_are_the_encoders(model: Model) -> None:
    trace = model.trace(TEXT)
    last, head = trace.blocks[-1].output, model.head
    torch.testing.assert_close(model.logits(last), trace.logits)
    assert head.words is not None
    read = last if head.norm is None else head.norm(last)
    torch.testing.assert_close(read @ head.words.vectors.mT, trace.logits)
    parts = model.embedding_parts(trace, 2)
    assert list(parts) == ["word", "position"]
    torch.testing.assert_close(sum(parts.values()), trace.embedding[2])


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


def test_a_twin_has_its_record_and_what_has_none_claims_none_whatever_its_name(
    tiny: Model, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    twin = load("gelu").card
    assert twin.provenance is not None
    assert twin.provenance.record == MODELS / "gelu" / "training.json"
    assert twin.provenance.seed == 20_261_120
    known = tiny.card.provenance
    assert (tiny.card.id, tiny.card.label) == ("tiny", "tiny")
    assert known is not None
    assert (known.record, known.seed, known.index) == (None, None, None)
    assert known.token_counts is tiny.token_counts
    card = replace(ours(tokenizer, activation="gelu"), name="relu").card
    assert (card.id, card.phi.name, card.colour) == ("relu", "gelu", "gelu")
    assert card.provenance is not None
    assert card.provenance.record is None
    path = tmp_path / "training.json"
    assert seed_in(path) is None
    for text in ("", "[]", "{}", '{"recipe": {"seed": "x"}}', "\x00"):
        path.write_text(text)
        assert seed_in(path) is None, text


# A fingerprint follows the weights, and nothing else.

CHANGES: dict[str, Callable[[Encoder], Tensor]] = {
    "what a neuron writes": lambda encoder: encoder.blocks[0].ffn.compress.weight[:, 3],
    "one bias": lambda encoder: encoder.blocks[1].ffn.expand.bias[7:8],
    "an attention's output": lambda encoder: encoder.blocks[0].attention.project_out.weight,
    "one word's embedding": lambda encoder: encoder.token_embedding.weight[4_321],
    "the last norm": lambda encoder: encoder.final_norm.weight[:1],  # type: ignore[index]
}


@torch.no_grad()
def test_what_was_trained_on_is_seen_wherever_it_is_and_a_name_or_a_type_is_not() -> None:
    relu = load("relu")  # of which a test run has one
    model = replace(relu, encoder=deepcopy(relu.encoder), name="another")
    assert model.fingerprint == relu.fingerprint
    marks = [relu.fingerprint, load("gelu").fingerprint]
    for name, changed in CHANGES.items():
        changed(model.encoder).add_(0.1)
        marks.append(replace(model).fingerprint)  # computed anew
        assert len({*marks}) == len(marks), name
    # It computes the same, but its neurons have other numbers.
    ffn = model.encoder.blocks[0].ffn
    for weight in (ffn.expand.weight, ffn.expand.bias, ffn.compress.weight.T):
        weight.copy_(weight.flip(0))
    assert replace(model).fingerprint not in marks
    again = replace(relu, encoder=deepcopy(relu.encoder).to(torch.bfloat16))
    assert again.fingerprint == relu.fingerprint
