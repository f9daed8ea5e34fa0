"""Position-wise: change, delete or shuffle tokens, and see which outputs move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ffnviz.analysis.lab.positions import (
    WAYS,
    AsConvolution,
    Positions,
    Sharing,
    try_convolution,
    try_positions,
    try_sharing,
)
from ffnviz.analysis.number_format import short
from ffnviz.parts.experiments import cached_for_block, experiment_subject, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.text import code_cell
from ffnviz.pictures.wording import Sentence, number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting


def sharing_sheet(run: Run, _: Values) -> Sheet:
    """One word in several contexts and two blocks' weights, over the verdicts."""
    shared = try_sharing(experiment_subject(run))
    pictures = row(one_word(run, shared), *other_block(run, shared))
    return Sheet([pictures, row(verdicts_of(run, "lab-sharing", shared.findings))])


def one_word(run: Run, sharing: Sharing) -> Cell:
    """How far apart the same word's inputs and outputs are."""
    word = run.labels[run.token]
    names = [f"at token {place + 1}" for place in sharing.places[1:]]
    where = "at its other places"
    if sharing.alone:
        names, where = ["alone"], "in a sentence of its own"
    sentence = (
        f"{quoted(word)} at token {run.token + 1} and {where}: its FFN output differs by "
        f"{number(percent(max(sharing.outputs)))} of its length, its input by "
        f"{percent(max(sharing.inputs))}."
    )
    panels = [
        Bars("FFN input", names, np.array(sharing.inputs), "muted"),
        Bars("FFN output", names, np.array(sharing.outputs), run.card.colour),
    ]
    head = Head(sentence, "lab-word", run.card.colour)
    alt = "How far the same word's inputs and outputs lie apart in its contexts."
    return bars_cell(head, panels, alt=alt, of="distance from the chosen one / norm")


def other_block(run: Run, sharing: Sharing) -> list[Cell]:
    """How different two blocks' weights are; nothing if there is only one block."""
    if sharing.other is None:
        return []
    mine, other = run.state.block + 1, sharing.other + 1
    sentence = (
        f"Blocks {mine} and {other} have weights of their own: W₁'s cosine is "
        f"{number(f'{sharing.cosines[0]:.2f}')}, its distance {percent(sharing.blocks[0])} of its "
        "norm (two random matrices: 141%)."
    )
    panels = [
        Bars("distance / norm", sharing.matrices, np.array(sharing.blocks), run.card.colour),
        Bars("cosine", sharing.matrices, np.array(sharing.cosines), "muted"),
    ]
    alt = "How far two blocks' weights lie apart, and their cosines."
    return [bars_cell(Head(sentence, "lab-blocks", run.card.colour), panels, alt=alt, of="")]


LEAST_OFF = 1e-18


def ladder(rungs: Sequence[tuple[str, float, str]], what: str) -> Figure:
    """A dot a number, its name beside it; an exact zero stands at the far left and says so."""
    values = np.array([max(LEAST_OFF, value) for _, value, _ in rungs])
    y = np.arange(len(rungs))
    texts = [
        f"  <b>{'exactly 0' if value == 0 else short(value)}</b> {name}" for name, value, _ in rungs
    ]
    right = float(np.log10(values.max())) + 14
    return plot.figure(
        [plot.dots(what, values, y, {"size": 18, "color": [colour for _, _, colour in rungs]},
                   mode="markers+text", text=texts, textposition="middle right",
                   textfont={"size": 17}, cliponaxis=False, hoverinfo="none")],
        plot.axis(f"{what}, logarithmic", type="log", range=[-18.4, max(4.0, right)],
                  tickvals=np.array([10.0**k for k in range(-18, 3, 4)]),
                  ticktext=["0"] + [f"10<sup>{k}</sup>" for k in range(-14, 3, 4)]),
        plot.row_axis(len(rungs), showticklabels=False),
        margin={"l": 24, "r": 16, "t": 10, "b": 56},
        showlegend=False,
    )  # fmt: skip


