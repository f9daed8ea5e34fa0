"""What the network says at the chosen token, with the block's FFN and without."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import ForwardPass
from ffnviz.parts import sentences
from ffnviz.parts.guess import asked, under_guess
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run

NEEDS: tuple[Capability, ...] = ()


@dataclass(frozen=True)
class NearestWords:
    """The words whose input vectors have the largest cosines with a stream."""

    words: tuple[str, ...]  # how each reads, the nearest first
    ids: NDArray[np.int64]  # their rows, (k,)
    cosines: Array  # between the stream and each vector, (k,)


@torch.no_grad()
def nearest_words(network: Network, trace: ForwardPass, token: int, k: int = 10) -> NearestWords:
    """The k entries with the largest cos(stream, E_w), special ones left out: not a prediction."""
    words = network.input_words
    lengths = (words.variance + words.mean.square()).mul(words.vectors.shape[1]).sqrt()
    stream = F.normalize(trace.blocks[-1].output[token], dim=0)
    cosines = (words.vectors @ stream) / lengths.clamp_min(1e-12)  # (vocab_size,)
    special = [id_ for id_ in network.tokenizer.special_ids if id_ < len(cosines)]
    cosines = cosines.index_fill(0, torch.tensor(special, device=cosines.device).long(), -1.0)
    best = cosines.topk(min(k, len(cosines)))
    ids = best.indices.cpu().numpy()
    return NearestWords(
        tuple(network.tokenizer.label(int(id_)) for id_ in ids), ids, best.values.cpu().numpy()
    )


def what_it_says(run: Run, is_off: bool = False) -> Cell:
    """The softmax at the chosen token, with this block's FFN and without; off, without it first."""
    if missing(run.card, (Capability.WORD_HEAD,)):
        return nearest_input_words(run)
    block = run.state.block
    prediction = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.whole, block, run.place)
    sentence = sentences.of_prediction(
        run.labels[run.token], _best(prediction), _best(without), block, asked(run), is_off
    )
    head = Head(sentence, "prediction", run.card.colour, under=under_guess(run, warn=False))
    bright, pale = ("muted", run.card.colour) if is_off else (run.card.colour, "muted")
    panels = [
        Bars("with the FFN", prediction.words, prediction.probabilities, bright),
        Bars(f"without FFN {block + 1}", without.words, without.probabilities, pale),
    ]
    return bars_cell(head, panels, leads=True)


def nearest_input_words(run: Run) -> Cell:
    """Without a word head: the words whose input vectors are nearest to the last stream."""
    why = f"No prediction for this network. {Capability.WORD_HEAD.value}"
    try:
        nearest = nearest_words(run.model, run.trace, run.token)
    except NotForThisNetwork as error:
        return text_cell("prediction", f"{why} {error}", tone="info")
    said = sentences.of_nearest(run.labels[run.token], nearest.words[0], nearest.cosines[0])
    head = Head(said, "nearest", run.card.colour)
    panels = [Bars("nearest by cosine", nearest.words, nearest.cosines.clip(0), run.card.colour)]
    return bars_cell(head, panels, key="prediction", of="cosine", leads=True)


def _best(prediction: Prediction) -> tuple[str, float]:
    return prediction.words[0], float(prediction.probabilities[0])
