"""Patch: activations of one sentence, put into the pass over another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.causal.measure import LogitDifference, telling_words, usual_place
from ffnviz.analysis.causal.patch import PatchMap, map_of_traces, patched_logits
from ffnviz.analysis.measuring import Progress
from ffnviz.models.token_slice import index_in_full
from ffnviz.models.trace import Trace
from ffnviz.parts.neurons.compare import (
    NO_PAIRS,
    OTHER,
    has_mask,
    other_sentence,
    pairs,
    second_line,
)
from ffnviz.parts.sheet import Button, Measured, Measurement, Sheet, Soon, row
from ffnviz.pictures import plot
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, counted, number, percent, quoted, signed
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting


@dataclass(frozen=True)
class SentencePair:
    """Two aligned sentences, and the measure that tells their answers apart."""

    given: Trace  # the second sentence, whose activations are taken
    into: Trace  # the first, with all its tokens
    pairs: NDArray[np.int64]  # tokens that correspond, in `given` and in `into`, (n, 2)
    judged: tuple[int, int]  # where each answers, in `given` and in `into`
    # logit(word) − logit(instead); the second says `word` rather than `instead`
    measure: LogitDifference

    @property
    def words(self) -> tuple[int, int]:
        """The ids of the two words that tell the answers apart."""
        return self.measure.word, self.measure.instead or 0


def sentence_pair(run: Run, text: str) -> SentencePair | str:
    """The sentence paired with another, or why neither can be patched into the other."""
    if not text:
        return "Type a second sentence, whose activations are put into the first."
    given, into = run.model.trace(text), run.whole
    corresponding = pairs(given.ids.tolist(), into.ids.tolist())
    if not len(corresponding):
        return NO_PAIRS
    if has_mask(run, given) != has_mask(run, into):
        return "One sentence has a [MASK] and the other has none: give both the same question."
    judged = usual_place(run.model, given), usual_place(run.model, into)
    measure = telling_words(given.logits_at(judged[0]), into.logits_at(judged[1]))
    if measure is None:
        return "Both sentences get the same answer, so there is nothing that a patch could change."
    return SentencePair(given, into, corresponding, judged, measure)


MOST_NAMES = 32  # of tokens and of blocks


def restored_map(labels: Sequence[str], shares: Array, chosen: tuple[int, int]) -> Figure:
    """A row a block, a column a token; a click says block · n_tokens + token.

    A share is of the way from one answer to the other; no number where nothing could be put in.
    """
    n_blocks, n_tokens = shares.shape
    largest = max(float(np.nanmax(np.abs(shares), initial=0)), 0.01)
    blocks = np.arange(0, n_blocks, -(-n_blocks // MOST_NAMES))
    block, token = chosen
    names = [
        name if np.isfinite(column).any() else f"({name})"
        for name, column in zip(map(plot.shortened, labels), shares.T, strict=True)
    ]
    return plot.figure(
        [plot.heatmap(
            "way to the second answer", 100 * shares, -100 * largest, 100 * largest,
            x=np.arange(n_tokens), y=np.arange(n_blocks), xgap=1, ygap=1,
            customdata=np.arange(shares.size).reshape(shares.shape),
            hovertemplate="block %{y}, %{x}: %{z:+.1f}% of the way<extra></extra>",
            **plot.signed_colours("% of the way"),
        )],
        plot.bare_axis("token", **plot.some_named(names, MOST_NAMES, 16), tickangle=-60),
        plot.bare_axis("block", tickvals=blocks, ticktext=[str(at + 1) for at in blocks],
                       range=[n_blocks - 0.5, -0.5]),
        shapes=[plot.outline(token, token, block, block)],
        margin={"l": 64, "r": 10, "t": 10, "b": 100},
    )  # fmt: skip


NEURONS = 16
PLACES = {  # what can be put in: its name, where it is, and of how many neurons
    "ffn": ("the FFN's output", "ffn", None),
    "neurons": (f"{NEURONS} neurons", "hidden", NEURONS),
    "stream": ("the stream", "output", None),
    "attention": ("attention's output", "attention", None),
}
NAMES = {at: name for at, (name, _, _) in PLACES.items()}
PATCHED = choice_setting("patched", NAMES).with_control("Put in")
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
    sentence = "No token that is shown has a counterpart in the second sentence."
    if np.isfinite(shares).any():
        sentence = _furthest(run, pair, at, shares, judged)
    word, instead = map(run.model.tokenizer.label, pair.words)
    asked = "" if judged is None else f" at {quoted(run.labels[judged])}"
    under = (
        f"logit({word}) − logit({instead}){asked} is {signed(patches.target)} in the first "
        f"sentence and {signed(patches.source)} in the second."
    )
    if left := len(pair.into.tokens) - len(patches.tokens):
        under += (
            f" {left} of {counted(len(pair.into.tokens), 'token')}, in parentheses, "
            f"ha{'s' if left == 1 else 've'} no counterpart."
        )

    def choose(cell: int) -> ShowState:
        return ShowState(replace(run.state, block=cell // n, token=cell % n))

    head = Head(sentence, "patch-map", run.card.colour, second_line(pair.given), under)
    figure = restored_map(run.labels, shares, (run.state.block, run.token))
    alt = "How far each patch takes the answer towards the second sentence's."
    return chart_cell(head, figure, alt, height=560, on_choose=choose)


def _furthest(run: Run, pair: SentencePair, at: str, shares: Array, judged: int | None) -> Sentence:
    """Which patch moves the answer furthest; for the stream, the answer's own token is left out.

    Behind the last block that token's stream is the answer, whatever the network.
    """
    sentence, elsewhere = "", shares.copy()
    if at == "stream" and judged is not None:
        elsewhere[:, judged] = np.nan
    if at == "stream" and np.isfinite(elsewhere).any():
        shares, sentence = elsewhere, "The answer's own token aside, "
    block, token = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    word, instead = map(run.model.tokenizer.label, pair.words)
    what = PATCHED.options[at]
    moves = "move" if at == "neurons" else "moves"
    name = f"{what} " if sentence else f"{what[0].upper()}{what[1:]} "
    return (
        f"{sentence}{name}of the second sentence, put into block {block + 1} at "
        f"{quoted(run.labels[token])}, {moves} the answer furthest: "
        f"{number(way(float(shares[block, token])))} of the way from {quoted(instead)} to "
        f"{quoted(word)}."
    )


def the_patch(run: Run, pair: SentencePair, at: str) -> Cell:
    """The answer with the chosen block and token patched, beside both sentences' answers."""
    here, label = index_in_full(run.trace, run.token), run.labels[run.token]
    partner = next((given for given, into in pair.pairs.tolist() if into == here), None)
    if partner is None:
        why = " has no counterpart in the second sentence, so nothing can be put in there. "
        alone = f"{quoted(label)}{why}Choose another token."
        return text_cell("no-counterpart", alone, tone="info")
    _, place, neurons = PLACES[at]
    given, into = pair.given.logits_at(pair.judged[0]), pair.into.logits_at(pair.judged[1])
    where = run.state.block, (partner, here), pair.judged[1]
    patched = patched_logits(run.model, pair.given, pair.into, *where, at=place, neurons=neurons)
    start, end, now = (float(pair.measure(each)) for each in (into, given, patched))
    shares = np.stack([each.double().softmax(-1).cpu().numpy() for each in (into, patched, given)])
    likeliest = np.argsort(-shares.max(axis=0), kind="stable")[:WORDS].tolist()
    ids = list(dict.fromkeys((*pair.words, *likeliest)))[:WORDS]
    ids.sort(key=lambda word: -float(shares[:, word].max()))
    names = [run.model.tokenizer.label(word) for word in ids]
    answers = [run.model.tokenizer.label(word) for word in pair.words]
    before, after, second = ([percent(row[word]) for word in pair.words] for row in shares)
    moves = [f"{quoted(name)} {x} → {y}" for name, x, y in zip(answers, before, after, strict=True)]
    sentence = (
        f"A patch in block {run.state.block + 1} at {quoted(label)} moves the answer "
        f"{number(way((now - start) / (end - start)))} of the way: {', '.join(moves)}."
    )
    panels = [
        Bars("first sentence", names, shares[0][ids], "muted", marked=frozenset(answers)),
        Bars("patched", names, shares[1][ids], run.card.colour, marked=frozenset(answers)),
    ]
    likely = [f"{quoted(name)} {share}" for name, share in zip(answers, second, strict=True)]
    under = f"In the second sentence: {', '.join(likely)}."
    head = Head(sentence, "patched", run.card.colour, second_line(pair.given), under)
    alt = "The likeliest words after the first sentence, and after it with the patch."
    return bars_cell(head, panels, alt=alt)


