"""Every claim on structure and on who hears whom flips when the layer is broken on purpose."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import bend_deleted, influence, linearity, positions, width
from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.analysis.lab.experiment import Result, Subject, Verdict
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.lab.broken import ByPosition, Peeking, bending, deaf, finding, subject, with_ffn
from tests.analysis.networks import ours

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


def straight(encoder: Encoder) -> None:
    """All FFNs have no φ."""
    for block in encoder.blocks:
        block.ffn.activation = ACTIVATIONS["identity"]


def causal(encoder: Encoder) -> None:
    """Attention knows the order."""
    for block in encoder.blocks:
        block.attention.causal = True


def constant(encoder: Encoder) -> None:
    """All FFNs say always the same."""
    for block in encoder.blocks:
        block.ffn.expand.weight.data.zero_()


def shared(*layers: str) -> Callable[[Encoder], None]:
    """Both blocks have these layers of one FFN."""

    def share(encoder: Encoder) -> None:
        for layer in layers:
            setattr(encoder.blocks[1].ffn, layer, getattr(encoder.blocks[0].ffn, layer))

    return share


PEEKING = with_ffn(Peeking)
Flip = tuple[Callable[[Subject], Result], Callable[[Encoder], None], str, Verdict, Verdict]
FLIPS: list[Flip] = [
    *((partial(positions.try_positions, way=way), PEEKING, "FFN", HOLDS, FAILS)
      for way in positions.WAYS),
    *((partial(positions.try_positions, way=way), deaf, "Attention", HOLDS, FAILS)
      for way in ("change", "delete")),
    (partial(positions.try_positions, way="shuffle"), causal, "Attention", HOLDS, FAILS),
    (positions.try_sharing, with_ffn(ByPosition), "Equal inputs", HOLDS, FAILS),
    (positions.try_sharing, with_ffn(ByPosition), "The FFN is not shared", ONLY_IF, HOLDS),
    (positions.try_sharing, PEEKING, "The FFN is not shared", ONLY_IF, FAILS),
    (positions.try_sharing, constant, "A word", FAILS, HOLDS),
    *((positions.try_sharing, shared(*layers), "Each block has its own FFN", HOLDS, FAILS)
      for layers in (("expand",), ("compress",), ("expand", "compress"))),
    (positions.try_convolution, PEEKING, "The FFN is two", HOLDS, FAILS),
    (width.try_width, PEEKING, "A neuron set to zero", HOLDS, FAILS),
    *((bend_deleted.remove_phi, bending("ffn.compress"), claim, HOLDS, FAILS)
      for claim in ("Without φ, W₁", "A stack")),
    (bend_deleted.remove_phi, bending("ffn.expand"), "Without φ the hidden", HOLDS, FAILS),
]  # fmt: skip


@pytest.mark.parametrize("flip", FLIPS, ids=[claim for _, _, claim, *_ in FLIPS])
def test_a_claim_turns_where_the_network_is_broken(flip: Flip, model_folder: Path) -> None:
    experiment, breaks, claim, sound, broken = flip
    assert finding(experiment(subject(model_folder)), claim).verdict is sound
    assert finding(experiment(subject(model_folder, breaks)), claim).verdict is broken


def test_ranks_are_numpys(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, words = subject(model_folder), "no more could be seen"
    claim, ffn = "Without φ the hidden", subject(model_folder).double.ffn
    d_model, d_ff = ffn.expand.in_features, ffn.expand.out_features
    for activation in ("relu", "identity"):
        ffn.activation = ACTIVATIONS[activation]
        found = bend_deleted.fold(ffn)
        assert found.n_bent >= 2_048
        assert found.n_bent > d_ff
        x = torch.randn(found.n_bent, d_model, generator=torch.Generator().manual_seed(1)).double()
        assert found.bent == np.linalg.matrix_rank(ffn(x).hidden.detach().numpy())
        assert found.bent == (d_ff if activation == "relu" else found.flat)
        assert found.flat == d_model + 1
    assert words not in finding(bend_deleted.remove_phi(tried), claim).measured
    monkeypatch.setattr(bend_deleted, "EXTRA", 8)  # fewer inputs than neurons
    monkeypatch.setattr(bend_deleted, "INPUTS", 0)
    assert words in finding(bend_deleted.remove_phi(tried), claim).measured


class NoNorm(nn.LayerNorm):
    """A LayerNorm that divides by nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * x + self.bias


