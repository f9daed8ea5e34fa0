"""How far a planted neuron spreads: where else it wakes, and what is said there instead."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.plant import NEEDS as PLANT_NEEDS
from ffnviz.analysis.neurons.plant import Planted, output_with, values_of
from ffnviz.analysis.neurons.probe_loss import MaskedBatch, ProbeLoss, losses_of, masked_batches
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.sparsity.awake import active
from ffnviz.analysis.spread import Progress
from ffnviz.models.network import Network

NEEDS = (*PLANT_NEEDS, Capability.MASK)
SHOWN = 10


@dataclass(frozen=True)
class Woken:
    """A token of another sentence that wakes the neuron."""

    value: float  # its activation there
    # before, at, after: the text as the network read it; it wakes at `at`
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
    n_tokens: int  # all tokens
    strongest: tuple[Woken, ...]  # those on which it is furthest from zero, the furthest first


@torch.inference_mode()
def spread(
    model: Network,
    probes: Sequence[Probe],
    block: int,
    planted: Planted,
    threshold: float,
    progress: Progress = lambda _: None,
) -> PlantSpread:
    """One pass over the sentences; what lies before the neuron is computed once.

    Args:
        model: the network it was planted in.
        probes: other sentences.
        block: where it was planted, from 0.
        planted: the neuron.
        threshold: beyond which it is active.
        progress: told the share of the sentences that are done.

    Raises:
        NotForThisNetwork: for a gated FFN, without a plain word head or a mask token.
    """
    require(model, NEEDS)
    losses: tuple[list[NDArray[np.float64]], ...] = ([], [])
    said, awake, n_tokens = [0, 0], 0, 0
    strongest: list[tuple[float, int, Woken]] = []
    for batch in masked_batches(model, probes):
        run = model.run(batch.ids.to(model.device))
        values = values_of(run, block, planted)
        at = batch.rows, batch.places.to(model.device)
        changed = model.stream_with(run, block, output_with(run, block, planted))
        for place, stream in enumerate((run.blocks[-1].output, changed)):
            logits = model.logits(stream[at])
            losses[place].append(losses_of(logits, batch.targets))
            said[place] += int((logits.argmax(dim=-1) == planted.word).sum())
        awake += int(active(values, threshold).sum())
        n_tokens += values.numel()
        activated = _woken(model, batch, values.float().cpu().numpy(), threshold, n_tokens)
        strongest = heapq.nlargest(SHOWN, [*strongest, *activated])
        progress(batch.done / len(probes))
    plain, edited = (np.concatenate(each) for each in losses)
    return PlantSpread(
        ProbeLoss(plain, edited), said[0], said[1], awake, n_tokens,
        tuple(woken for _, _, woken in strongest),
    )  # fmt: skip


def _woken(
    model: Network, batch: MaskedBatch, values: NDArray[np.float32], threshold: float, number: int
) -> list[tuple[float, int, Woken]]:
    """A batch's strongest, each with a number of its own, so that no two are compared further."""
    strongest, fires = [], active(values, threshold)
    for cell in np.argsort(-np.abs(values), axis=None)[:SHOWN]:
        text, token = divmod(int(cell), values.shape[1])
        value = float(values[text, token])
        if not fires[text, token]:
            break
        words = _as_read(model, batch, text)
        at = words[token]
        before = "".join(words[:token]) + at[: len(at) - len(at.lstrip())]
        woken = Woken(value, before.lstrip(), at.strip(), "".join(words[token + 1 :]))
        strongest.append((abs(value), -number - int(cell), woken))
    return strongest


def _as_read(model: Network, batch: MaskedBatch, text: int) -> list[str]:
    """A text's tokens as the network read them; a mask has the blank of the word it hides."""
    words = [model.tokenizer.word(int(id_)) for id_ in batch.ids[text]]
    for place, target in zip(batch.places[text], batch.targets[text], strict=True):
        if model.tokenizer.word(int(target)).startswith(" "):
            words[int(place)] = f" {words[int(place)]}"
    return words
