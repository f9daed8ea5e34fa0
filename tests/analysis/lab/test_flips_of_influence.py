"""Every claim on who hears whom flips when the layer is broken on purpose."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import (
    influence,
)
from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.analysis.lab.experiment import Verdict
from tests.analysis.lab.broken import Peeking, deaf, finding, subject, with_ffn

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


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
