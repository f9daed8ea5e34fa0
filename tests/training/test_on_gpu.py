"""A training run on the simulated GPU has the CPU's weights and losses."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
import torch

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.training import loop
from ffnviz.training.corpus import Corpus
from ffnviz.training.loop import TrainingState, masked_loss, train
from ffnviz.training.masking import Recipe, training_batch
from tests.gpu.simulated_gpu import GpuTensor, simulated_gpu


@pytest.fixture(autouse=True)
def _without_what_a_backend_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Autocast and the fused optimiser ask by the backend's name, which is not a GPU's here."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    monkeypatch.setattr(loop, "AdamW", partial(_plain, torch.optim.AdamW))


def _plain(optimiser: type[torch.optim.AdamW], *groups: object, **options: object) -> object:
    return optimiser(*groups, **{**options, "fused": False})  # type: ignore[arg-type]


def test_a_run_ends_with_the_cpus_weights(
    config: EncoderConfig, half_sentences: Recipe, both: Corpus, tmp_path: Path
) -> None:
    def trained(device: torch.device) -> TrainingState:
        checkpoint = tmp_path / device.type
        return train(config, half_sentences, both, 0, checkpoint, device, lambda _: None)

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


def test_a_batch_that_stays_on_the_cpu_is_found(
    config: EncoderConfig, recipe: Recipe, corpus: Corpus
) -> None:
    batch = training_batch(corpus, recipe, config.max_tokens, 0, step=0)
    with simulated_gpu() as gpu:
        state = loop._start(config, recipe, gpu, None)
        with pytest.raises(RuntimeError, match="same device"):
            masked_loss(state.encoder, batch, torch.device("cpu"))