def way(share: float) -> str:
    """A share of the way as a percentage, which may be negative or beyond 100."""
    if 0 < abs(share) < 0.0005:
        return "<0.1%" if share > 0 else "−<0.1%"
    return f"{100 * share:.{1 if abs(share) < 0.0995 else 0}f}%".replace("-", "−")


SETTINGS = (OTHER, PATCHED)
TO_TRY = "He drank a cup of", "He read a book of"  # then a mask, for who fills in words
AT_ONCE, UNASKED = 3e10, 3e13  # multiplications: done while the page is made, and without a button
LABEL = "Patch"


def sheet(run: Run, values: Values) -> Sheet:
    """The map of all patches, beside what the chosen one does to the answer."""
    setting, options = other_sentence(run), dict(PATCHED.options)
    if not (run.card.attention_seen or run.card.pre_norm):
        del options["attention"]
    text, at = values[setting], values[PATCHED]
    at = at if at in options else PATCHED.default
    first, second = (f"{each} [MASK]." if run.card.has_mask else each for each in TO_TRY)
    tried = {**dict(run.state.settings), OTHER.name: second}
    example = replace(run.state, sentence=first, token=None, settings=tuple(sorted(tried.items())))
    to_try = Button("Try “a cup of …” and “a book of …”", ShowState(example))
    controls = (setting, replace(PATCHED, options=options), to_try)
    pair = sentence_pair(run, text)
    if isinstance(pair, str):
        return Sheet([row(text_cell("nothing-to-patch", pair, tone="info"))], controls)
    pictures = the_map(run, text, pair, at), the_patch(run, pair, at)
    return Sheet([row(*pictures, widths=(1.3, 1))], controls)


