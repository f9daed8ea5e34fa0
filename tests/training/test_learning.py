"""The loop learns what there is to learn, at the rates it says, the same way for both twins."""

from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.training import loop
from ffnviz.training.corpus import Corpus
from ffnviz.training.loop import (
    Progress,
    TrainingState,
    hardware,
    learning_rate,
    masked_loss,
    train,
)
from ffnviz.training.masking import Batch, Recipe, training_batch
from tests.gpu.simulated_gpu import GpuTensor, simulated_gpu
from tests.training.conftest import silent

CPU = torch.device("cpu")


def test_both_twins_see_the_same_batches_and_start_from_the_same_weights(
    config: EncoderConfig,
    half_sentences: Recipe,
    both: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Batch] = []

    def recording(*arguments: Any) -> Batch:
        seen.append(training_batch(*arguments))
        return seen[-1]

    monkeypatch.setattr(loop, "training_batch", recording)
    relu, gelu = (
        train(
            replace(config, activation=name), half_sentences, both, 0, tmp_path / name, CPU, silent
        )
        for name in ("relu", "gelu")
    )
    steps = half_sentences.steps
    assert len(seen) == 2 * steps
    for one, other in zip(seen[:steps], seen[steps:], strict=True):
        assert torch.equal(one.inputs, other.inputs)
        assert torch.equal(one.targets, other.targets)
    # Only φ differed, and it made a difference.
    weights, others = (twin.encoder.token_embedding.weight for twin in (relu, gelu))
    assert not torch.equal(weights, others)


def test_the_report_counts_steps_and_tokens(
    config: EncoderConfig, recipe: Recipe, corpus: Corpus, tmp_path: Path
) -> None:
    told: list[Progress] = []
    train(config, recipe, corpus, 0, tmp_path / "checkpoint", CPU, told.append)
    sizes = [
        training_batch(corpus, recipe, config.max_tokens, 0, step).inputs.numel()
        for step in range(recipe.steps)
    ]
    assert [progress.step for progress in told] == [1, 2, 3, 4, 5, 6, 7]
    assert [progress.tokens for progress in told] == np.cumsum(sizes).tolist()
    assert all(np.isfinite(progress.loss) for progress in told)


@pytest.mark.parametrize("fast", [False, True])
def test_the_training_loss_is_the_mean_cross_entropy_at_the_masked_positions(
    config: EncoderConfig,
    recipe: Recipe,
    corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
    fast: bool,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": fast}, raising=False)
    assert hardware(CPU).endswith("bfloat16 autocast" if fast else "float32")
    encoder = initial_encoder(config, seed=1).eval()
    with torch.no_grad():
        encoder.token_embedding.weight.mul_(20)  # so that the loss is not that of a mere guess
    batch = training_batch(corpus, recipe, config.max_tokens, 0, step=0)
    logits = encoder(batch.inputs).logits.detach().double().numpy()
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    at_masked = shares[batch.masked.numpy()]
    expected = -np.log(at_masked[np.arange(len(batch.targets)), batch.targets.numpy()]).mean()
    # bfloat16 has 8 bits of precision.
    loss = masked_loss(encoder, batch, CPU).item()
    assert loss == pytest.approx(expected, rel=0.02)
    assert (loss == pytest.approx(expected, rel=1e-5)) != fast
    assert abs(expected - np.log(290)) > 0.5


RECIPE = Recipe(steps=1_000, warmup_steps=100, learning_rate=0.5)


def test_the_rate_warms_up_and_then_half_a_cosine_falls_to_zero() -> None:
    cosine_of_45 = 0.25 * (1 + 0.5**0.5)
    expected = {0: 0.005, 49: 0.25, 99: 0.5, 100: 0.5, 325: cosine_of_45, 550: 0.25, 1_000: 0}
    found = {step: learning_rate(RECIPE, step) for step in expected}
    assert found == pytest.approx(expected, abs=1e-12)
    rates = [learning_rate(RECIPE, step) for step in range(99, 1_001)]
    assert rates == sorted(rates, reverse=True)
    short = replace(RECIPE, steps=1)
    assert learning_rate(short, 0) == pytest.approx(0.005)


def test_a_full_run_looks_at_the_held_out_books_often_and_most_at_the_start() -> None:
    recipe = Recipe()
    steps = recipe.point_steps()
    assert len(steps) == recipe.points >= 20
    assert {0, recipe.steps} <= steps
    gaps = [after - before for before, after in pairwise(sorted(steps))]
    assert gaps == sorted(gaps)
    assert gaps[0] < gaps[-1] / 20


@given(st.integers(1, 100_000), st.integers(2, 60))
def test_the_first_and_the_last_step_are_always_among_them(steps: int, points: int) -> None:
    chosen = replace(RECIPE, steps=steps, points=points).point_steps()
    assert min(chosen) == 0
    assert max(chosen) == steps
    assert len(chosen) <= points


def test_a_run_on_another_device_ends_with_the_cpus_weights(
    config: EncoderConfig,
    half_sentences: Recipe,
    both: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Autocast and the fused optimiser ask by the backend's name, which is not a GPU's here.
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    plain, optimiser = {"fused": False}, torch.optim.AdamW
    monkeypatch.setattr(loop, "AdamW", lambda *groups, **more: optimiser(*groups, **more | plain))

    def trained(device: torch.device) -> TrainingState:
        checkpoint = tmp_path / device.type
        return train(config, half_sentences, both, 0, checkpoint, device, silent)

    here = trained(torch.device("cpu"))
    with simulated_gpu() as gpu:
        there = trained(gpu)
    losses = [[point["loss"] for point in state.points] for state in (there, here)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for name, weight in there.encoder.state_dict().items():
        assert isinstance(weight, GpuTensor)
        torch.testing.assert_close(weight.cpu(), here.encoder.state_dict()[name])
    saved = torch.load(tmp_path / "lazy", weights_only=True)
    assert saved["encoder"].keys() == here.encoder.state_dict().keys()
