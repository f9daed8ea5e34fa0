"""What the network says at the chosen token, with the block's FFN and without."""

from ffnviz.analysis.journey.nearest import nearest_words
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.figures.journey import sentences
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.guess import asked, under_guess
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
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
    return bars_cell(
        Head(sentence, "prediction", run.card.colour, under=under_guess(run, warn=False)),
        [
            Bars(
                "with the FFN",
                prediction.words,
                prediction.probabilities,
                "muted" if is_off else run.card.colour,
            ),
            Bars(
                f"without FFN {block + 1}",
                without.words,
                without.probabilities,
                run.card.colour if is_off else "muted",
            ),
        ],
        leads=True,
    )


def nearest_input_words(run: Run) -> Cell:
    """Without a word head: the words whose input vectors are nearest to the last stream."""
    why = f"No prediction for this network. {Capability.WORD_HEAD.value}"
    try:
        nearest = nearest_words(run.model, run.trace, run.token)
    except NotForThisNetwork as error:
        return text_cell("prediction", f"{why} {error}", tone="info")
    return bars_cell(
        Head(sentences.of_nearest(run.labels[run.token], nearest.words[0], nearest.cosines[0]),
             "nearest", run.card.colour),
        [Bars("nearest by cosine", nearest.words, nearest.cosines.clip(0), run.card.colour)],
        key="prediction",
        of="cosine",
        leads=True,
    )  # fmt: skip


def _best(prediction: Prediction) -> tuple[str, float]:
    return prediction.words[0], float(prediction.probabilities[0])
