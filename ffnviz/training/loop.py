"""The training loop: steps, validation points, and a checkpoint to go on from."""

import hashlib
import io
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.device import cpu_has, device_name
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.models.torch_shortcuts import AdamW
from ffnviz.training.corpus import Corpus
from ffnviz.training.masking import Batch, Recipe, other_batches, training_batch, validation_batches
from ffnviz.training.validation import look

BFLOAT16 = ("amx_bf16", "avx512_bf16")  # without, a step took 93 s on an AMD EPYC; with float32, 3


def fast_bfloat16(device: torch.device) -> bool:
    """Whether matrices of bfloat16 are multiplied faster than of float32, and their gradients."""
    if device.type == "cpu":
        return cpu_has(*BFLOAT16)
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return True


def hardware(device: torch.device) -> str:
    """The device in words, with the software and arithmetic that matter for the numbers."""
    arithmetic = "bfloat16 autocast" if fast_bfloat16(device) else "float32"
    return f"{device_name(device)}; PyTorch {torch.__version__}; {arithmetic}"


CHECKPOINT_STEPS = 100
PROGRESS = ("step", "tokens", "seconds", "points")  # of a TrainingState, as a checkpoint has it


class CheckpointError(ValueError):
    """A checkpoint that belongs to another run, or is damaged."""


@dataclass
class Progress:
    """What the loop reports after each step."""

    step: int  # done
    tokens: int  # seen
    loss: float  # of the step's batch, in nats


@dataclass
class TrainingState:
    """A training run after some steps."""

    encoder: Encoder
    optimiser: torch.optim.Optimizer
    points: list[dict[str, Any]]  # the validation points
    step: int = 0  # steps done
    tokens: int = 0  # seen
    seconds: float = 0.0  # spent


def train(
    config: EncoderConfig,
    recipe: Recipe,
    corpus: Corpus,
    mask_id: int,
    checkpoint: Path,
    device: torch.device,
    report: Callable[[Progress], None],
    begin_with: Encoder | None = None,
) -> TrainingState:
    """Run the recipe to its end, from its last checkpoint if there is one.

    It begins with the weights of `begin_with`, or else with those drawn from the recipe's seed.
    Interrupted and resumed on the same machine, it ends with the same weights as in one go: batches
    and dropout depend on the seed and the step, and the optimiser's state is in the checkpoint.
    Raises CheckpointError if that was made by another configuration, recipe or corpus or began with
    other weights, or is damaged.
    """
    encoder = initial_encoder(config, recipe.seed).to(device)
    if begin_with is not None:
        encoder.load_state_dict(begin_with.state_dict())
    state = TrainingState(encoder, optimiser_of(encoder, recipe), points=[])
    fingerprint = _fingerprint(config, recipe, corpus, state.encoder)
    if checkpoint.exists():
        _restore(state, checkpoint, fingerprint, device)
    books = validation_batches(
        corpus.validation, recipe, mask_id, config.max_tokens, recipe.point_tokens
    )
    others = other_batches(corpus, recipe, mask_id)
    point_steps = recipe.point_steps()
    state.encoder.train()
    while True:
        started = time.perf_counter()
        if state.step in point_steps and (
            not state.points or state.points[-1]["step"] < state.step
        ):
            point = look(state.encoder, books, others, units=False)
            state.points.append({"step": state.step, "tokens": state.tokens, **point})
        if state.step == recipe.steps:
            break
        batch = training_batch(corpus, recipe, config.max_tokens, mask_id, state.step)
        torch.manual_seed(recipe.seed + state.step)  # dropout's
        loss = masked_loss(state.encoder, batch, device)
        nats = descend(state.encoder, state.optimiser, loss, recipe, state.step)
        state.step += 1
        state.tokens += batch.inputs.numel()
        state.seconds += time.perf_counter() - started
        if state.step % CHECKPOINT_STEPS == 0 or state.step == recipe.steps:
            _save(state, checkpoint, fingerprint)
        report(Progress(state.step, state.tokens, nats))
    return state


