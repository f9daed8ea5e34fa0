"""Attention beside FFN: what each of a block's two halves costs, mixes and bends, in one table.

Multiply-adds a token, of n: attention 4 d_model² + 2 n d_model, the FFN 2 d_model d_ff. The loss of
hidden words is measured with a half switched off in the trained network: what a network learns that
was never given it is another question (“What a network needs”).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from ffnviz.analysis.cost import multiply_adds, parameters, shape_of
from ffnviz.analysis.facts import everyday_sentences, is_held_out
from ffnviz.analysis.lab.linearity import SHARES_HELD, try_linearity
from ffnviz.analysis.lab.positions import try_positions
from ffnviz.analysis.lab.residual import added_to_stream
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network
from ffnviz.parts.experiments import cached_for_block, experiment_subject
from ffnviz.parts.sheet import Measured, Measurement, Sheet, Soon, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import table_cell
from ffnviz.pictures.wording import number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

HALVES = {"attention": "attention", "ffn": "FFN"}  # as an edit calls each, and the page
SENTENCES = 200
SEED = 0
LONGEST = 24  # tokens
SMALL = 1e-9  # of an output's norm: float64's rounding is far below


@dataclass(frozen=True)
class Losses:
    """The mean cross-entropy of hidden words, in nats."""

    sentences: int  # how many were asked, one hidden word each
    whole: float  # of the network as it is
    without: Array  # with each of HALVES off in all blocks, (2,)
    block: Array  # with each of HALVES off in one block, (n_blocks, 2)


def sheet(run: Run, _: Values) -> Sheet:
    """The table beside the loss without each half."""

    def cards(measured: Measured[Losses]) -> list[Cell]:
        return [the_losses(run, measured.result)]

    setup = (run.card.id, run.model.fingerprint, run.device)
    soon = [Soon("beside-loss", "The loss without attention, and without the FFN", 420)]
    doing = "Measuring the loss without attention and without the FFN …"
    losses = Measurement("beside", setup, measure, cards, (), soon, doing=doing, once=True)
    return Sheet([row(the_table(run), losses, widths=(1.5, 1))])


def the_table(run: Run) -> Cell:
    """A row for each thing in which the two differ."""
    moved = cached_for_block(run, ("positions", "change"), try_positions)
    changed = min(run.token, len(moved.ffn) - 1)
    is_other = np.arange(len(moved.ffn)) != changed
    others = int(is_other.sum())
    hear, alone = (
        0 if each is None else int((each[changed][is_other] > SMALL).sum())
        for each in (moved.attention, moved.ffn)
    )
    table = rows(run)
    sentence = "One token has no other to mix with: type a second word."
    if others:
        what = "other tokens that hear of it"
        table.append((what, f"{hear} of {others}", f"{alone} of {others}"))
        sentence = (
            f"Another vector at {quoted(run.labels[changed])} changes attention's output at "
            f"{number(f'{hear} of {others}')} other token{'s' * (others > 1)}, and the FFN's at "
            f"{number(str(alone))}."
        )
    under = (
        "Attention brings to a token what others have; the FFN works on what has arrived. No FFN "
        "ever sees two tokens: only attention mixes them, block by block."
    )
    head = Head(sentence, "beside-table", run.card.colour, under=under)
    columns = [f"block {run.state.block + 1}", "attention", "FFN"]
    return table_cell("beside-table", head, columns, table)


def rows(run: Run) -> list[tuple[str, ...]]:
    """What holds of the block that is chosen, and what is measured on the sentence."""
    subject, n = experiment_subject(run), len(run.whole.tokens)
    bent = cached_for_block(run, ("linearity",), try_linearity)
    off = {each.name: short(max(each.additivity, each.scaling), 2) for each in bent.tried}
    held, flat = off[SHARES_HELD], off["FFN without φ"]
    (weights, once), (_, twice) = costs(run, n), costs(run, 2 * n)
    shares, _ = added_to_stream(subject)
    adds = [
        f"{short(float(shares[f'{half} {subject.block + 1}'][subject.token]), 2)} of its length"
        for half in ("attention", "FFN")
    ]
    return [
        ("what it does", "averages over all tokens", "works on each token alone"),
        ("how it mixes", "in shares that each sentence sets anew", "by the same W₁ and W₂ always"),
        ("weights", *weights),
        (f"multiply-adds per token, in a sentence of {n}", *once),
        (f"the same, in a sentence of {2 * n}", *twice),
        ("distance from linear", off["attention"], off["FFN"]),
        ("linear once …", f"its mixing is held: {held}", f"φ is left out: {flat}"),
        ("what it adds to this token's stream", *adds),
    ]


def costs(run: Run, n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The weights, and the multiply-adds of one token among n, of a block's attention and FFN."""
    shape = replace(shape_of(experiment_subject(run).ours.encoder.config, n), n_blocks=1)
    weights, work = parameters(shape), multiply_adds(shape)
    halves = HALVES.values()
    each_token = tuple(f"{work[half] // n:,}" for half in halves)
    return tuple(f"{weights[half]:,}" for half in halves), each_token