CODE = """\
first  = nn.Conv1d({d_model}, {d_ff}, kernel_size=1)
second = nn.Conv1d({d_ff}, {d_model}, kernel_size=1)
# weights as ({d_ff}, {d_model}, 1), biases as they are
first.weight.data = ffn.expand.weight[..., None]
second.weight.data = ffn.compress.weight[..., None]

# (B, L, d) = (1, {n}, {d_model})
x = trace.blocks[{block}].ffn.input[None]
# (B, d, L): {into} → {hidden}
y = first(x.mT)
# {hidden} → {out}, back to (B, L, d)
y = second(phi(y)).mT
"""


def convolution_sheet(run: Run, _: Values) -> Sheet:
    """The difference over the verdicts and the code."""
    result = cached_for_block(run, ("convolution",), try_convolution)
    refused = ""
    if result.refused:
        refused = f"Without the transposes PyTorch says: {quoted(result.refused)}"
    sizes, (into, hidden, out) = run.model.sizes, result.shapes
    code = CODE.format(
        d_model=sizes.d_model,
        d_ff=sizes.d_ff,
        n=len(result.difference),
        block=run.state.block,
        into=into,
        hidden=hidden,
        out=out,
    ).rstrip()
    verdicts = verdicts_of(run, "lab-convolution", result.findings, refused)
    below = row(verdicts, code_cell("code", code), widths=(1, 1.2))
    return Sheet([row(how_close(run, result)), below])


def how_close(run: Run, result: AsConvolution) -> Cell:
    """The largest difference, beside what rounding allows and the size of the outputs."""
    largest = float(result.difference.max())
    sentence = (
        "Used as convolutions, the same weights give the same outputs: they differ by at most "
        f"{number('0' if largest == 0 else short(largest))}."
    )
    rungs = [
        ("largest difference", largest, f"@{run.card.colour}"),
        ("rounding may cause", float(result.allowed.max()), "@muted"),
        ("largest output", result.size, "@text"),
    ]
    head = Head(sentence, "lab-ladder", run.card.colour)
    alt = "The difference, what rounding allows, and the outputs, on a logarithmic scale."
    return chart_cell(head, ladder(rungs, "in float64"), alt, key="lab-convolution", height=270)


MANY = 3  # maps in a row leave room for few words
FAINTEST = "0.14"  # of what is not zero, however little it is
LEAST = 1e-3  # the darkest colour: mere rounding stays faint


@dataclass(frozen=True)
class Map:
    """One map."""

    title: str  # said above it
    # at least 0, (rows, columns); no number where there is nothing to say
    values: Array
    colour: str  # of the largest, as a figure names it
    # rows, columns: names, not escaped; none if they would not fit
    rows: Sequence[str]
    columns: Sequence[str]


