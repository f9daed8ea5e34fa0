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
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, bare_axis, figure, shortened, signed_colours, some_named
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
    """What a prediction needs.

    Attributes:
        plain, without: the prediction of the network as it is, and without the neurons.
        after: the likeliest word's probability without the neurons.
        alone: that with one part off at one token: by block, PARTS and token, (n_blocks, 2, T).
        everywhere: that with one part off at all tokens, (n_blocks, 2).
        neurons: (block, neuron) of those that were switched off, the strongest first.
        asked, known, kept: how many other facts were asked; how many of these the network says, and
            how many of the latter still without the neurons.
    """

    plain: Prediction
    without: Prediction
    after: float
    alone: NDArray[np.float64]
    everywhere: NDArray[np.float64]
    neurons: tuple[tuple[int, int], ...]
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

    def after(measured: Measured[Located]) -> list[Row]:
        found = measured.result
        return [row(the_map(run, found), the_neurons(run, found), widths=(1.3, 1))]

    before = [
        row(
            Soon("fact-map", "Which parts of the network this prediction needs", 420),
            Soon("fact-neurons", "The prediction without the neurons that carry it"),
            widths=(1.3, 1),
        )
    ]
    located = Measurement(
        "fact", setup, locate, after, (), before, LABEL, "Switching off part by part …"
    )
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
    return Located(
        plain,
        predict(model, model.trace(run.state.sentence, edits), run.place),
        float(edited.double().softmax(-1)[word]),
        alone,
        everywhere,
        neurons,
        len(others),
        int(known.sum()),
        int((said(model, others, edits) & known).sum()),
    )


def carriers(run: Run, word: int, second: int) -> tuple[tuple[tuple[int, int], ...], Tensor]:
    """As few of the first neurons as make another word the likeliest, and the logits without them.

    It is the most of COUNTS if none of these does. `second` is the likeliest word but one.
    """
    measure = LogitDifference(word, second)
    ranked = ranked_neurons(run.model, run.state.sentence, measure, run.place)
    for count in COUNTS:
        edits = switched_off(ranked[:count])
        edited = run.model.run(run.whole.ids[None], edits).logits_at(run.place)[0]
        if int(edited.argmax()) != word:
            break
    return tuple(ranked[:count]), edited


def ranked_neurons(
    model: Network, text: str, measure: LogitDifference, place: int
) -> list[tuple[int, int]]:
    """(block, neuron) by what setting each to zero would take away, to first order; most first."""
    worth = gradient_attribution(model, text, measure, token=place).product.sum(dim=1)
    best = worth.flatten().topk(max(COUNTS)).indices.tolist()
    return [divmod(each, model.sizes.d_ff) for each in best]


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
    return chart_cell(
        Head(sentence, "fact-map", run.card.colour, under=f"Off at every token: {off}."),
        need_map(labels, nats.reshape(-1, len(labels))),
        "How much less likely the word is without each block's attention or FFN at each token.",
        height=420,
    )


def need_map(labels: Sequence[str], nats: NDArray[np.float64]) -> Figure:
    """A row an attention or FFN, block by block, and a column a token; (2 · n_blocks, T)."""
    n_rows, n_tokens = nats.shape
    largest = max(float(np.abs(nats).max(initial=0)), 0.01)
    rows = [f"{LABELS[at]} {block + 1}" for block in range(n_rows // 2) for at in PARTS]
    return figure(
        [{
            "type": "heatmap", "name": "needed", "z": nats,
            "x": np.arange(n_tokens), "y": np.arange(n_rows),
            "zmin": -largest, "zmax": largest, "xgap": 1, "ygap": 1, **signed_colours("nats"),
            "hovertemplate": "%{y}, %{x}: %{z:+.2f} nats<extra></extra>",
        }],
        bare_axis("token", **some_named(list(map(shortened, labels)), MOST_NAMES, 16),
                  tickangle=-60),
        bare_axis("", tickvals=np.arange(n_rows), ticktext=rows, range=[n_rows - 0.5, -0.5]),
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
    panels = [
        Bars(title, each.words, each.probabilities, colour)
        for title, each, colour in (
            ("as it is", found.plain, run.card.colour),
            ("without them", found.without, "muted"),
        )
    ]
    return bars_cell(
        Head(sentence, "fact-neurons", run.card.colour, under=others),
        panels,
        "fact-words",
        alt="The likeliest words of the network as it is, and without the neurons.",
    )
