"""Every claim of the Lab flips when what it is about is broken on purpose."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import (
    approximation,
    bend_deleted,
    convolution,
    dropout,
    influence,
    linearity,
    positions,
    residual,
    sharing,
    width,
    zoo,
)
from ffnviz.analysis.lab.experiment import Subject, Verdict, in_double
from ffnviz.model.activations import ACTIVATIONS, Activation
from ffnviz.model.attention import AttentionRecord, SelfAttention
from ffnviz.model.decoder import DecoderBlock
from ffnviz.model.encoder import Encoder
from ffnviz.model.model import load
from tests.analysis.lab.broken import ByPosition, Peeking, bent, finding, subject, with_ffn

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


class Deaf(SelfAttention):
    """Attention that hears nobody: a linear layer a token."""

    def forward(self, x: Tensor) -> AttentionRecord:
        record = super().forward(x)
        output = self.project_out(record.values.transpose(-3, -2).flatten(-2))
        return AttentionRecord(x, record.queries, record.keys, record.values, output, record.causal)


def deaf(encoder: Encoder) -> None:
    """All attentions hear nobody."""
    for block in encoder.blocks:
        block.attention.__class__ = Deaf


def straight(encoder: Encoder) -> None:
    """All FFNs have no φ."""
    for block in encoder.blocks:
        block.ffn.activation = ACTIVATIONS["identity"]


@pytest.mark.parametrize("way", positions.WAYS)
def test_an_ffn_that_peeks_is_not_position_wise(model_folder: Path, way: str) -> None:
    sound = positions.try_positions(subject(model_folder), way)
    peeking = positions.try_positions(subject(model_folder, with_ffn(Peeking)), way)
    assert finding(sound, "FFN").verdict is HOLDS
    assert finding(peeking, "FFN").verdict is FAILS


@pytest.mark.parametrize("way", ["change", "delete"])
def test_attention_that_hears_nobody_changes_nobody(model_folder: Path, way: str) -> None:
    sound = positions.try_positions(subject(model_folder), way)
    silent = positions.try_positions(subject(model_folder, deaf), way)
    assert finding(sound, "Attention").verdict is FAILS
    assert finding(silent, "Attention").verdict is HOLDS


def test_attention_that_knows_the_order_does_not_follow_a_shuffle(model_folder: Path) -> None:
    def causal(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.attention.causal = True

    sound = positions.try_positions(subject(model_folder), "shuffle")
    ordered = positions.try_positions(subject(model_folder, causal), "shuffle")
    assert finding(sound, "Attention").verdict is HOLDS
    assert finding(ordered, "Attention").verdict is FAILS


def test_weights_of_their_own_at_each_position_are_found_out(model_folder: Path) -> None:
    sound = sharing.try_sharing(subject(model_folder))
    broken = sharing.try_sharing(subject(model_folder, with_ffn(ByPosition)))
    assert finding(sound, "Equal inputs").verdict is HOLDS
    assert finding(broken, "Equal inputs").verdict is FAILS


def test_an_ffn_that_always_says_the_same_says_it_wherever_a_word_stands(
    model_folder: Path,
) -> None:
    def constant(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.expand.weight.data.zero_()

    sound = sharing.try_sharing(subject(model_folder))
    broken = sharing.try_sharing(subject(model_folder, constant))
    assert finding(sound, "The same word").verdict is FAILS
    assert finding(broken, "The same word").verdict is HOLDS


def test_blocks_that_share_their_ffn_are_found_out(model_folder: Path) -> None:
    def share(encoder: Encoder) -> None:
        encoder.blocks[1].ffn = encoder.blocks[0].ffn

    assert finding(sharing.try_sharing(subject(model_folder)), "All blocks").verdict is FAILS
    shared = sharing.try_sharing(subject(model_folder, share))
    assert finding(shared, "All blocks").verdict is HOLDS


def test_an_ffn_that_peeks_is_no_convolution_with_kernel_1(model_folder: Path) -> None:
    sound = convolution.try_convolution(subject(model_folder))
    peeking = convolution.try_convolution(subject(model_folder, with_ffn(Peeking)))
    assert finding(sound, "The FFN is two").verdict is HOLDS
    assert finding(peeking, "The FFN is two").verdict is FAILS


def test_only_when_length_and_width_agree_does_conv1d_take_the_wrong_axis(
    model_folder: Path,
) -> None:
    long = subject(model_folder)
    n_tokens = long.model.encoder.config.d_model
    text = "".join(token.text for token in long.trace.tokens)
    equal = subject(model_folder, text=long.trace.text[: long.trace.tokens[n_tokens - 1].end])
    assert len(text) > 0
    assert len(equal.trace.tokens) == n_tokens
    assert finding(convolution.try_convolution(long), "Conv1d").verdict is FAILS
    assert finding(convolution.try_convolution(equal), "Conv1d").verdict is HOLDS


def test_a_layer_that_bends_does_not_fold(model_folder: Path) -> None:
    def bend_second(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.compress = bent(block.ffn.compress)

    def bend_first(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.expand = bent(block.ffn.expand)

    sound = bend_deleted.delete_bend(subject(model_folder))
    second = bend_deleted.delete_bend(subject(model_folder, bend_second))
    first = bend_deleted.delete_bend(subject(model_folder, bend_first))
    for claim in ("Without φ, W₁", "A stack"):
        assert finding(sound, claim).verdict is HOLDS
        assert finding(second, claim).verdict is FAILS
    assert finding(sound, "Without φ the hidden").verdict is HOLDS
    assert finding(first, "Without φ the hidden").verdict is FAILS


def test_a_network_without_phi_can_do_without_it(model_folder: Path) -> None:
    sound = bend_deleted.delete_bend(subject(model_folder))
    flat = bend_deleted.delete_bend(subject(model_folder, straight))
    assert finding(sound, "The network can").verdict is FAILS
    assert finding(flat, "The network can").verdict is HOLDS


class NoNorm(nn.LayerNorm):
    """A LayerNorm that divides by nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * x + self.bias


