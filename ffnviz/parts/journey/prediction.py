"""What the network says at the chosen token, with the block's FFN and without."""

import torch
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
from ffnviz.pictures.wording import number, quoted, stop
from ffnviz.state.run import Run


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


def _best(prediction: Prediction) -> tuple[str, float]:
    return prediction.words[0], float(prediction.probabilities[0])


def nearest_input_words(run: Run) -> Cell:
    """Without a word head: the words whose input vectors are nearest to the last stream."""
    why = f"No prediction for this network. {Capability.WORD_HEAD.value}"
    try:
        words, cosines = nearest_words(run.model, run.trace, run.token)
    except NotForThisNetwork as error:
        return text_cell("prediction", f"{why} {error}", tone="info")
    sentence = (
        "This network has no word head, so it makes no prediction. The last stream at "
        f"{quoted(run.labels[run.token])} is nearest to the input vector of "
        f"{number(f'“{words[0]}”')}{stop()} The cosine is {cosines[0]:.2f}."
    )
    panels = [Bars("nearest by cosine", words, cosines.clip(0), run.card.colour)]
    head = Head(sentence, "nearest", run.card.colour)
    return bars_cell(head, panels, key="prediction", of="cosine", leads=True)


@torch.no_grad()
def nearest_words(
    network: Network, trace: ForwardPass, token: int, k: int = 10
) -> tuple[list[str], Array]:
    """The k words with the largest cos(stream, E_w), the nearest first, and these cosines, (k,).

    Special entries are left out. It is not a prediction.
    """
    words = network.input_words
    lengths = (words.variance + words.mean.square()).mul(words.vectors.shape[1]).sqrt()
    stream = F.normalize(trace.blocks[-1].output[token], dim=0)
    cosines = (words.vectors @ stream) / lengths.clamp_min(1e-12)  # (vocab_size,)
    special = [id_ for id_ in network.tokenizer.special_ids if id_ < len(cosines)]
    cosines = cosines.index_fill(0, torch.tensor(special, device=cosines.device).long(), -1.0)
    best = cosines.topk(min(k, len(cosines)))
    nearest = [network.tokenizer.label(id_) for id_ in best.indices.tolist()]
    return nearest, best.values.cpu().numpy()