def maps(shown: Sequence[Map], across: int, what: str, down: tuple[str, str]) -> Figure:
    """Maps in rows of `across`; `down` says what the rows and the columns of each are."""
    n_rows = -(-len(shown) // across)
    gap_x, gap_y = 0.24 / across, 0.24 / n_rows if n_rows > 1 else 0.0
    width, height = (1 - gap_x * (across - 1)) / across, (1 - gap_y * (n_rows - 1)) / n_rows
    traces, axes, titles = [], {}, []
    hover = f"{down[0]} %{{y}}, {down[1]} %{{x}}: %{{customdata:.3g}} {what}<extra></extra>"
    for place, each in enumerate(shown):
        row, column = divmod(place, across)
        left, top = column * (width + gap_x), 1 - row * (height + gap_y)
        number = str(place + 1) if place else ""
        largest = max(LEAST, float(np.nanmax(each.values, initial=0)))
        shades = [[0, "@background"], [1e-9, f"{each.colour}/{FAINTEST}"], [1, each.colour]]
        # The root shows what is small; the hover has the value itself.
        traces.append(plot.heatmap(
            each.title, np.sqrt(np.maximum(each.values, 0) / largest), 0, 1, colorscale=shades,
            customdata=each.values, meta={"numbers": "customdata"}, showscale=False, xgap=1, ygap=1,
            xaxis=f"x{number}", yaxis=f"y{number}", hovertemplate=hover,
        ))  # fmt: skip
        # Names of rows only where there is room: at the left. A narrow page may have other lefts.
        x, y = f"x{number}", f"y{number}"
        axes[f"xaxis{number}"] = _axis(each.columns, anchor=y, domain=[left, left + width])
        named = column == 0 and bool(each.rows)
        down_to = {"domain": [max(0.0, top - height), top], "range": [len(each.values) - 0.5, -0.5]}
        axes[f"yaxis{number}"] = _axis(each.rows, anchor=x, showticklabels=named, **down_to)
        scale = f"<br>colour: 0 to {largest:.2g}" if across < MANY else ""
        titles.append(plot.panel_title(each.title + scale, left, top + 0.004))
    above = 34 if across >= MANY else 56
    return plot.figure(
        traces,
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        **axes,
        annotations=titles,
        meta={"panels": len(shown), "rows": n_rows},
        showlegend=False,
        margin={"l": 96, "r": 10, "t": above, "b": 76 if shown[0].columns else 8},
    )


def _axis(names: Sequence[str], **more: object) -> dict[str, object]:
    more = {"tickfont": {"size": 16}, "showticklabels": bool(names), **more}
    return plot.bare_axis("", **plot.some_named(names, 16, 9), **more)


TITLES = {
    "change": "Change each token in turn",
    "delete": "Delete each token in turn",
    "shuffle": "Shuffle all tokens",
}
SENTENCES = {  # what is said before the FFN's number, between it and attention's, and after that
    "change": ("Each row is the token that was changed: the FFN changes ", ", attention ", "."),
    "delete": (
        "Each row is the token that was deleted: the FFN's other outputs move by ",
        ", attention's by ",
        ".",
    ),
    "shuffle": (
        "After the shuffle each token's FFN output is off by ",
        ", its attention output by ",
        ": both follow the tokens.",
    ),
}
WAY = choice_setting("way", {way: TITLES[way] for way in WAYS}).with_control("What is done")
SETTINGS = (WAY,)


def sheet(run: Run, values: Values) -> Sheet:
    """The two maps over the verdicts."""
    way = values[WAY]
    moved = cached_for_block(run, ("positions", way), lambda subject: try_positions(subject, way))
    verdicts = verdicts_of(run, "lab-positions", moved.findings)
    return Sheet([row(two_maps(run, moved, way)), row(verdicts)])


def two_maps(run: Run, positions: Positions, way: str) -> Cell:
    """The FFN's map beside attention's, which only our own networks have."""
    labels = run.labels[: positions.ffn.shape[1]]
    rows = ["moved"] if way == "shuffle" else labels
    shown = [Map("at the FFN's input", positions.ffn, f"@{run.card.colour}", rows, labels)]
    if positions.attention is not None:
        title = "at the attention's input"
        shown.append(Map(title, positions.attention, "@positive_mid", rows, labels))
    head = Head(_sentence(positions, way), "lab-maps", run.card.colour)
    figure = maps(shown, len(shown), "of its length", ("changed", "seen at"))
    alt = "How far each token's output moves."
    height = 300 if way == "shuffle" else 620
    return chart_cell(head, figure, alt, key="lab-positions", height=height)


def _sentence(positions: Positions, way: str) -> Sentence:
    begin, between, end = SENTENCES[way]
    by_number = way == "change"
    amount = _others if by_number else _most
    moved = amount(positions.ffn)
    if by_number:
        moved = f"{moved} output{'s' * (moved != '1')} of other tokens"
    if positions.attention is None:
        return f"{begin}{number(moved)}."
    return f"{begin}{number(moved)}{between}{amount(positions.attention)}{end}"


def _others(moved: Array) -> str:
    """How many outputs of other tokens than the changed one move."""
    return str((moved > 0).sum() - (moved.diagonal() > 0).sum())


def _most(moved: Array) -> str:
    """How far an output moves at most."""
    largest = float(moved[moved == moved].max(initial=0))
    if largest == 0:
        return "exactly 0"
    text = percent(largest) if largest > 1e-4 else f"{short(largest, 1)} of its length"
    return f"up to {text}"