def measure(run: Run, progress: Progress) -> Losses:
    """The losses of held-out sentences with each half off."""
    return losses_of(run.model, held_out(run.model, SENTENCES), progress)


def held_out(model: Network, n: int) -> list[tuple[list[int], int]]:
    """Token ids of sentences that no training has read, each with the place of a word to hide."""
    tokenizer, generator = model.tokenizer, torch.Generator().manual_seed(SEED)
    lines = [line for line in everyday_sentences() if is_held_out(line)][: 2 * n]
    asked = []
    for ids in tokenizer.encode_many(lines):
        words = [at for at, each in enumerate(ids) if tokenizer.word(each).strip()[:1].isalpha()]
        if words and len(ids) <= LONGEST:
            asked.append((ids, words[int(torch.randint(len(words), (), generator=generator))]))
    return asked[:n]


@torch.no_grad()
def losses_of(model: Network, asked: Sequence[tuple[list[int], int]], progress: Progress) -> Losses:
    """The mean loss of the hidden words, of the network as it is and with each half off."""
    n_blocks = model.sizes.n_blocks
    block = np.zeros((n_blocks, len(HALVES)))
    whole, without = _loss(model, asked, []), np.zeros(len(HALVES))
    for place, at in enumerate(HALVES):
        off = [Edit(each, scale=0.0, at=at) for each in range(n_blocks)]
        without[place] = _loss(model, asked, off)
        for each in range(n_blocks):
            block[each, place] = _loss(model, asked, [off[each]])
        progress((place + 1) / len(HALVES))
    return Losses(len(asked), whole, without, block)


def _loss(model: Network, asked: Sequence[tuple[list[int], int]], edits: Sequence[Edit]) -> float:
    total = 0.0
    for length in sorted({len(ids) for ids, _ in asked}):
        rows = [(ids, place) for ids, place in asked if len(ids) == length]
        ids = torch.tensor([ids for ids, _ in rows], device=model.device)
        places = torch.tensor([place for _, place in rows], device=model.device)
        at = torch.arange(len(rows), device=model.device)
        words = ids[at, places]
        ids[at, places] = torch.tensor(model.tokenizer.mask_id, device=model.device)
        run = model.run(ids, edits)
        logits = run.unembed(run.final[at, places]).double()
        total += float(nn.functional.cross_entropy(logits, words, reduction="sum"))
    return total / len(asked)


def the_losses(run: Run, losses: Losses) -> Cell:
    """The loss as it is, without a half in all blocks, and without that of this block alone."""
    block = run.state.block
    attention, ffn = losses.without
    sentence = (
        f"The loss on hidden words is {losses.whole:.2f} nats; without the FFNs "
        f"{number(f'{ffn:.2f}')}, without attention {attention:.2f}."
    )
    without = [f"without {half}" for half in HALVES.values()]
    names = ["as it is", *without, *(f"{name} {block + 1}" for name in without)]
    losses_of = np.array([losses.whole, *losses.without, *losses.block[block]])
    under = (
        f"{losses.sentences} everyday sentences that the network never trained on, one word hidden "
        "in each. The network was trained with attention and FFNs, and never learnt to do "
        "without either."
    )
    return bars_cell(
        Head(sentence, "beside-loss", run.card.colour, under=under),
        [Bars("", names, losses_of, ["text", *2 * ("muted", run.card.colour)])],
        alt="The loss on hidden words: as it is, without attention, and without the FFN.",
        of="mean loss in nats",
        named="network",
    )
