"""Every claim on the FFN's structure flips when it is broken on purpose."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import bend_deleted, convolution, linearity, positions
from ffnviz.analysis.lab.experiment import Subject, Verdict
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.lab.broken import ByPosition, Peeking, bent, deaf, finding, subject, with_ffn
from tests.analysis.networks import ours

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


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
    assert finding(sound, "Attention").verdict is HOLDS
    assert finding(silent, "Attention").verdict is FAILS


def test_attention_that_knows_the_order_does_not_follow_a_shuffle(model_folder: Path) -> None:
    def causal(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.attention.causal = True

    sound = positions.try_positions(subject(model_folder), "shuffle")
    ordered = positions.try_positions(subject(model_folder, causal), "shuffle")
    assert finding(sound, "Attention").verdict is HOLDS
    assert finding(ordered, "Attention").verdict is FAILS


def test_weights_of_their_own_at_each_position_are_found_out(model_folder: Path) -> None:
    sound = positions.try_sharing(subject(model_folder))
    broken = positions.try_sharing(subject(model_folder, with_ffn(ByPosition)))
    assert finding(sound, "Equal inputs").verdict is HOLDS
    assert finding(sound, "The FFN is not shared").verdict is ONLY_IF
    assert finding(broken, "Equal inputs").verdict is FAILS
    assert finding(broken, "The FFN is not shared").verdict is HOLDS


def test_an_ffn_that_always_says_the_same_says_it_wherever_a_word_stands(
    model_folder: Path,
) -> None:
    def constant(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.expand.weight.data.zero_()

    sound = positions.try_sharing(subject(model_folder))
    broken = positions.try_sharing(subject(model_folder, constant))
    assert finding(sound, "A word").verdict is FAILS
    assert finding(broken, "A word").verdict is HOLDS


def test_an_ffn_that_peeks_is_not_shared_and_mixes_tokens_all_the_same(model_folder: Path) -> None:
    peeking = positions.try_sharing(subject(model_folder, with_ffn(Peeking)))
    assert finding(peeking, "The FFN is not shared").verdict is FAILS


@pytest.mark.parametrize("layers", [("expand",), ("compress",), ("expand", "compress")])
def test_blocks_that_share_their_ffn_are_found_out(
    model_folder: Path, layers: tuple[str, ...]
) -> None:
    def share(encoder: Encoder) -> None:
        for layer in layers:
            setattr(encoder.blocks[1].ffn, layer, getattr(encoder.blocks[0].ffn, layer))

    claim = "Each block has its own FFN"
    assert finding(positions.try_sharing(subject(model_folder)), claim).verdict is HOLDS
    shared = positions.try_sharing(subject(model_folder, share))
    assert finding(shared, claim).verdict is FAILS


def test_an_ffn_that_peeks_is_no_convolution_with_kernel_1(model_folder: Path) -> None:
    sound = convolution.try_convolution(subject(model_folder))
    peeking = convolution.try_convolution(subject(model_folder, with_ffn(Peeking)))
    assert finding(sound, "The FFN is two").verdict is HOLDS
    assert finding(peeking, "The FFN is two").verdict is FAILS


def test_a_layer_that_bends_does_not_fold(model_folder: Path) -> None:
    def bend_second(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.compress = bent(block.ffn.compress)

    def bend_first(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn.expand = bent(block.ffn.expand)

    sound = bend_deleted.remove_phi(subject(model_folder))
    second = bend_deleted.remove_phi(subject(model_folder, bend_second))
    first = bend_deleted.remove_phi(subject(model_folder, bend_first))
    for claim in ("Without φ, W₁", "A stack"):
        assert finding(sound, claim).verdict is HOLDS
        assert finding(second, claim).verdict is FAILS
    assert finding(sound, "Without φ the hidden").verdict is HOLDS
    assert finding(first, "Without φ the hidden").verdict is FAILS


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


def test_linearity_is_found_where_it_was_put_and_lost_where_it_was_bent(
    model_folder: Path,
) -> None:
    def no_norm(encoder: Encoder) -> None:
        for block in encoder.blocks:
            block.ffn_norm.__class__ = NoNorm
            block.attention_norm.__class__ = NoNorm

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
