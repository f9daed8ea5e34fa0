"""Growth: time against the number of tokens and against d_ff."""

from collections.abc import Iterator

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import ours
from ffnviz.analysis.timing.growth import WIDTH_TOKENS, Growth, grow_with_length, grow_with_width
from ffnviz.parts.results import measured_on
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures import time_charts as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

RUNS = 5
LENGTH_SHARE = 0.75  # of the time, for the progress bar


def sheet(run: Run, values: Values) -> Sheet:  # noqa: ARG001
    """Time against T and against d_ff, with when and where it was measured."""
    setup = (run.card.id, run.device)  # all blocks are of one size

    wider = Soon("width", "How the time grows with d_ff")

    def after(measured: Measured[tuple[Growth, Growth | None]]) -> list[Row]:
        length, width = measured.result
        colour = run.card.colour
        runs = f"{RUNS} runs of each size, on random inputs: the sentence makes no difference."
        by_length = Head(_length_sentence(length), "growth", colour, under=measured_on(measured))
        first = curves(length, "tokens T", by_length)
        if width is None:
            return [row(first, wider)]
        by_width = Head(_width_sentence(width), "width", colour, under=[runs])
        return [row(first, curves(width, "d_ff", by_width))]

    longer = Soon("growth", "How the time grows with the number of tokens")
    return Sheet([Measurement("growth", setup, both, after, before=[row(longer, wider)])])


def both(run: Run, progress: Progress) -> Iterator[tuple[Growth, Growth | None]]:
    """Both measurements, one after the other."""
    model = ours(run.model)
    length = grow_with_length(model, 0, RUNS, lambda share: progress(LENGTH_SHARE * share))
    yield length, None
    width = grow_with_width(
        model, RUNS, lambda share: progress(LENGTH_SHARE + (1 - LENGTH_SHARE) * share)
    )
    yield length, width


def curves(grown: Growth, what: str, head: Head) -> Cell:
    """One quantity's curves."""
    times = {name: [s.quartiles for s in spreads] for name, spreads in grown.times.items()}
    return chart_cell(
        head,
        figures.growth(grown.sizes, times, what, head.accent),
        f"Time against {what}, for batches of 1 and 32.",
        key=f"growth-{head.note}",
        height=560,
    )


def _length_sentence(grown: Growth) -> Sentence:
    one, many = grown.times["FFN, batch 1"], grown.times["FFN, batch 32"]
    times = grown.sizes[-1] / grown.sizes[0]
    return [
        f"With {times:g} times as many tokens the FFN takes ",
        number(f"{one[-1].median / one[0].median:.1f} times"),
        f" as long for one text, and {many[-1].median / many[0].median:.1f} times in a batch of "
        "32.",
    ]  # fmt: skip


def _width_sentence(grown: Growth) -> Sentence:
    one = grown.times["FFN, batch 1"]
    times = grown.sizes[-1] / grown.sizes[0]
    return [
        f"With {times:g} times as many neurons the FFN takes ",
        number(f"{one[-1].median / one[0].median:.1f} times"),
        f" as long, on {WIDTH_TOKENS} tokens.",
    ]