def the_map(run: Run, text: str, pair: SentencePair, at: str) -> Cell | Measurement[PatchMap]:
    """How far every patch takes the answer; measured in the background where it takes long."""
    sizes = run.model.sizes
    per_token = 4 * sizes.d_model**2 + 2 * sizes.d_model * sizes.d_ff
    work = sizes.n_blocks**2 * len(pair.pairs) * len(pair.into.tokens) * per_token
    if work <= AT_ONCE:
        patches = run.subject.per_sentence(
            ("patch", text, at), lambda: all_patches(run, lambda _: None, text, at)
        )
        return map_cell(run, pair, at, patches)
    setup = (run.card.id, run.device, run.state.sentence, text, at)

    def after(measured: Measured[PatchMap]) -> list[Cell]:
        return [map_cell(run, pair, at, measured.result)]

    name, n = f"patch {at}", sizes.n_blocks * len(pair.pairs)
    what = (
        "What in the second sentence decides the answer? The network reads the first "
        f"sentence once for each block and token; each time, the second sentence gives "
        f"{PATCHED.options[at]} at that one place only: "
        f"{counted(sizes.n_blocks, 'block')} × {counted(len(pair.pairs), 'token')}."
    )
    before = [Soon("patch-map", what)]
    words, asks = (LABEL, f"Patching {n:,} times …"), work > UNASKED
    return Measurement(name, setup, all_patches, after, (text, at), before, *words, on_request=asks)


def all_patches(run: Run, progress: Progress, text: str, at: str) -> PatchMap:
    """Patch every block at every token that has a counterpart."""
    pair = sentence_pair(run, text)
    if isinstance(pair, str):
        raise ValueError(pair)
    _, place, neurons = PLACES[at]
    of_pair = pair.given, pair.into, pair.measure, pair.pairs, pair.judged
    return map_of_traces(run.model, *of_pair, at=place, neurons=neurons, progress=progress)
