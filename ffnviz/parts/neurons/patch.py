"""Patch: what one sentence makes of the network, put into its pass over another."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.causal.measure import LogitDifference, judged_at, telling_words
from ffnviz.analysis.causal.patch import PatchMap, map_of_traces, patched_logits
from ffnviz.analysis.neurons.compare import pairs
from ffnviz.analysis.spread import Progress
from ffnviz.figures.neurons.patch import restored_map
from ffnviz.figures.wording import Sentence, number, percent, quoted, signed
from ffnviz.models.card import Sizes
from ffnviz.models.trace import Trace, index_in_full
from ffnviz.parts.neurons.compare import OTHER, has_mask, other_sentence
from ffnviz.parts.results import outdated
from ffnviz.parts.sheet import Button, Measured, Measurement, Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.text import StepProgress, text_cell
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

NEURONS = 16
PATCHED = choice_setting("patched", {
    "ffn": "the FFN's output", "neurons": f"{NEURONS} neurons", "stream": "the stream",
    "attention": "attention's output",
}).with_control("Put in")  # fmt: skip
SETTINGS = (OTHER, PATCHED)
PLACES = {"ffn": ("ffn", None), "neurons": ("hidden", NEURONS), "stream": ("output", None),
          "attention": ("attention", None)}  # fmt: skip
TO_TRY = "He drank a cup of", "He read a book of"  # then a mask, for who fills in words
WORDS = 8
AT_ONCE, UNASKED = 3e10, 3e13  # multiplications: done while the page is made, and without a button
LABEL = "Patch"


@dataclass(frozen=True)
class Two:
    """Two sentences, and what their answers are told apart by.

    Attributes:
        given: the second sentence, whose activations are taken.
        into: the first, with all its tokens.
        pairs: tokens that correspond, in `given` and in `into`, (n, 2).
        judged: where each answers, in `given` and in `into`.
        measure: logit(word) − logit(instead); the second says `word` rather than `instead`.
    """

    given: Trace
    into: Trace
    pairs: NDArray[np.int64]
    judged: tuple[int, int]
    measure: LogitDifference

    def partner(self, token: int) -> int | None:
        """The token of the second sentence that corresponds to one of the first, if one does."""
        at = np.flatnonzero(self.pairs[:, 1] == token)
        return int(self.pairs[at[0], 0]) if len(at) else None


def sheet(run: Run, values: Values) -> Sheet:
    """The map of all patches, beside what the chosen one does to the answer."""
    text, at = values[other_sentence(run)], patched(run, values)
    options = dict(PATCHED.options)
    if not _attention_is_known(run):
        del options["attention"]
    first, second = (f"{each} [MASK]." if run.card.has_mask else each for each in TO_TRY)
    tried = {**dict(run.state.settings), OTHER.name: second}
    example = replace(run.state, sentence=first, token=None, settings=tuple(sorted(tried.items())))
    controls = (
        other_sentence(run), replace(PATCHED, options=options),
        Button("Try “a cup of …” and “a book of …”", ShowState(example)),
    )  # fmt: skip
    two = two_sentences(run, text)
    if isinstance(two, str):
        return Sheet([row(text_cell("nothing-to-patch", two, tone="info"))], controls)
    return Sheet(
        [row(the_map(run, text, two, at), the_patch(run, two, at), widths=(1.3, 1))], controls
    )


def patched(run: Run, values: Values) -> str:
    """What is put in: what was asked for, where the network has it."""
    wanted = values[PATCHED]
    return wanted if wanted != "attention" or _attention_is_known(run) else PATCHED.default


def _attention_is_known(run: Run) -> bool:
    return run.card.attention_seen or run.card.pre_norm


def two_sentences(run: Run, text: str) -> Two | str:
    """The sentence beside another, or why nothing can be put from one into the other."""
    if not text:
        return "Type a second sentence, whose activations are put into the first."
    given, into = run.model.trace(text), run.whole
    found = pairs(given.ids.tolist(), into.ids.tolist())
    if not len(found):
        return "No token of one sentence has a counterpart in the other."
    if has_mask(run, given) != has_mask(run, into):
        return "One sentence has a [MASK] and the other has none: give both the same question."
    judged = judged_at(run.model, given, None), judged_at(run.model, into, None)
    measure = telling_words(given.logits_at(judged[0]), into.logits_at(judged[1]))
    if measure is None:
        return "Both sentences get the same answer: there is no way to go from one to the other."
    return Two(given, into, found, judged, measure)


def the_map(run: Run, text: str, two: Two, at: str) -> Cell | Measurement[PatchMap]:
    """How far every patch takes the answer; measured beside the page where it takes long."""
    sizes = run.model.sizes
    per_token = 4 * sizes.d_model**2 + 2 * sizes.d_model * sizes.d_ff
    work = sizes.n_blocks**2 * len(two.pairs) * len(two.into.tokens) * per_token
    if work <= AT_ONCE:
        found = run.subject.per_sentence(
            ("patch", text, at), lambda: all_patches(run, lambda _: None, text, at)
        )
        return drawn(run, two, at, found)
    setup = (run.card.id, run.device, run.state.sentence, text, at)

    def after(measured: Measured[PatchMap]) -> list[Cell]:
        late = outdated(measured, setup, LABEL)
        return late or [drawn(run, two, at, measured.result)]

    name, n = f"patch {at}", sizes.n_blocks * len(two.pairs)
    return Measurement(name, setup, all_patches, after, (text, at), (_soon(name, two, at, sizes),),
                       LABEL, f"Patching {n:,} times …", on_request=work > UNASKED)  # fmt: skip


def _soon(name: str, two: Two, at: str, sizes: Sizes) -> Cell:
    """What is on its way to the place of the map, and how far it is."""
    n_blocks, n_tokens = sizes.n_blocks, len(two.pairs)
    what: Sentence = [
        "Which part of the second sentence makes its answer? The network reads the first once for "
        "each block and token, with ", PATCHED.options[at], " of the second put in there alone: "
        f"{n_blocks} blocks × {n_tokens} tokens, ", number(f"{n_blocks * n_tokens:,} passes"), ".",
    ]  # fmt: skip
    steps = (("block", n_blocks), ("pass", n_blocks * n_tokens))
    progress = StepProgress(name, "Opening the network …", steps)
    return text_cell("patch-first", what, progress=progress)


def all_patches(run: Run, progress: Progress, text: str, at: str) -> PatchMap:
    """A patch of every block and every token that has a counterpart.

    Raises:
        ValueError: if the sentences cannot be compared.
    """
    two = two_sentences(run, text)
    if isinstance(two, str):
        raise ValueError(two)
    place, neurons = PLACES[at]
    return map_of_traces(run.model, two.given, two.into, two.measure, two.pairs, two.judged,
                         at=place, neurons=neurons, progress=progress)  # fmt: skip


def drawn(run: Run, two: Two, at: str, found: PatchMap) -> Cell:
    """The map of the tokens that are shown."""
    n = len(run.labels)
    shown = {index_in_full(run.trace, token): token for token in range(n)}
    shares = np.full((len(found.values), n), np.nan)
    for column, place in enumerate(found.tokens.tolist()):
        if place in shown:
            shares[:, shown[place]] = found.restored[:, column]
    judged = shown.get(two.judged[1])
    sentence: Sentence = ["No token that is shown has a counterpart in the second sentence."]
    if np.isfinite(shares).any():
        sentence = _furthest(run, two, at, shares, judged)
    word, instead = _words(run, two)
    asked: Sentence = [] if judged is None else [" at ", quoted(run.labels[judged])]
    under: Sentence = [
        f"logit({word}) − logit({instead})", *asked, f" is {signed(found.target)} in the first "
        f"sentence and {signed(found.source)} in the second.",
    ]  # fmt: skip
    if left := len(two.into.tokens) - len(found.tokens):
        under.append(
            f" {left} of {len(two.into.tokens)} tokens, in parentheses, have no counterpart."
        )
    block, token = run.state.block, run.token

    def choose(cell: int) -> ShowState:
        return ShowState(replace(run.state, block=cell // n, token=cell % n))

    return chart_cell(
        Head(sentence, "patch-map", run.card.colour, _second(two), under),
        restored_map(run.labels, shares, (block, token)),
        "How far a patch of each block and token takes the answer to the second sentence's.",
        height=560,
        on_choose=choose,
    )


def _furthest(
    run: Run, two: Two, at: str, shares: NDArray[np.float64], judged: int | None
) -> Sentence:
    """Which patch goes furthest; of the stream, away from the answer's own token, if there is any.

    Behind the last block that token's stream is the answer, whatever the network.
    """
    told: Sentence = []
    elsewhere = shares.copy()
    if at == "stream" and judged is not None:
        elsewhere[:, judged] = np.nan
    if at == "stream" and np.isfinite(elsewhere).any():
        shares, told = elsewhere, ["The answer's own token aside, "]
    block, token = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    word, instead = _words(run, two)
    what = PATCHED.options[at]
    name = f"{what} " if told else f"{what[0].upper()}{what[1:]} "
    return [
        *told, f"{name}of the second sentence, put into block {block + 1} at ",
        quoted(run.labels[token]), ", moves the answer furthest: ",
        number(way(float(shares[block, token]))), f" of the way from {instead} to {word}.",
    ]  # fmt: skip


def the_patch(run: Run, two: Two, at: str) -> Cell:
    """What the patch of the chosen block and token makes of the answer, beside both sentences'."""
    here, label = index_in_full(run.trace, run.token), run.labels[run.token]
    partner = two.partner(here)
    if partner is None:
        alone: Sentence = [quoted(label), " has no counterpart in the second sentence, so nothing "
                           "can be put in there. Choose another token."]  # fmt: skip
        return text_cell("no-counterpart", alone, tone="info")
    place, neurons = PLACES[at]
    given, into = two.given.logits_at(two.judged[0]), two.into.logits_at(two.judged[1])
    made = patched_logits(run.model, two.given, two.into, run.state.block, (partner, here),
                          two.judged[1], at=place, neurons=neurons)  # fmt: skip
    start, end, now = (float(two.measure(each)) for each in (into, given, made))
    shares = np.stack([each.double().softmax(-1).cpu().numpy() for each in (into, made, given)])
    told = [two.measure.word, two.measure.instead or 0]
    likely = [int(each) for each in np.argsort(-shares.max(axis=0), kind="stable")[: WORDS + 2]]
    ids = [*told, *(each for each in likely if each not in told)][:WORDS]
    ids.sort(key=lambda each: -float(shares[:, each].max()))
    names = [run.model.tokenizer.label(each) for each in ids]
    said = [f"{run.model.tokenizer.label(each)} {percent(shares[0, each])} → "
            f"{percent(shares[1, each])}" for each in told]  # fmt: skip
    sentence: Sentence = [
        f"Patched in block {run.state.block + 1} at ", quoted(label), ", the answer goes ",
        number(way((now - start) / (end - start))), f" of the way: {said[0]}, {said[1]}.",
    ]  # fmt: skip
    marked = frozenset(names[ids.index(each)] for each in told)
    panels = [
        Bars(title, names, values[ids], colour, marked=marked)
        for title, values, colour in (
            ("first sentence", shares[0], "muted"), ("patched", shares[1], run.card.colour),
        )
    ]  # fmt: skip
    others = [f"{names[ids.index(each)]} {percent(shares[2, each])}" for each in told]
    under: Sentence = [f"In the second sentence: {', '.join(others)}."]
    return bars_cell(
        Head(sentence, "patched", run.card.colour, _second(two), under), panels,
        alt="The likeliest words after the first sentence, and after it with the patch.",
    )  # fmt: skip


def way(share: float) -> str:
    """A share of the way, which may lead back or beyond, as a percentage."""
    if 0 < abs(share) < 0.0005:
        return "<0.1%" if share > 0 else "−<0.1%"
    return f"{100 * share:.{1 if abs(share) < 0.0995 else 0}f}%".replace("-", "−")


def _words(run: Run, two: Two) -> tuple[str, str]:
    label = run.model.tokenizer.label
    return label(two.measure.word), label(two.measure.instead or 0)


def _second(two: Two) -> str:
    return f"Second sentence: {quoted(two.given.text)[0]}"
