"""The time of the FFN as two Linear layers, and as two convolutions with kernel 1."""

from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.growth import Convolution, as_convolution
from ffnviz.figures.timing import timing as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.results import REPEATS, measured_on
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def sheet(run: Run, values: Values) -> Sheet:
    """The two times over when and where they were measured."""
    setup = (run.card.id, run.state.sentence, run.device, run.state.block, values[REPEATS])

    def after(measured: Measured[Convolution]) -> list[Row]:
        chart = times(run, measured.result, measured_on(measured))
        return [row(chart)]

    before = [
        row(Soon("convolution", "What the FFN takes as Linear layers and as convolutions", 420))
    ]
    return Sheet([Measurement("convolution", setup, measure, after, (values[REPEATS],), before)])


def measure(run: Run, progress: Progress, repeats: int) -> Convolution:
    """Time both ways on the sentence."""
    return as_convolution(ours(run.model), run.trace, run.state.block, repeats, progress)


def times(run: Run, result: Convolution, under: Sentence) -> Cell:
    """Both times, and how far apart the outputs are."""
    sentence: Sentence = [
        f"Linear and Conv1d differ by at most {short(result.difference, 1)} in outputs of up to "
        f"{result.largest:.1f}; the convolution takes ",
        number(f"{result.convolution.median / result.linear.median:.2f} times"), " as long.",
    ]  # fmt: skip
    spreads = {"Linear": result.linear, "Conv1d, kernel 1": result.convolution}
    return chart_cell(
        Head(sentence, "convolution", run.card.colour, under=under),
        figures.stages(
            {name: s.quartiles for name, s in spreads.items()},
            dict.fromkeys(spreads, "FFN"),
            run.card.colour,
        ),
        "The time of the FFN as two Linear layers and as two convolutions.",
        height=420,
    )
