"""A planted neuron against a network that was built with one neuron more."""

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.analysis.neurons.intervention import masked_loss
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.neurons.insert import Planted, PlantError, output_with, plant, spread, word_id
from tests.analysis.networks import SHAPES, network, ours

TEXT, TOKEN, WORD = "The cat sat on the [MASK].", 3, 77
PROBES = [Probe(text, ()) for text in ("The cat sat.", "Who is it?", "The river was wide.")]
KINDS = [name for name in SHAPES if name not in ("gated", "wide")]


def with_one_neuron_more(model: Model, block: int, planted: Planted) -> Model:
    """Built anew with d_ff + 1; in the other blocks the last neuron writes nothing."""
    values = model.encoder.config.to_dict()
    encoder = Encoder(EncoderConfig.from_dict({**values, "d_ff": values["d_ff"] + 1})).eval()
    weights = {k: v.clone() for k, v in model.encoder.state_dict().items()}
    for number in range(values["n_blocks"]):
        name = f"blocks.{number}.ffn"
        here = number == block
        row = planted.key if here else torch.zeros_like(planted.key)
        column = planted.value if here else torch.zeros_like(planted.value)
        weights[f"{name}.expand.weight"] = torch.cat([weights[f"{name}.expand.weight"], row[None]])
        weights[f"{name}.compress.weight"] = torch.cat(
            [weights[f"{name}.compress.weight"], column[:, None]], dim=1
        )
        if f"{name}.expand.bias" in weights:
            bias = torch.tensor([planted.bias if here else 0.0])
            weights[f"{name}.expand.bias"] = torch.cat([weights[f"{name}.expand.bias"], bias])
    encoder.load_state_dict(weights)
    return Model("larger", encoder.requires_grad_(False), model.tokenizer, model.token_counts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_are_those_of_a_network_with_one_neuron_more(
    tokenizer: Tokenizer, kind: str
) -> None:
    model = network(kind, tokenizer)
    assert isinstance(model, Model)
    trace, block = model.trace(TEXT), model.sizes.n_blocks - 1
    for where in {0, block}:
        planted = plant(model, trace, where, TOKEN, WORD, strength=1.5, choosiness=0.3)
        found = model.logits(model.stream_with(trace, where, output_with(trace, where, planted)))
        built = with_one_neuron_more(model, where, planted).trace(TEXT)
        assert built.blocks[where].ffn.hidden.shape[-1] == model.sizes.d_ff + 1
        assert not torch.allclose(built.logits, trace.logits, atol=1e-2), "or this could not fail"
        torch.testing.assert_close(found, built.logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            planted.hidden(trace.blocks[where].ffn.input), built.blocks[where].ffn.hidden[:, -1]
        )


def test_it_wakes_at_its_token_and_starts_to_where_an_input_is_like_it_enough(
    tokenizer: Tokenizer,
) -> None:
    model = ours(tokenizer)
    trace = model.trace(TEXT)
    planted = plant(model, trace, 1, TOKEN, WORD, strength=2.0, choosiness=0.75)
    x = trace.blocks[1].ffn.input[TOKEN]
    shares = torch.tensor([1.0, 0.875, 0.75, 0.5, -1.0])
    across = torch.randn(16, generator=torch.Generator().manual_seed(1))
    across -= (across @ x) / (x @ x) * x  # what lies across the key does not count
    assert_allclose(planted.hidden(shares[:, None] * x + across), [4, 2, 0, 0, 0], atol=1e-5)
    length = float(planted.writes(x).norm() / trace.blocks[1].ffn.output[TOKEN].norm())
    assert length == pytest.approx(2)


def test_nothing_of_its_length_lifts_the_word_further_above_the_average_word(
    tokenizer: Tokenizer,
) -> None:
    model = ours(tokenizer)
    planted = plant(model, model.trace(TEXT), 1, TOKEN, WORD, strength=1.0, choosiness=0.5)
    norm, words = model.encoder.final_norm, model.encoder.token_embedding.weight

    def lift(written: torch.Tensor) -> torch.Tensor:
        read = (written - written.mean(-1, keepdim=True)) * norm.weight  # type: ignore[operator]
        logits = read @ words.mT
        return logits[..., WORD] - logits.mean(-1)

    own = planted.value / planted.value.norm()
    others = torch.randn(2_000, 16, generator=torch.Generator().manual_seed(1))
    near = torch.nn.functional.normalize(own + 0.1 * others, dim=-1)
    assert float(lift(near).max()) <= float(lift(own)) * (1 + 1e-6)


def test_the_spread_is_that_of_the_larger_network(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    planted = plant(model, model.trace(TEXT), 0, TOKEN, WORD, strength=3.0, choosiness=0.2)
    larger = with_one_neuron_more(model, 0, planted)
    shares: list[float] = []
    found = spread(model, PROBES, 0, planted, 0.05, shares.append)
    assert_allclose(found.loss.plain, masked_loss(model, PROBES), atol=1e-5)
    assert_allclose(found.loss.edited, masked_loss(larger, PROBES), atol=1e-4)
    assert abs(found.loss.worse) > 1e-3, "or this test could not fail"
    assert found.said_before <= found.said_after <= len(found.loss.plain)
    assert shares[-1] == 1
    tokens = [len(tokenizer.encode(probe.text).tokens) for probe in PROBES]
    assert found.n_tokens == sum(tokens)
    values = [woken.value for woken in found.strongest]
    assert values == sorted(values, reverse=True)
    assert min(10, found.awake) == len(values) > 0
    # Each is a place in one of the texts, a hidden token there written as [MASK].
    for woken in found.strongest:
        whole = f"{woken.before}{woken.at}{woken.after}"
        assert "[MASK]" in whole
        ids = torch.tensor(tokenizer.encode(whole).ids)
        hidden = larger.run(ids).blocks[0].ffn.hidden[:, -1]
        assert float((hidden - woken.value).abs().min()) < 1e-4


def test_a_word_it_has_in_pieces_is_refused_with_others_that_it_has(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    whole = word_id(model, " the ")
    assert tokenizer.word(whole) == " the"
    for typed, why in (
        ("", "Type a word"), ("[mask]", "hidden word"), ("xylophone", r"only in pieces: x \+ y"),
        ("There then", r"pieces: The \+ re \+ the \+ n.*Words it has whole: the"),
        ("<b>", "in pieces"),
    ):  # fmt: skip
        with pytest.raises(PlantError, match=why):
            word_id(model, typed)


@pytest.mark.parametrize("kind", ["gated", "stranger", "headless stranger"])
def test_it_is_not_planted_where_the_equation_is_another(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    with pytest.raises(NotForThisNetwork):
        plant(model, model.trace(TEXT), 0, TOKEN, WORD, 1.0, 0.5)


def test_without_biases_every_input_a_little_like_it_wakes_it(tokenizer: Tokenizer) -> None:
    model = network("no biases", tokenizer)
    trace = model.trace(TEXT)
    planted = plant(model, trace, 0, TOKEN, WORD, 1.0, choosiness=0.9)
    assert planted.bias == 0
    x = trace.blocks[0].ffn.input[TOKEN]
    assert float(x @ planted.key) == pytest.approx(4)
    assert planted.value.isfinite().all()
