"""Every claim on the FFN's structure flips when it is broken on purpose."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import bend_deleted, convolution, linearity, positions, width
from ffnviz.analysis.lab.experiment import Result, Subject, Verdict
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.block import Block
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
FLIPS = [
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
    (convolution.try_convolution, PEEKING, "The FFN is two", HOLDS, FAILS),
    (width.try_width, PEEKING, "A neuron set to zero", HOLDS, FAILS),
    *((bend_deleted.remove_phi, bending("ffn.compress"), claim, HOLDS, FAILS)
      for claim in ("Without φ, W₁", "A stack")),
    (bend_deleted.remove_phi, bending("ffn.expand"), "Without φ the hidden", HOLDS, FAILS),
]  # fmt: skip


@pytest.mark.parametrize(("experiment", "breaks", "claim", "sound", "broken"), FLIPS)
def test_a_claim_turns_when_the_network_is_broken_on_purpose(
    model_folder: Path,
    experiment: Callable[[Subject], Result],
    breaks: Callable[[Encoder], None],
    claim: str,
    sound: Verdict,
    broken: Verdict,
) -> None:
    assert finding(experiment(subject(model_folder)), claim).verdict is sound
    assert finding(experiment(subject(model_folder, breaks)), claim).verdict is broken


@pytest.mark.parametrize("activation", ["relu", "identity"])
def test_ranks_are_numpys_and_no_lack_of_inputs_hides_what_phi_adds(
    model_folder: Path, activation: str
) -> None:
    ffn = subject(model_folder).double.ffn
    ffn.activation = ACTIVATIONS[activation]
    d_model, d_ff = ffn.expand.in_features, ffn.expand.out_features
    found = bend_deleted.fold(ffn)
    assert found.n_bent >= 2_048
    assert found.n_bent > d_ff
    x = torch.randn(found.n_bent, d_model, generator=torch.Generator().manual_seed(1)).double()
    hidden = ffn(x).hidden.detach().numpy()
    assert found.bent == np.linalg.matrix_rank(hidden)
    assert found.bent == (d_ff if activation == "relu" else found.flat)
    assert found.flat == d_model + 1


def test_a_rank_that_all_inputs_reach_is_said_to_be_theirs(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, words = subject(model_folder), "no more could be seen"
    claim = "Without φ the hidden"
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
def test_all_before_the_ffn_is_the_blocks_own_way_with_what_is_held(
    tokenizer: Tokenizer, norm: str
) -> None:
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


def test_a_bend_before_the_ffn_is_found_even_when_attention_and_norms_are_held(
    model_folder: Path,
) -> None:
    class BentSum(Block):
        def add_attention(self, x: Tensor, output: Tensor) -> Tensor:
            return super().add_attention(x, output).tanh()

    def bend_sum(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.__class__ = BentSum

    found = linearity.try_linearity(subject(model_folder, bend_sum))
    assert finding(found, "Attention").verdict is FAILS


def test_a_norm_that_is_not_what_its_weights_say_is_not_linear_when_frozen(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "LayerNorm"
    sound = linearity.try_linearity(subject(model_folder))
    monkeypatch.setattr(linearity, "frozen_norm", lambda norm, _: norm)
    broken = linearity.try_linearity(subject(model_folder))
    assert finding(sound, claim).verdict is ONLY_IF
    assert finding(broken, claim).verdict is FAILS