def test_linearity_is_found_where_it_was_put_and_lost_where_it_was_bent(
    model_folder: Path,
) -> None:
    def no_norm(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn_norm.__class__ = NoNorm

    def both(encoder: Encoder) -> None:
        no_norm(encoder)
        deaf(encoder)

    def bend(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.compress = bent(block.ffn.compress)
            block.attention.project_out = bent(block.attention.project_out)

    sound, flat, silent, even, linear, crooked = (
        linearity.try_linearity(subject(model_folder, breaks))
        for breaks in (None, straight, deaf, no_norm, both, bend)
    )
    for claim, broken in (("FFN:", flat), ("Attention:", silent), ("LayerNorm:", even)):
        assert finding(sound, claim).verdict is FAILS
        assert finding(broken, claim).verdict is HOLDS
    for claim in ("FFN without φ", "Attention (weights"):
        assert finding(sound, claim).verdict is HOLDS
        assert finding(crooked, claim).verdict is FAILS
    assert finding(sound, "All but the FFN").verdict is ONLY_IF
    assert finding(linear, "All but the FFN").verdict is HOLDS
    assert finding(crooked, "All but the FFN").verdict is FAILS


def test_a_norm_that_is_not_what_its_weights_say_is_not_linear_when_frozen(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "LayerNorm (statistics"
    sound = linearity.try_linearity(subject(model_folder))
    monkeypatch.setattr(linearity, "_frozen_norm", lambda norm, _: norm)
    broken = linearity.try_linearity(subject(model_folder))
    assert finding(sound, claim).verdict is HOLDS
    assert finding(broken, claim).verdict is FAILS


def test_a_layer_without_a_bend_fits_no_curve() -> None:
    wave = approximation.FUNCTIONS["wave"]
    curved, flat = (
        approximation.approximate(wave, name, (1, 16, 64)) for name in ("relu", "identity")
    )
    for claim in ("One hidden layer", "A wider layer"):
        assert finding(curved, claim).verdict is HOLDS
        assert finding(flat, claim).verdict is FAILS


def test_a_straight_line_leaves_nothing_to_gain() -> None:
    line = approximation.approximate(approximation.FUNCTIONS["straight line"], "relu", (1, 8))
    assert finding(line, "A wider layer").verdict is Verdict.UNDECIDED


def test_whether_phi_must_bend_depends_on_phi(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "A wide enough"
    assert finding(approximation.bent_and_straight(subject(model_folder)), claim).verdict is ONLY_IF
    identity, relu = ACTIVATIONS["identity"], ACTIVATIONS["relu"]
    monkeypatch.setitem(ACTIVATIONS, "identity", relu)
    assert finding(approximation.bent_and_straight(subject(model_folder)), claim).verdict is HOLDS
    monkeypatch.setitem(ACTIVATIONS, "identity", identity)
    monkeypatch.setitem(ACTIVATIONS, "relu", identity)
    assert finding(approximation.bent_and_straight(subject(model_folder)), claim).verdict is FAILS


@pytest.fixture
def heard(model_folder: Path) -> influence.Influence:
    """Who hears whom in the small model as it is."""
    return influence.who_hears_whom(subject(model_folder))


def test_all_that_is_said_of_who_hears_whom_holds(heard: influence.Influence) -> None:
    structural = [each for each in heard.findings if not each.claim.startswith("An RNN forgets")]
    assert {each.verdict for each in structural} == {HOLDS}


def test_an_ffn_that_peeks_hears_its_neighbour(model_folder: Path) -> None:
    peeking = influence.who_hears_whom(subject(model_folder, with_ffn(Peeking)))
    assert finding(peeking, "FFN:").verdict is FAILS


def test_attention_that_hears_nobody_is_found_out(model_folder: Path) -> None:
    silent = influence.who_hears_whom(subject(model_folder, deaf))
    for claim in ("Attention:", "Encoder block:"):
        assert finding(silent, claim).verdict is FAILS


def test_a_missing_mask_is_found_out(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(influence, "_causal", lambda layer: layer)
    seen = influence.who_hears_whom(subject(model_folder))
    assert finding(seen, "Causal attention:").verdict is FAILS


class Unmasked(DecoderBlock):
    """A decoder block that sees what it has not written yet, and reads nothing."""

    def forward(self, x: Tensor, memory: Tensor) -> object:  # type: ignore[override]
        self.attention.causal = False
        return super().forward(x, torch.zeros_like(memory))


def test_a_decoder_block_without_its_mask_or_its_memory_is_found_out(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(influence, "DecoderBlock", Unmasked)
    seen = influence.who_hears_whom(subject(model_folder))
    assert finding(seen, "Decoder block: no output").verdict is FAILS
    assert finding(seen, "Decoder block: every output").verdict is FAILS


def test_a_convolution_too_few_hears_too_little(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = influence._convolutions
    monkeypatch.setattr(influence, "_convolutions", lambda layers: stack(layers[:-1]))
    seen = influence.who_hears_whom(subject(model_folder))
    assert finding(seen, "3 convolutions").verdict is FAILS


class Backwards(nn.RNN):
    """An RNN that reads from the end."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        output, last = super().forward(x.flip(-2))
        return output.flip(-2), last


def test_an_rnn_that_reads_backwards_is_found_out(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nn, "RNN", Backwards)
    seen = influence.who_hears_whom(subject(model_folder))
    assert finding(seen, "RNN and LSTM").verdict is FAILS


def test_who_forgets_less_depends_on_who_is_who(
    model_folder: Path, heard: influence.Influence, monkeypatch: pytest.MonkeyPatch
) -> None:
    rnn, lstm = nn.RNN, nn.LSTM
    monkeypatch.setattr(nn, "RNN", lstm)
    monkeypatch.setattr(nn, "LSTM", rnn)
    swapped = influence.who_hears_whom(subject(model_folder))
    verdicts = {finding(each, "An RNN forgets").verdict for each in (heard, swapped)}
    assert verdicts == {HOLDS, FAILS}


@pytest.mark.parametrize("claim", ["What a sub-layer", "A block keeps"])
def test_sub_layers_that_whisper_and_shout_are_told_apart(model_folder: Path, claim: str) -> None:
    def scaled(factor: float) -> Subject:
        def breaks(encoder: Encoder) -> None:
            encoder.token_embedding.weight.data *= 10
            for block in encoder.blocks:
                for layer in (block.ffn.compress, block.attention.project_out):
                    layer.weight.data *= factor
                    layer.bias.data *= factor

        return subject(model_folder, breaks)

    quiet, loud = (residual.try_residual(scaled(factor), depth=2) for factor in (1e-3, 1e3))
    assert finding(quiet, claim).verdict is HOLDS
    assert finding(loud, claim).verdict is FAILS


@pytest.mark.parametrize("claim", ["Before training, the last", "Before training, gradients"])
def test_pre_and_post_ln_taken_for_each_other_turn_the_verdict(
    model_folder: Path, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = residual.try_residual(subject(model_folder), depth=4)
    measure = residual._gradients
    other = {"pre": "post", "post": "pre"}
    monkeypatch.setattr(
        residual, "_gradients", lambda subject, norm, depth: measure(subject, other[norm], depth)
    )
    after = residual.try_residual(subject(model_folder), depth=4)
    assert {finding(before, claim).verdict, finding(after, claim).verdict} == {HOLDS, FAILS}


def test_a_gelu_that_is_relu_never_falls(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "GELU, like ReLU"
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is FAILS
    monkeypatch.setitem(ACTIVATIONS, "gelu", ACTIVATIONS["relu"])
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is HOLDS


@pytest.mark.parametrize(
    ("stand_in", "verdict"), [("gelu_tanh", ONLY_IF), ("gelu", HOLDS), ("wild", FAILS)]
)
def test_two_gelus_are_the_same_only_if_they_are(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, stand_in: str, verdict: Verdict
) -> None:
    wild = Activation("gelu_tanh", "wild", "", lambda x: 30 * (50 * x).sin(), False, "nowhere")
    monkeypatch.setitem(ACTIVATIONS, "gelu_tanh", {**ACTIVATIONS, "wild": wild}[stand_in])
    seen = zoo.visit_zoo(subject(model_folder))
    assert finding(seen, "GELU and its tanh").verdict is verdict


def test_a_gate_without_the_two_thirds_is_larger(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "A gated FFN"
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is HOLDS
    monkeypatch.setattr(zoo, "GATE_SHARE", 1.0)
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is FAILS


def test_an_ffn_that_peeks_does_more_than_its_neurons(model_folder: Path) -> None:
    claim = "A neuron set to zero"
    assert finding(width.try_width(subject(model_folder)), claim).verdict is HOLDS
    peeking = width.try_width(subject(model_folder, with_ffn(Peeking)))
    assert finding(peeking, claim).verdict is FAILS


@pytest.mark.parametrize(
    ("important", "random", "verdict"),
    [(True, True, HOLDS), (True, False, ONLY_IF), (False, True, FAILS), (False, False, FAILS)],
)
def test_which_half_may_go_follows_from_both_cuts(
    model_folder: Path, important: bool, random: bool, verdict: Verdict
) -> None:
    found = width.try_width(subject(model_folder), (1.0, 0.5))
    d_ff = found.important[0].d_ff

    def cuts(kept: bool) -> tuple[width.Cut, ...]:
        whole, half = found.important
        return whole, width.Cut(half.d_ff, half.divergence, half.prediction, kept)

    assert width._half(cuts(important), cuts(random), d_ff).verdict is verdict


def test_dropout_that_forgets_to_divide_is_biased(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "On average, dropout"
    assert finding(dropout.try_dropout(subject(model_folder), 0.3), claim).verdict is HOLDS
    divided = torch.nn.functional.dropout
    undivided = SimpleNamespace(dropout=lambda hidden, p: (1 - p) * divided(hidden, p))
    monkeypatch.setattr(dropout, "F", undivided)
    assert finding(dropout.try_dropout(subject(model_folder), 0.3), claim).verdict is FAILS


def test_the_prediction_moves_with_much_dropout_and_not_without_any() -> None:
    claim, model = "So, on average", load("relu")
    trained = Subject(model, model.trace("She opened the [MASK]."), 1, 3, in_double(model))
    without = finding(dropout.try_dropout(trained, 0.0), claim)
    assert without.verdict is HOLDS
    assert math.isfinite(without.check.value)
    assert finding(dropout.try_dropout(trained, 0.5), claim).verdict is FAILS