def masked_loss(encoder: Encoder, batch: Batch, device: torch.device) -> Tensor:
    """Mean cross-entropy at the masked positions, in nats; logits are made at these only."""
    with torch.autocast(device.type, torch.bfloat16, enabled=fast_bfloat16(device)):
        record = encoder.stream(batch.inputs.to(device))
        logits = encoder.unembed(record.final[batch.masked.to(device)])
    return F.cross_entropy(logits.float(), batch.targets.to(device))


def learning_rate(recipe: Recipe, step: int) -> float:
    """Linear warm-up, then half a cosine down to zero at the last step."""
    if step < recipe.warmup_steps:
        return recipe.learning_rate * (step + 1) / recipe.warmup_steps
    done = (step - recipe.warmup_steps) / max(1, recipe.steps - recipe.warmup_steps)
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def optimiser_of(encoder: Encoder, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW as the recipe has it; weight decay is for matrices alone."""
    matrices = [p for p in encoder.parameters() if p.ndim > 1]
    vectors = [p for p in encoder.parameters() if p.ndim == 1]
    groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    return AdamW(
        groups,
        lr=recipe.learning_rate,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
        fused=True,
    )


def descend(
    encoder: Encoder, optimiser: torch.optim.Optimizer, loss: Tensor, recipe: Recipe, step: int
) -> float:
    """Update the weights by a step's loss, which is returned as a number, as the recipe says."""
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(recipe, step)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(encoder.parameters(), recipe.clip)
    optimiser.step()
    return loss.item()


def _fingerprint(config: EncoderConfig, recipe: Recipe, corpus: Corpus, first: Encoder) -> str:
    text = json.dumps([config.to_dict(), recipe.to_dict()], sort_keys=True)
    digest = hashlib.sha256(text.encode())
    digest.update(corpus.training.tobytes() + corpus.validation.tobytes())
    if corpus.sentences:
        for part in (corpus.sentences.training, corpus.sentences.held_out):
            for length, rows in part.items():
                digest.update(f"{length}".encode() + rows.tobytes())
    if corpus.facts:
        for asked in (corpus.facts.training, corpus.facts.held_out):
            for length, questions in asked.items():
                digest.update(f"{length}".encode() + questions.ids.tobytes())
    for weights in first.state_dict().values():
        digest.update(weights.cpu().numpy().tobytes())
    return digest.hexdigest()


def _save(state: TrainingState, path: Path, fingerprint: str) -> None:
    content = io.BytesIO()  # written by PyTorch itself, a full disk would be an error without errno
    values = {
        "fingerprint": fingerprint,
        "encoder": state.encoder.state_dict(),
        "optimiser": state.optimiser.state_dict(),
        **{name: getattr(state, name) for name in PROGRESS},
    }
    torch.save(values, content)
    replace_file(path, content.getbuffer())


def _restore(state: TrainingState, path: Path, fingerprint: str, device: torch.device) -> None:
    damaged = f"{path} is damaged. Remove it, and training begins anew."
    try:
        saved = torch.load(io.BytesIO(path.read_bytes()), map_location=device, weights_only=True)
        saved_fingerprint = saved["fingerprint"]
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}.") from error
    except Exception as error:  # the library raises many kinds, with advice that is not for us
        raise CheckpointError(damaged) from error
    if saved_fingerprint != fingerprint:
        raise CheckpointError(
            f"{path} belongs to a run with another configuration, recipe or corpus. "
            "Remove it to start afresh, or choose another folder with --work."
        )
    try:
        state.encoder.load_state_dict(saved["encoder"])
        state.optimiser.load_state_dict(saved["optimiser"])
        for name in PROGRESS:
            setattr(state, name, saved[name])
    except Exception as error:
        raise CheckpointError(damaged) from error
