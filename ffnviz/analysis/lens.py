"""How a prediction forms: the stream read early, and every part's share of a word's logit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.causal.attribution import NEEDS as PARTS_NEEDS
from ffnviz.analysis.causal.attribution import direction_of
from ffnviz.analysis.causal.measure import LogitDifference
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.prediction import Prediction, likeliest
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.WORD_HEAD,)


@dataclass(frozen=True)
class Reading:
    """The prediction read from the stream at one stage."""

    stage: str  # after which part: "embedding", "attention 1", "FFN 1", …, or what comes behind
    prediction: Prediction  # the likeliest words there
    probability: float  # of the followed word, from 0 to 1
    rank: int  # of that word among all entries, from 1


@torch.no_grad()
def read_early(model: Network, trace: ForwardPass, token: int, word: int, k: int) -> list[Reading]:
    """The logit lens (nostalgebraist 2020): the stream at each stage through the last LayerNorm."""
    also_adds = model.card.also_adds
    stages = [("embedding", trace.embedding)]
    for number, block in enumerate(trace.blocks, start=1):
        stages.append((f"attention {number}", block.middle))
        if also_adds and block.behind_ffn is not None:
            stages.append((f"FFN {number}", block.behind_ffn))
            stages.append((f"{also_adds} {number}", block.output))
        else:
            stages.append((f"FFN {number}", block.output))
    readings = []
    for stage, stream in stages:
        logits = model.logits(stream[token])
        rank = 1 + int((logits > logits[word]).sum())
        probability = float(logits.softmax(dim=-1)[word])
        readings.append(Reading(stage, likeliest(model, logits, k), probability, rank))
    return readings


def largest_gain(readings: Sequence[Reading]) -> tuple[Reading, Reading]:
    """The two readings between which the followed word's log-probability grows most."""

    def gain(pair: tuple[Reading, Reading]) -> float:
        before, after = (max(reading.probability, 1e-300) for reading in pair)
        return after / before

    return max(pairwise(readings), key=gain)


@dataclass(frozen=True)
class Contributions:
    """What each part adds to one word's logit; they sum to it."""

    parts: tuple[str, ...]  # their names, in the order in which they are added
    added: NDArray[np.float64]  # to the logit, as many
    logit: float  # as the network computed it


@torch.no_grad()
def contributions(model: Network, trace: ForwardPass, token: int, word: int) -> Contributions:
    """The logit of a word at a token as a sum over the parts that were added to the stream.

    Σ E_w · (g ⊙ (part − mean(part))) / σ + E_w · b, with σ of the whole stream held as it was
    (Elhage et al. 2021, "direct path").
    """
    require(model, PARTS_NEEDS)
    written = dict(model.embedding_parts(trace, token))
    # In float64, which some GPUs do not have: on the CPU.
    for number, block in enumerate(trace.blocks, start=1):
        # What a part wrote is what the stream moved by: nothing need be computed again.
        streams = block.input, block.middle, block.output
        before, middle, after = (stream[token].cpu().double() for stream in streams)
        written[f"attention {number}"] = middle - before
        written[f"FFN {number}"] = after - middle
    direction, biases = direction_of(model, trace, LogitDifference(word), token)
    added = {name: float(direction @ part.cpu().double()) for name, part in written.items()}
    added |= biases
    logit = float(trace.logits_at(token)[word])
    return Contributions(tuple(added), np.array(list(added.values())), logit)
