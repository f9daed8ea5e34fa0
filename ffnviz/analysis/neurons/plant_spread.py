"""Side effects of a planted neuron: where else it is active, and what is predicted there."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.plant import NEEDS as PLANT_NEEDS
from ffnviz.analysis.neurons.plant import Planted, output_with
from ffnviz.analysis.neurons.probe_loss import MaskedBatch, ProbeLoss, losses_of, masked_batches
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.sparsity.awake import active
from ffnviz.analysis.spread import Progress
from ffnviz.models.network import Network

NEEDS = (*PLANT_NEEDS, Capability.MASK)
SHOWN = 10


@dataclass(frozen=True)
class ActivatingToken:
    """A token of another sentence that activates the neuron."""

    value: float  # the neuron's activation
    # before, at, after: the sentence as the network read it; `at` is the token
    before: str
    at: str
    after: str


@dataclass(frozen=True)
class PlantSpread:
    """The probe sentences, a fifth of their tokens masked, without the neuron and with it."""

    loss: ProbeLoss  # of each masked token, without it and with it
    # said_before, said_after: masked tokens at which its word is the likeliest
    said_before: int
    said_after: int
    awake: int  # tokens on which it is active
    n_tokens: int
    strongest: tuple[ActivatingToken, ...]  # those with the largest |activation|, largest first


@torch.no_grad()
def spread(
    model: Network,
    probes: Sequence[Probe],
    block: int,
    planted: Planted,
    threshold: float,
    progress: Progress = lambda _: None,
) -> PlantSpread:
    """Run other sentences without the neuron and with it; blocks before it run once.

    Raises:
        NotForThisNetwork: for a gated FFN, without a plain word head or a mask token.
    """
    require(model, NEEDS)
    losses: tuple[list[NDArray[np.float64]], ...] = ([], [])
    said, awake, n_tokens = [0, 0], 0, 0
    strongest: list[tuple[float, int, ActivatingToken]] = []
    for batch in masked_batches(model, probes):
        run = model.run(batch.ids.to(model.device))
        values = planted.hidden(run.blocks[block].ffn.input)
        masked = batch.rows, batch.places.to(model.device)
        changed = model.stream_with(run, block, output_with(run, block, planted))
        for with_it, stream in enumerate((run.blocks[-1].output, changed)):
            logits = model.logits(stream[masked])
            losses[with_it].append(losses_of(logits, batch.targets))
            said[with_it] += int((logits.argmax(dim=-1) == planted.word).sum())
        awake += int(active(values, threshold).sum())
        n_tokens += values.numel()
        tokens = _strongest(model, batch, values.float().cpu().numpy(), threshold, n_tokens)
        strongest = heapq.nlargest(SHOWN, [*strongest, *tokens])
        progress(batch.done / len(probes))
    plain, edited = map(np.concatenate, losses)
    return PlantSpread(
        ProbeLoss(plain, edited), said[0], said[1], awake, n_tokens,
        tuple(token for *_, token in strongest),
    )  # fmt: skip


def _strongest(
    model: Network, batch: MaskedBatch, values: NDArray[np.float32], threshold: float, number: int
) -> list[tuple[float, int, ActivatingToken]]:
    """A batch's strongest tokens, behind |activation| and a unique number to sort them by."""
    strongest, fires = [], active(values, threshold)
    for cell in np.argsort(-np.abs(values), axis=None)[:SHOWN]:
        text, token = divmod(int(cell), values.shape[1])
        if not fires[text, token]:
            break
        value, words = float(values[text, token]), _as_read(model, batch, text)
        at = words[token]
        before = "".join(words[:token]) + at[: len(at) - len(at.lstrip())]
        activating = ActivatingToken(
            value, before.lstrip(), at.strip(), "".join(words[token + 1 :])
        )
        strongest.append((abs(value), -number - int(cell), activating))
    return strongest


def _as_read(model: Network, batch: MaskedBatch, text: int) -> list[str]:
    """A text's tokens as the network read them; a mask has the space before the word it hides."""
    words = [model.tokenizer.word(int(id_)) for id_ in batch.ids[text]]
    for place, target in zip(batch.places[text], batch.targets[text], strict=True):
        if model.tokenizer.word(int(target)).startswith(" "):
            words[int(place)] = f" {words[int(place)]}"
    return words
