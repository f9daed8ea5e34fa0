"""Is it linear? Additivity and scaling on every part of the block."""

from ffnviz.analysis.lab.linearity import FACTOR as USUAL
from ffnviz.analysis.lab.linearity import Linearity, try_linearity
from ffnviz.figures.lab.linearity import off_linear
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.experiments import cached_for_block, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_setting

STOPS = (-3.0, -2.0, -1.0, -0.5, 0.1, 0.5, 0.9, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0)
FACTOR = number_setting("a", USUAL, STOPS[0], STOPS[-1]).with_control(
    "factor a of f(a x) = a f(x)", STOPS, lambda stop: f"{stop:g}"
)
SETTINGS = (FACTOR,)


def sheet(run: Run, values: Values) -> Sheet:
    """The bars over the verdicts."""
    factor = values[FACTOR] or FACTOR.default  # a factor of 0 tests nothing
    linearity = cached_for_block(run, ("linearity",), try_linearity)
    if factor != USUAL:  # additivity stays: a step takes one pass a map instead of five
        known = linearity.additivity
        linearity = cached_for_block(
            run, ("linearity", factor), lambda subject: try_linearity(subject, factor, known)
        )
    verdicts = verdicts_of(run, "lab-linear", linearity.findings)
    return Sheet([row(bars(run, linearity, factor)), row(verdicts)])


def bars(run: Run, linearity: Linearity, factor: float) -> Cell:
    """How far from linear each part is."""
    straight = [each.name for each in linearity.tried if each.check.passed]
    sentence: Sentence = [
        number(f"{len(straight)} of {len(linearity.tried)}"), " are linear up to their bias",
        f": {', '.join(straight)}." if straight else ".",
    ]  # fmt: skip
    return chart_cell(
        Head(
            sentence,
            "lab-tests",
            run.card.colour,
            under=[
                "The worse of two tests: f(x + y) = f(x) + f(y), and "
                f"f({factor:g} x) = {factor:g} f(x)."
            ],
        ),
        off_linear(
            {each.name: (each.check.value,) for each in linearity.tried},
            max(each.allowed for each in linearity.tried),
            ("off by",),
            run.card.colour,
        ),
        "How far each part is from linear, on a logarithmic scale.",
        key="lab-linear",
        height=400,
    )
