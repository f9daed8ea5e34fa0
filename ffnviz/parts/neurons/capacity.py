"""How much fits: random pairs of words in one FFN, with φ and without.

W₁ and φ stay the network's. The hidden layer H, (N, d_ff), of N inputs can be mapped onto any N
outputs exactly if rank H = N (Cover 1965; Bubeck et al. 2020).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, require, word_head
from ffnviz.models.encoder.linear import linear
from ffnviz.models.network import Network
from ffnviz.parts.sheet import Measured, Sheet, Soon, measured_row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, axis, lines
from ffnviz.pictures.wording import counted, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PLAIN_FFN)
COUNTS = (1, 128, 256, 512, 640, 1024, 1536, 1792, 1920, 2048, 2304, 3072, 4096)
SEED = 29
RIDGE = 1e-12  # of the mean eigenvalue, so that singular systems can be solved
SINGULAR = 1e-13  # of R's largest diagonal entry: less is rounding in float64
EXACT = 1e-3  # relative error below which outputs count as exact

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stored:
    """How well N pairs are recalled from one kind of hidden layer."""

    recall: Array  # share of pairs whose output is closest to its own word, (n_counts,)
    off: Array  # ‖H W − Y‖ / ‖Y‖, (n_counts,)
    rank: int | None  # of the hidden layer of all inputs; None while more pairs are being stored

    def exact_up_to(self, counts: NDArray[np.int64]) -> int:
        """The largest N up to which all outputs are exact; 0 if there is none."""
        return int(counts[np.logical_and.accumulate(self.off < EXACT)].max(initial=0))


@dataclass(frozen=True)
class Capacity:
    """Pairs stored with φ and without."""

    counts: NDArray[np.int64]  # numbers of pairs, (n_counts,)
    with_phi: Stored  # with the network's W₁ and φ
    without: Stored  # with W₁ alone, whose outputs are mixtures of the input's entries and a 1
    words: int  # the words among which the right one must be the closest


@torch.no_grad()
def capacity(model: Network, block: int, progress: Progress) -> Iterator[Capacity]:
    """Store up to 4,096 random pairs in one block's FFN, and yield what is known after each number.

    An input is a word's vector, as the FFN reads it; an output, the direction of another's.
    """
    require(model, NEEDS)
    ffn, read, written = model.ffn(block), model.input_words.vectors, word_head(model)[1].vectors
    most = min(COUNTS[-1], len(read), len(written))
    counts = [n for n in COUNTS if n <= most]
    generator = torch.Generator().manual_seed(SEED)
    from_, to = (torch.randperm(len(v), generator=generator)[:most] for v in (read, written))
    rows = read[from_.to(read.device)].cpu().double()
    x = rows if ffn.word_norm is None else ffn.word_norm.double()(rows)  # float32 would add a rank
    y = F.normalize(written[to.to(written.device)].cpu().double(), dim=-1)
    bias = None if ffn.key_bias is None else ffn.key_bias.cpu().double()
    hidden = ffn.phi.function(F.linear(x, ffn.keys.cpu().double(), bias))
    flat = x if bias is None else torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
    both = zip(stored(hidden, y, counts), stored(flat, y, counts), strict=True)
    for done, (with_phi, without) in enumerate(both, start=1):
        yield Capacity(np.array(counts[:done]), with_phi, without, most)
        progress(sum(counts[:done]) / sum(counts))


def stored(hidden: Tensor, y: Tensor, counts: list[int]) -> Iterator[Stored]:
    """Fit W by least squares to the first N rows of a hidden layer and of y, for each rising N."""
    width = hidden.shape[1]
    narrow = hidden[: max((n for n in counts if n <= width), default=0)]
    pairs = narrow @ narrow.mT
    gram, right, n_summed = hidden.new_zeros(width, width), hidden.new_zeros(width, y.shape[1]), 0
    words = y.float()
    recall, off = [], []
    for n in counts:
        rows, target = hidden[:n], y[:n]
        if n <= width:  # W = Hᵀ (H Hᵀ)⁻¹ Y
            outputs = pairs[:n, :n] @ _solve(pairs[:n, :n], target)
            if _off(outputs, target) > EXACT:  # H Hᵀ is too close to singular; H may not be
                outputs = min(outputs, _by_qr(rows, target), key=lambda each: _off(each, target))
        else:  # W = (Hᵀ H)⁻¹ Hᵀ Y
            more = slice(n_summed, n)
            gram += hidden[more].mT @ hidden[more]
            right += hidden[more].mT @ y[more]
            n_summed = n
            outputs = rows @ _solve(gram, right)
        closest = linear(outputs.float(), words).argmax(dim=-1)
        recall.append(float((closest == torch.arange(n)).double().mean()))
        off.append(_off(outputs, target))
        rank = None
        if n == counts[-1]:
            eigenvalues = torch.linalg.eigvalsh(gram if n_summed else pairs)
            rank = int((eigenvalues > 1e-11 * eigenvalues[-1]).sum())
        yield Stored(np.array(recall), np.array(off), rank)


def _off(outputs: Tensor, target: Tensor) -> float:
    off = float((outputs - target).norm() / target.norm())
    return off if math.isfinite(off) else math.inf


def _by_qr(rows: Tensor, target: Tensor) -> Tensor:
    """H W for the shortest W with H W = Y, without H Hᵀ, which squares H's condition number."""
    q, r = torch.linalg.qr(rows.mT)
    sizes = r.diagonal().abs()
    if float(sizes.min()) < SINGULAR * float(sizes.max()):
        return torch.full_like(target, torch.inf)
    outputs: Tensor = rows @ (q @ torch.linalg.solve_triangular(r.mT, target, upper=False))
    return outputs


