"""Every claim on who hears whom flips when the layer is broken on purpose."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import influence
from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.analysis.lab.experiment import Verdict
from tests.analysis.lab.broken import Peeking, deaf, finding, subject, with_ffn

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


@pytest.fixture
def heard(model_folder: Path) -> influence.Influence:
    """Who hears whom in the small model as it is."""
    return influence.input_influence(subject(model_folder))


def test_all_that_is_said_of_who_hears_whom_holds(heard: influence.Influence) -> None:
    structural = [each for each in heard.findings if "gradient" not in each.claim]
    assert {each.verdict for each in structural} == {HOLDS}


def test_an_ffn_that_peeks_hears_its_neighbour(model_folder: Path) -> None:
    peeking = influence.input_influence(subject(model_folder, with_ffn(Peeking)))
    assert finding(peeking, "FFN:").verdict is FAILS


def test_attention_that_hears_nobody_is_found_out(model_folder: Path) -> None:
    silent = influence.input_influence(subject(model_folder, deaf))
    for claim in ("Attention:", "Encoder block:"):
        assert finding(silent, claim).verdict is FAILS


def test_a_missing_mask_is_found_out(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(influence, "_causal", lambda layer: layer)
    seen = influence.input_influence(subject(model_folder))
    assert finding(seen, "Causal attention:").verdict is FAILS


class Unmasked(DecoderBlock):
    """A decoder block that sees what it has not written yet, and reads nothing."""

    def forward(self, x: Tensor, memory: Tensor) -> object:  # type: ignore[override]
        self.attention.causal = False
        return super().forward(x, torch.zeros_like(memory))


def test_a_convolution_too_few_hears_too_little(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = influence._convolutions
    monkeypatch.setattr(influence, "_convolutions", lambda layers: stack(layers[:-1] or layers))
    seen = influence.input_influence(subject(model_folder))
    assert finding(seen, "3 convolutions").verdict is FAILS


class Backwards(nn.RNN):
    """An RNN that reads from the end."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        output, last = super().forward(x.flip(-2))
        return output.flip(-2), last


@pytest.mark.parametrize(
    ("module", "layer", "broken", "claims"),
    [
        (influence, "DecoderBlock", Unmasked,
         ["Decoder block: no output", "Decoder block: every output"]),
        (nn, "RNN", Backwards, ["RNN and LSTM"]),
    ],
)  # fmt: skip
def test_a_decoder_block_without_mask_or_memory_and_an_rnn_that_reads_backwards_are_found_out(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, layer: str,
    broken: type[nn.Module], claims: list[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(module, layer, broken)
    seen = influence.input_influence(subject(model_folder))
    for claim in claims:
        assert finding(seen, claim).verdict is FAILS


class Loud(nn.RNN):
    """An RNN whose recurrent weights are large."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.get_parameter("weight_hh_l0").data *= 8


def test_a_gradient_vanishes_or_explodes_with_the_recurrent_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
