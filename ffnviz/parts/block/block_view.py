"""What the drawings of an encoder's and a decoder's block share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float
from torch import Tensor

from ffnviz.analysis.sparsity import active, threshold_for
from ffnviz.parts.sheet import set_to
from ffnviz.pictures.block_picture import BlockActions, Station, Strip
from ffnviz.pictures.plot import Array
from ffnviz.pictures.wording import Sentence, counted, number, quoted
from ffnviz.state.actions import ChooseBlock, ChooseToken, OpenPage
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, count_setting

Kind = Literal["stream", "norm", "attention", "cross", "ffn", "sum"]  # what a station does


@dataclass(frozen=True, eq=False)
class MeasuredStation:
    """One station."""

    name: str  # unique in its block, and the same in pre-LN and post-LN
    kind: Kind
    output: Float[Tensor, "tokens d_model"]  # (T, d_model)
    # of a sum, the station whose output is added to that of the one before
    source: str | None = None
    # of an attention, (n_heads, T, T); of a cross-attention to S tokens, (n_heads, T, S)
    weights: Float[Tensor, "heads tokens sources"] | None = None
    hidden: Float[Tensor, "tokens d_ff"] | None = None  # of an FFN, (T, d_ff)


@dataclass(frozen=True)
class TokenInBlock:
    """One token on its way through a block."""

    label: str  # as typed
    n_words: int  # that an attention reads at most
    awake: int  # how many of the FFN's neurons are awake on it
    phi: str  # φ's name
    enters: str  # where its vector comes from, as the end of a sentence
    leaves: str  # where it goes after the block, likewise
    norm: str = "LayerNorm"  # of which kind its norms are; "norm" where that is not known
    not_drawn: int = 0  # special tokens that an attention reads, too


def degrees(before: Array, after: Array) -> float:
    """The angle between two vectors, in degrees."""
    cosine = float(before @ after) / (_norm(before) * _norm(after) or 1.0)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def title(kind: str, added: str, norm: str = "LayerNorm") -> str:
    """What a station is called; `added` is what a sum adds, `norm` what a norm is."""
    match kind:
        case "sum":
            return f"+ {added.removesuffix('-attention')}"
        case "stream":
            return "stream x"
        case "norm":
            return norm
    return ADDED[kind]


def note(kind: str, before: Array, after: Array) -> str:
    """The live number under a station; `before` is its input, or the stream that a sum adds to."""
    if kind == "sum":
        return f"turned {degrees(before, after):.0f}°"
    return f"{'norm' if kind in ('stream', 'norm') else 'writes'} {_norm(after):.1f}"


def explanation(
    kind: str, before: Array, after: Array, token: TokenInBlock, hidden: Array | None, last: bool
) -> Sentence:
    """What a station does to the token, with the numbers it does it with."""
    word, norm = quoted(token.label), number(f"{_norm(after):.1f}")
    end = f" The vector goes on {token.leaves}." if last else ""
    n = token.not_drawn
    special = f" and {n} special one{'s' * (n > 1)}, not drawn" if n else ""
    change = f"The length goes from {_norm(before):.1f} to {norm}.{end}"
    match kind:
        case "stream":
            return f"{word} enters as {token.enters}: {len(after):,} numbers, of length {norm}."
        case "norm" if token.norm == "RMSNorm":
            length = f"{float(np.sqrt(np.square(before).mean())):.2f}"
            return (
                f"RMSNorm divides the numbers of {word} by their root mean square ({length}), and "
                f"scales each by a learnt amount. {change}"
            )
        case "norm" if token.norm == "norm":
            return f"The numbers of {word} are normalised, and scaled by learnt amounts. {change}"
        case "norm":
            mean = f"{before.mean():.2f}".replace("-", "−")
            return (
                f"LayerNorm subtracts the mean ({mean}) of the numbers of {word}, divides them by "
                f"their standard deviation ({before.std():.2f}), and scales and shifts each by "
                f"learnt amounts. {change}"
            )
        case "attention":
            return (
                f"Only here do tokens see one another. For {word}, each head gathers from "
                f"{counted(token.n_words, 'token')}{special}, in shares that sum to 1. The heads "
                f"write a vector of length {norm}."
            )
        case "cross":
            return (
                f"{word} attends to the {counted(token.n_words, 'token')} of the sentence that was "
                f"read. The heads write a vector of length {norm}."
            )
        case "ffn":
            d_ff = 0 if hidden is None else len(hidden)
            return (
                f"The FFN sees {word} alone: {len(after):,} → {d_ff:,} numbers, through "
                f"{token.phi} ({number(f'{token.awake:,} active')}), → {len(after):,}. It writes a "
                f"vector of length {_norm(after):.1f}."
            )
    return (
        "What was written is added. This turns "
        f"{word} by {number(f'{degrees(before, after):.0f}°')}; the length goes from "
        f"{_norm(before):.1f} to {_norm(after):.1f}.{end}"
    )


def _norm(vector: Array) -> float:
    return float(np.linalg.norm(vector))


TO_THE_WORDS = "to be compared with all words of the vocabulary"
HEAD = count_setting("attention_head", 0, 0, 64)
FIRST = "x"  # station of a block
ADDED = {"attention": "attention", "cross": "cross-attention", "ffn": "FFN"}
RESIDUAL = ("Residual and LayerNorm", "lab", "residual")
LENS = ("Logit lens", "vocabulary", "lens")
DOORS = {  # of a kind of station: the parts about it, each with its page and name
    "stream": (LENS,),
    "norm": (RESIDUAL, ("Linear?", "lab", "linear")),
    "attention": (("Against an RNN", "block", "turns"), ("Position-wise", "lab", "positions")),
    "cross": (("Against an RNN", "block", "turns"),),
    "ffn": (
        ("The activation function", "sparsity", "bend"),
        ("Active neurons", "sparsity", "awake"),
        ("Top activations", "neurons", "wakes"),
        ("What it writes", "neurons", "writes"),
    ),
    "sum": (RESIDUAL, ("Ablate parts", "block", "strip"), LENS),
}


def stations_of(
    computed: Sequence[MeasuredStation],  # in order
    token: int,
    passing: TokenInBlock,  # what the stations' sentences say of the token
    start: Mapping[str, Array],  # what the first sums up, by name; none after a block
    ours: bool = True,  # for other networks the page Block has no other part
) -> list[Station]:
    """The stations as the picture takes them."""
    named = {station.name: as_array(station.output) for station in computed}
    outputs = list(named.values())
    stations, last_written = [], ""
    for place, (station, output) in enumerate(zip(computed, outputs, strict=True)):
        kind, after = station.kind, output[token]
        before = outputs[max(0, place - 1)][token]
        strips = _strips(station, before, after, token, start, named, last_written)
        if station.source is not None:
            before = named[station.source][token]
        hidden = None if station.hidden is None else as_array(station.hidden)
        own, weights = passing, station.weights
        if weights is not None:
            # No token attends to a later one.
            sees_back = weights.shape[-1] > 1 and not bool(weights.triu(1).any())
            causal = station.kind == "attention" and sees_back
            own = replace(passing, n_words=token + 1 if causal else weights.shape[-1])
        here, last = None if hidden is None else hidden[token], place == len(computed) - 1
        stations.append(
            Station(
                name=station.name,
                kind=kind,
                title=title(kind, last_written, passing.norm),
                note=note(kind, before, after),
                says=explanation(kind, before, after, own, here, last),
                output=output,
                scale="norm" if station.kind == "norm" else "stream",
                strips=strips,
                source=station.source,
                weights=None if weights is None else as_array(weights),
                hidden=hidden,
                doors=[title for title, _, _ in doors_of(station.kind, ours)],
            )
        )
        last_written = ADDED.get(station.kind, last_written)
    return stations


def doors_of(kind: Kind, ours: bool) -> tuple[tuple[str, str, str], ...]:
    """The parts about a kind of station that the network can show."""
    return tuple(door for door in DOORS[kind] if ours or door[1] != "block")


def _strips(
    station: MeasuredStation,
    before: Array,
    after: Array,
    token: int,
    start: Mapping[str, Array],
    named: dict[str, Array],
    written: str,
) -> list[Strip]:
    match station.kind:
        case "stream":
            parts = [
                Strip("+" if place else "", name, vector, "start")
                for place, (name, vector) in enumerate(start.items())
            ]
            return [*parts, Strip("=" if parts else "", "stream x", after, "start")]
        case "norm":
            return [Strip("", "before", before, "stream"), Strip("", "after", after, "norm")]
        case "sum":
            stream = named[station.source or ""][token]
            return [
                Strip("", "stream", stream, "stream"),
                Strip("+", f"from the {written}", before, "stream"),
                Strip("=", "new stream", after, "stream"),
            ]
        case "ffn" if station.hidden is not None:
            hidden = as_array(station.hidden)[token]
            middle = [Strip("", "hidden, after φ", hidden, "hidden")]
        case _:
            middle = []
    reads, writes = Strip("", "reads", before, "norm"), Strip("", "writes", after, "stream")
    return [reads, *middle, writes]


def awake_on(run: Run, computed: Sequence[MeasuredStation], token: int) -> int:
    """How many neurons of the block's FFN are active on a token."""
    hidden = next(as_array(each.hidden) for each in computed if each.hidden is not None)
    return int(active(hidden[token], threshold_for(run.card.phi)).sum())


def asks(run: Run, station: Setting[str], computed: Sequence[MeasuredStation]) -> BlockActions:
    """What a click in the picture asks for; another block is entered at its first station."""
    doors = {each.name: doors_of(each.kind, run.card.ours) for each in computed}
    return BlockActions(
        station=lambda name: set_to(station, name),
        head=lambda number: set_to(HEAD, number),
        token=ChooseToken,
        block=lambda by: ChooseBlock(run.state.block + by, {station.name: FIRST}),
        door=lambda name, at: OpenPage(*doors[name][at][1:]),
    )


def n_heads(stations: Sequence[Station]) -> int:
    """How many heads the attentions have."""
    return max((len(each.weights) for each in stations if each.weights is not None), default=0)


def leads(run: Run) -> tuple[str, str]:
    """The labels of what leads to the block before and after; "" where there is none."""
    block, n_blocks = run.state.block, run.model.sizes.n_blocks
    before = f"Back to block {block}" if block else ""
    return before, f"On to block {block + 2}" if block + 1 < n_blocks else ""


def as_array(tensor: Tensor) -> Array:
    """A tensor's numbers in float32, for pictures."""
    return np.asarray(tensor.detach().float().cpu().numpy())