def _solve(matrix: Tensor, right: Tensor) -> Tensor:
    ridge = RIDGE * matrix.diagonal().mean()
    raised = matrix + ridge * torch.eye(len(matrix), dtype=matrix.dtype)
    factor, failed = torch.linalg.cholesky_ex(raised)
    if int(failed):  # rounding has made an eigenvalue negative
        solution: Tensor = torch.linalg.lstsq(raised, right, driver="gelsd").solution
        return solution
    return torch.cholesky_solve(right, factor)


TICKS = (1, 512, 1024, 2048, 3072, 4096)


def sheet(run: Run, _: Values) -> Sheet:
    """The pairs found again, beside how far the outputs are off."""
    setup = (run.card.id, run.model.fingerprint, run.state.block)

    def cards(measured: Measured[Capacity]) -> tuple[Cell, Cell]:
        return the_recall(run, measured.result), the_error(run, measured.result)

    found = Soon("capacity", "How many pairs of words one FFN finds again", 600)
    off = Soon("capacity-error", "How far its outputs are off", 600)
    words = ("Store", "Storing up to 4,096 pairs …")
    both = measured_row("capacity", setup, store, cards, (found, off), words=words, once=True)
    return Sheet([both], [])


def store(run: Run, progress: Progress) -> Iterator[Capacity]:
    """Store random pairs in the chosen block's FFN, more and more."""
    return capacity(run.model, run.state.block, progress)


def the_recall(run: Run, stored: Capacity) -> Cell:
    """How many pairs are found again."""
    most = int(stored.counts[-1])
    sentence = (
        f"With block {run.state.block + 1}'s hidden values, "
        f"{number(percent(float(stored.with_phi.recall[-1])))} of {most:,} random pairs are found "
        f"again among {stored.words:,} words; without φ, "
        f"{percent(float(stored.without.recall[-1]))}."
    )
    figure = _curves(run, stored, "recall", "found again, %")
    alt = "How many of N random pairs are found again, with φ and without."
    return chart_cell(Head(sentence, "capacity", run.card.colour), figure, alt, height=600)


def the_error(run: Run, stored: Capacity) -> Cell:
    """How far the outputs are from what was asked."""
    exact, rank = stored.with_phi.exact_up_to(stored.counts), stored.with_phi.rank
    of_all = flat = ""
    if rank is not None:
        values = f"the hidden values of all {int(stored.counts[-1]):,}"
        of_all = f": {values} span {counted(rank, 'dimension')}"
    if stored.without.rank is not None:
        flat = f": they span {stored.without.rank:,}"
    sentence = (
        f"With φ the outputs are exact up to {number(counted(exact, 'pair'))}{of_all}. Without φ, "
        f"up to {stored.without.exact_up_to(stored.counts):,}{flat}."
    )
    figure = _curves(run, stored, "off", "outputs off, % of their length")
    alt = "How far the outputs of N pairs are off, with φ and without."
    return chart_cell(Head(sentence, "capacity-error", run.card.colour), figure, alt, height=600)


def _curves(run: Run, stored: Capacity, share: Literal["recall", "off"], title: str) -> Figure:
    """A share of the pairs' `Stored`, with φ and without, against their number."""
    with_phi, without = (
        100 * np.maximum(getattr(each, share), 0) for each in (stored.with_phi, stored.without)
    )
    series = {f"with {run.card.phi.label}": (with_phi, f"@{run.card.colour}", "solid")}
    series["without φ"] = (without, "@muted", "dash")
    across = axis("pairs N", tickvals=list(TICKS), ticktext=[f"{tick:,}" for tick in TICKS])
    return lines(stored.counts, series, across, axis(title, range=[-4, 104]))