def test_linearity_is_found_where_it_was_put_and_lost_where_it_was_bent(model_folder: Path) -> None:
    def no_norm(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn_norm.__class__ = NoNorm
            block.attention_norm.__class__ = NoNorm

    def both(encoder: Encoder) -> None:
        no_norm(encoder)
        deaf(encoder)

    crook = bending("ffn.compress", "attention.project_out")
    sound, flat, silent, even, linear, crooked = (
        linearity.try_linearity(subject(model_folder, breaks))
        for breaks in (None, straight, deaf, no_norm, both, crook)
    )
    assert finding(sound, "The FFN is not linear").verdict is HOLDS
    assert finding(flat, "The FFN is not linear").verdict is FAILS
    assert finding(sound, "Without φ").verdict is HOLDS
    assert finding(crooked, "Without φ").verdict is FAILS
    for broken in (even, linear):
        assert finding(broken, "LayerNorm").verdict is HOLDS
    # All before the FFN is meant: attention and LayerNorm must both be linear.
    assert finding(linear, "Attention").verdict is HOLDS
    for broken in (sound, even, silent, flat):
        assert finding(broken, "Attention").verdict is ONLY_IF
    for broken in (sound, silent):
        assert finding(broken, "LayerNorm").verdict is ONLY_IF
    assert finding(crooked, "Attention").verdict is FAILS


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_what_is_held_before_the_ffn_is_the_blocks_own(tokenizer: Tokenizer, norm: str) -> None:
    model = ours(tokenizer, norm=norm)
    tried = Subject(model, model.trace("The cat sat on the mat."), 1, 2)
    x = tried.trace.blocks[1].input.double()
    with torch.inference_mode():
        held = linearity.frozen_before(tried.double, x)
        # At x itself nothing is held; elsewhere it is, and f is a sum of its parts.
        torch.testing.assert_close(held(x), tried.double(x).ffn.input)
        y, zero = x.flip(0), held(torch.zeros_like(x))
        torch.testing.assert_close(held(x + y) + zero, held(x) + held(y))
        assert (held(y) - tried.double(y).ffn.input).abs().max() > 1e-3
    assert finding(linearity.try_linearity(tried), "Attention").verdict is ONLY_IF


def test_a_norm_not_held_is_found(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearity, "frozen_norm", lambda norm, _: norm)
    broken = linearity.try_linearity(subject(model_folder))
    assert finding(broken, "LayerNorm").verdict is FAILS


def heard(folder: Path, breaks: Callable[[Encoder], None] | None = None) -> influence.Influence:
    """Who hears whom in the small model."""
    return influence.input_influence(subject(folder, breaks), length=8)


def test_who_hears_whom_turns_where_the_network_is_broken(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = heard(model_folder).findings
    assert {each.verdict for each in findings if "gradient" not in each.claim} == {HOLDS}
    assert finding(heard(model_folder, PEEKING), "FFN:").verdict is FAILS
    silent = heard(model_folder, deaf)
    for claim in ("Attention:", "Encoder block:"):
        assert finding(silent, claim).verdict is FAILS
    stack = influence._convolutions
    broken: list[tuple[object, str, object, list[str]]] = [
        (influence, "_causal", lambda layer: layer, ["Causal attention:"]),
        (influence, "_convolutions", lambda layers: stack(layers[:-1] or layers),
         ["3 convolutions"]),
        (influence, "DecoderBlock", Unmasked,
         ["Decoder block: no output", "Decoder block: every output"]),
        (nn, "RNN", Backwards, ["RNN and LSTM"]),
    ]  # fmt: skip
    for module, layer, other, claims in broken:
        with monkeypatch.context() as patch:
            patch.setattr(module, layer, other)
            found = heard(model_folder)
        for claim in claims:
            assert finding(found, claim).verdict is FAILS, claim


class Unmasked(DecoderBlock):
    """A decoder block that sees what it has not written yet, and reads nothing."""

    def forward(self, x: Tensor, memory: Tensor) -> object:  # type: ignore[override]
        self.attention.causal = False
        return super().forward(x, torch.zeros_like(memory))


class Backwards(nn.RNN):
    """An RNN that reads from the end."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        output, last = super().forward(x.flip(-2))
        return output.flip(-2), last


class Loud(nn.RNN):
    """An RNN whose recurrent weights are large."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.get_parameter("weight_hh_l0").data *= 8


def test_gradients_vanish_or_explode_with_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    x = 0.1 * torch.randn(12, 48, generator=torch.Generator().manual_seed(2))

    def verdicts(gain: float, inputs: float = 1) -> list[Verdict]:
        found = influence.fading_findings(influence.fade(inputs * x, gain), gain)
        return [each.verdict for each in found[:2]]

    assert verdicts(8.0) == [HOLDS, HOLDS]
    # Times 1 they are not large; times 2 they are, but tanh holds them back where inputs are large.
    assert verdicts(1.0) == [HOLDS, Verdict.UNDECIDED]
    assert verdicts(2.0, inputs=50) == [HOLDS, FAILS]
    monkeypatch.setattr(nn, "RNN", Loud)
    assert verdicts(1.0) == [FAILS, HOLDS]


def test_the_spectral_radius_is_that_of_the_recurrent_weights_as_drawn() -> None:
    d = 192
    found = {each.name: each for each in influence.fade(torch.ones(3, d), 5.0)}
    # Uniform up to 1/√d: a variance of 1/(3 d), and by Girko's circular law a radius near √(1/3).
    assert found[influence.RNN].radius == pytest.approx(3**-0.5, rel=0.1)
    assert found[influence.LOUD].radius == pytest.approx(5 * found[influence.RNN].radius)
    radii = []
    for seed in influence.SEEDS:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            weights = nn.RNN(d, d).get_parameter("weight_hh_l0").detach().double().numpy()
        radii.append(abs(np.linalg.eigvals(weights)).max())
    assert found[influence.RNN].radius == pytest.approx(np.mean(radii), rel=1e-5)


def test_who_forgets_more_slowly_depends_on_who_is_who(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(10, 48, generator=torch.Generator().manual_seed(2))
    rnn, lstm = nn.RNN, nn.LSTM
    sound = influence.fading_findings(influence.fade(x), influence.GAIN)
    monkeypatch.setattr(nn, "RNN", lstm)
    monkeypatch.setattr(nn, "LSTM", rnn)
    swapped = influence.fading_findings(influence.fade(x, 1.0), 1.0)
    assert (sound[2].verdict, swapped[2].verdict) == (HOLDS, FAILS)


@pytest.mark.parametrize("n", [1, 2])
def test_one_step_back_decides_nothing(n: int) -> None:
    found = influence.fading_findings(influence.fade(torch.ones(n, 8)), influence.GAIN)
    assert {each.verdict for each in found} == {Verdict.UNDECIDED}
