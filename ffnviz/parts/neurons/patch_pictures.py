"""The map of all patches, and what one of them does to the answer."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.causal.patch import PatchMap, patched_logits
from ffnviz.figures.neurons.patch import restored_map
from ffnviz.figures.wording import Sentence, number, percent, quoted, signed
from ffnviz.models.token_slice import index_in_full
from ffnviz.parts.neurons.compare import second_line
from ffnviz.parts.neurons.sentence_pair import SentencePair
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting

NEURONS = 16
PATCHED = choice_setting("patched", {
    "ffn": "the FFN's output", "neurons": f"{NEURONS} neurons", "stream": "the stream",
    "attention": "attention's output",
}).with_control("Put in")  # fmt: skip
PLACES = {"ffn": ("ffn", None), "neurons": ("hidden", NEURONS), "stream": ("output", None),
          "attention": ("attention", None)}  # fmt: skip
WORDS = 8


def map_cell(run: Run, pair: SentencePair, at: str, patches: PatchMap) -> Cell:
    """The map of all patches, for the tokens that are shown."""
    n = len(run.labels)
    shown = {index_in_full(run.trace, token): token for token in range(n)}
    shares = np.full((len(patches.values), n), np.nan)
    for place, restored in zip(patches.tokens.tolist(), patches.restored.T, strict=True):
        if place in shown:
            shares[:, shown[place]] = restored
    judged = shown.get(pair.judged[1])
    sentence: Sentence = ["No token that is shown has a counterpart in the second sentence."]
    if np.isfinite(shares).any():
        sentence = _furthest(run, pair, at, shares, judged)
    word, instead = map(run.model.tokenizer.label, pair.words)
    asked: Sentence = [] if judged is None else [" at ", quoted(run.labels[judged])]
    under: Sentence = [
        f"logit({word}) − logit({instead})", *asked, f" is {signed(patches.target)} in the first "
        f"sentence and {signed(patches.source)} in the second.",
    ]  # fmt: skip
    if left := len(pair.into.tokens) - len(patches.tokens):
        under.append(
            f" {left} of {len(pair.into.tokens)} tokens, in parentheses, have no counterpart."
        )

    def choose(cell: int) -> ShowState:
        return ShowState(replace(run.state, block=cell // n, token=cell % n))

    return chart_cell(
        Head(sentence, "patch-map", run.card.colour, second_line(pair.given), under),
        restored_map(run.labels, shares, (run.state.block, run.token)),
        "How far a patch of each block and token takes the answer to the second sentence's.",
        height=560,
        on_choose=choose,
    )


def _furthest(
    run: Run, pair: SentencePair, at: str, shares: NDArray[np.float64], judged: int | None
) -> Sentence:
    """Which patch moves the answer furthest; for the stream, the answer's own token is left out.

    Behind the last block that token's stream is the answer, whatever the network.
    """
    sentence: Sentence = []
    elsewhere = shares.copy()
    if at == "stream" and judged is not None:
        elsewhere[:, judged] = np.nan
    if at == "stream" and np.isfinite(elsewhere).any():
        shares, sentence = elsewhere, ["The answer's own token aside, "]
    block, token = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    word, instead = map(run.model.tokenizer.label, pair.words)
    what = PATCHED.options[at]
    name = f"{what} " if sentence else f"{what[0].upper()}{what[1:]} "
    return [
        *sentence, f"{name}of the second sentence, put into block {block + 1} at ",
        quoted(run.labels[token]), ", moves the answer furthest: ",
        number(way(float(shares[block, token]))), f" of the way from {instead} to {word}.",
    ]  # fmt: skip


def the_patch(run: Run, pair: SentencePair, at: str) -> Cell:
    """The answer with the chosen block and token patched, beside both sentences' answers."""
    here, label = index_in_full(run.trace, run.token), run.labels[run.token]
    partner = pair.partner(here)
    if partner is None:
        why = " has no counterpart in the second sentence, so nothing can be put in there. "
        alone: Sentence = [quoted(label), f"{why}Choose another token."]
        return text_cell("no-counterpart", alone, tone="info")
    place, neurons = PLACES[at]
    given, into = pair.given.logits_at(pair.judged[0]), pair.into.logits_at(pair.judged[1])
    patched = patched_logits(run.model, pair.given, pair.into, run.state.block, (partner, here),
                          pair.judged[1], at=place, neurons=neurons)  # fmt: skip
    start, end, now = (float(pair.measure(each)) for each in (into, given, patched))
    shares = np.stack([each.double().softmax(-1).cpu().numpy() for each in (into, patched, given)])
    likeliest = np.argsort(-shares.max(axis=0), kind="stable")[:WORDS].tolist()
    ids = list(dict.fromkeys((*pair.words, *likeliest)))[:WORDS]
    ids.sort(key=lambda word: -float(shares[:, word].max()))
    names = [run.model.tokenizer.label(word) for word in ids]
    answers = [run.model.tokenizer.label(word) for word in pair.words]
    before, after, second = ([percent(row[word]) for word in pair.words] for row in shares)
    moves = [f"{name} {x} → {y}" for name, x, y in zip(answers, before, after, strict=True)]
    sentence: Sentence = [
        f"Patched in block {run.state.block + 1} at ", quoted(label), ", the answer goes ",
        number(way((now - start) / (end - start))), f" of the way: {', '.join(moves)}.",
    ]  # fmt: skip
    panels = [
        Bars(title, names, values[ids], colour, marked=frozenset(answers))
        for title, values, colour in (
            ("first sentence", shares[0], "muted"), ("patched", shares[1], run.card.colour),
        )
    ]  # fmt: skip
    likely = [f"{name} {share}" for name, share in zip(answers, second, strict=True)]
    under: Sentence = [f"In the second sentence: {', '.join(likely)}."]
    return bars_cell(
        Head(sentence, "patched", run.card.colour, second_line(pair.given), under), panels,
        alt="The likeliest words after the first sentence, and after it with the patch.",
    )  # fmt: skip


def way(share: float) -> str:
    """A share of the way as a percentage, which may be negative or beyond 100."""
    if 0 < abs(share) < 0.0005:
        return "<0.1%" if share > 0 else "−<0.1%"
    return f"{100 * share:.{1 if abs(share) < 0.0995 else 0}f}%".replace("-", "−")
