"""Where is a fact? What the prediction of a hidden word needs, and the few neurons that carry it.

Each FFN and each attention is switched off at one token at a time (h_{l,t} ← 0; Meng et al. 2022
restore instead what noise has spoilt). Neurons are ranked by gradient × activation of the likeliest
word against the second, summed over the tokens (Dai et al. 2022 rank theirs by an integral of it),
and as few of the first are switched off as make another word the likeliest. Then other facts are
asked, with these neurons switched off and without (assets/facts).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.causal.attribution import gradient_attribution
from ffnviz.analysis.causal.measure import LogitDifference
from ffnviz.analysis.facts import Fact, read_facts
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability
from ffnviz.analysis.prediction import Prediction, predict
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network
from ffnviz.parts.sheet import Button, Measured, Sheet, Soon, measured_row
from ffnviz.pictures import plot
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.wording import counted, neuron_name, number, percent, quoted
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Values

NEEDS = (Capability.OURS, Capability.MASK, Capability.WORD_HEAD)
TO_TRY = "The opposite of hot is [MASK]."
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50)  # neurons that are switched off together
EVERY = 4  # one fact in so many is asked
MOST_NAMES = 32  # of tokens
SHOWN = 8  # neurons that are named
PARTS = ("attention", "ffn")
LABELS = {"attention": "attention", "ffn": "FFN"}
LABEL = "Switch off part by part"


@dataclass(frozen=True)
class Located:
    """What a prediction needs."""

    # plain, without: the prediction of the network as it is, and without the neurons
    plain: Prediction
    without: Prediction
    after: float  # the likeliest word's probability without the neurons
    # that with one part off at one token: by block, PARTS and token, (n_blocks, 2, T)
    alone: Array
    everywhere: Array  # that with one part off at all tokens, (n_blocks, 2)
    # (block, neuron) of those that were switched off, the strongest first
    neurons: tuple[tuple[int, int], ...]
    # asked, known, kept: how many other facts were asked; how many of these the network says, and
    # how many of the latter still without the neurons
    asked: int
    known: int
    kept: int

    @property
    def taken(self) -> bool:
        """Whether another word is the likeliest without the neurons."""
        return int(self.plain.ids[0]) != int(self.without.ids[0])


def sheet(run: Run, _: Values) -> Sheet:
    """The map of what the prediction needs, beside what it is without the neurons that carry it."""
    setup = (run.card.id, run.model.fingerprint, run.device, run.state.sentence, run.place)

    def cards(measured: Measured[Located]) -> tuple[Cell, Cell]:
        return the_map(run, measured.result), the_neurons(run, measured.result)

    needs = Soon("fact-map", "Which parts of the network this prediction needs", 420)
    carried = Soon("fact-neurons", "The prediction without the neurons that carry it")
    soon = (needs, carried)
    words = (LABEL, "Switching off part by part …")
    located = measured_row("fact", setup, locate, cards, soon, widths=(1.3, 1), words=words)
    example = ShowState(replace(run.state, sentence=TO_TRY, token=None))
    return Sheet([located], [Button("Try “The opposite of hot is …”", example)])


@torch.inference_mode()
def locate(run: Run, progress: Progress) -> Located:
    """Switch off part by part, then the neurons that matter most, and ask other facts."""
    model, ids, n_tokens = run.model, run.whole.ids, len(run.whole.tokens)
    plain = predict(model, run.whole, run.place)
    word, second = int(plain.ids[0]), int(plain.ids[1])

    def without(*edits: Edit) -> float:
        logits = model.run(ids[None], edits).logits_at(run.place)[0]
        return float(logits.double().softmax(-1)[word])

    n_blocks = model.sizes.n_blocks
    alone = np.zeros((n_blocks, len(PARTS), n_tokens))
    everywhere = np.zeros((n_blocks, len(PARTS)))
    for block, (place, at) in product(range(n_blocks), enumerate(PARTS)):
        everywhere[block, place] = without(Edit(block, scale=0.0, at=at))
        for token in range(n_tokens):
            alone[block, place, token] = without(Edit(block, scale=0.0, at=at, tokens=[token]))
        progress((2 * block + place + 1) / (2 * n_blocks + 1))
    neurons, edited = carriers(run, word, second)
    edits = switched_off(neurons)
    others = [fact for fact in read_facts()[::EVERY] if fact.answer != plain.words[0].strip()]
    known = said(model, others)
    changed = predict(model, model.trace(run.state.sentence, edits), run.place)
    after = float(edited.double().softmax(-1)[word])
    return Located(
        plain=plain,
        without=changed,
        after=after,
        alone=alone,
        everywhere=everywhere,
        neurons=neurons,
        asked=len(others),
        known=int(known.sum()),
        kept=int((said(model, others, edits) & known).sum()),
    )


def carriers(run: Run, word: int, second: int) -> tuple[tuple[tuple[int, int], ...], Tensor]:
    """As few neurons as make another word the likeliest, and the logits without them.

    It is the most of COUNTS if none of these does. `second` is the likeliest word but one.
    """
    measure = LogitDifference(word, second)
    # What setting each neuron to zero would take away, to first order.
    found = gradient_attribution(run.model, run.state.sentence, measure, token=run.place)
    best = found.product.sum(dim=1).flatten().topk(max(COUNTS)).indices.tolist()
    ranked = [divmod(each, run.model.sizes.d_ff) for each in best]
    for count in COUNTS:
        edits = switched_off(ranked[:count])
        edited = run.model.run(run.whole.ids[None], edits).logits_at(run.place)[0]
        if int(edited.argmax()) != word:
            break
    return tuple(ranked[:count]), edited


def switched_off(neurons: Sequence[tuple[int, int]]) -> list[Edit]:
    """The edits that set them to zero at every token."""
    blocks = sorted({block for block, _ in neurons})
    return [Edit(block, [n for at, n in neurons if at == block], scale=0.0) for block in blocks]


@torch.inference_mode()
def said(model: Network, facts: Sequence[Fact], edits: Sequence[Edit] = ()) -> NDArray[np.bool_]:
    """Whether the network's likeliest word is the answer, in each fact's first held-out wording."""
    texts = model.tokenizer.encode_many([fact.held_out[0] for fact in facts])
    answers = [ids[0] for ids in model.tokenizer.encode_many([fact.answer for fact in facts])]
    right = np.zeros(len(facts), dtype=bool)
    for length in sorted({len(ids) for ids in texts}):
        places = [place for place, ids in enumerate(texts) if len(ids) == length]
        ids = torch.tensor([texts[place] for place in places], device=model.device)
        run = model.run(ids, edits)
        guesses = run.unembed(run.final[ids == model.tokenizer.mask_id]).argmax(-1)
        wanted = torch.tensor([answers[place] for place in places], device=model.device)
        right[places] = (guesses == wanted).cpu().numpy()
    return right


def the_map(run: Run, found: Located) -> Cell:
    """What each part is worth at each token that is shown, in nats."""
    word, before = found.plain.words[0].strip(), float(found.plain.probabilities[0])
    labels = token_labels(run.whole.tokens)

    def most(at: int) -> tuple[str, str, str]:
        left = found.alone[:, at]
        block, token = map(int, np.unravel_index(left.argmin(), left.shape))
        return f"{LABELS[PARTS[at]]} {block + 1}", labels[token], percent(float(left[block, token]))

    first, second = sorted(range(len(PARTS)), key=lambda at: float(found.alone[:, at].min()))
    name, label, share = most(first)
    sentence = (
        f"The likeliest word, “{word}” ({percent(before)}), needs {name} at {quoted(label)} most: "
        f"without that it has {number(share)}. "
    )
    name, label, share = most(second)
    sentence += f"Without {name} at {quoted(label)}, it has {share}."
    off = ", ".join(
        f"{LABELS[PARTS[at]]} {each + 1} ({percent(float(found.everywhere[each, at]))})"
        for each, at in np.ndindex(found.everywhere.shape)
    )
    nats = np.log(before / np.maximum(found.alone, 1e-12))
    head = Head(sentence, "fact-map", run.card.colour, under=f"Off at every token: {off}.")
    alt = "How much less likely the word is without each block's attention or FFN at each token."
    return chart_cell(head, need_map(labels, nats.reshape(-1, len(labels))), alt, height=420)


def need_map(labels: Sequence[str], nats: Array) -> Figure:
    """A row an attention or FFN, block by block, and a column a token; (2 · n_blocks, T)."""
    n_rows, n_tokens = nats.shape
    largest = max(float(np.abs(nats).max(initial=0)), 0.01)
    rows = [f"{LABELS[at]} {block + 1}" for block in range(n_rows // 2) for at in PARTS]
    tokens = plot.some_named(list(map(plot.shortened, labels)), MOST_NAMES, 16)
    return plot.figure(
        [plot.heatmap("needed", nats, -largest, largest, x=np.arange(n_tokens), y=np.arange(n_rows),
                      xgap=1, ygap=1, hovertemplate="%{y}, %{x}: %{z:+.2f} nats<extra></extra>",
                      **plot.signed_colours("nats"))],
        plot.bare_axis("token", **tokens, tickangle=-60),
        plot.bare_axis("", tickvals=np.arange(n_rows), ticktext=rows, range=[n_rows - 0.5, -0.5]),
        margin={"l": 110, "r": 10, "t": 10, "b": 100},
    )  # fmt: skip


def the_neurons(run: Run, found: Located) -> Cell:
    """The prediction without the neurons that carry it, and what becomes of other facts."""
    word, n = found.plain.words[0].strip(), len(found.neurons)
    share, many = percent(found.after), counted(n, "neuron")
    sentence = (
        f"Even without the {many} that matter{'s' * (n == 1)} most, “{word}” stays likeliest: "
        f"{number(share)}."
    )
    if found.taken:
        says = found.without.words[0].strip()
        sentence = (
            f"Without {number(many)}, “{word}” goes to {share} and the network says “{says}”."
        )
    names = [neuron_name(*each) for each in found.neurons[:SHOWN]]
    more = f" and {n - SHOWN} more" if n > SHOWN else ""
    others = (
        f"Of {counted(found.asked, 'other fact')}, the network knows {number(f'{found.known}')}, "
        f"and without {'this neuron' if n == 1 else 'these neurons'} still "
        f"{number(f'{found.kept}')}. The neuron{'s' * (n != 1)}: {', '.join(names)}{more}."
    )
    plain, without = found.plain, found.without
    panels = [
        Bars("as it is", plain.words, plain.probabilities, run.card.colour),
        Bars("without them", without.words, without.probabilities, "muted"),
    ]
    head = Head(sentence, "fact-neurons", run.card.colour, under=others)
    alt = "The likeliest words of the network as it is, and without the neurons."
    return bars_cell(head, panels, "fact-words", alt=alt)
