"""A visitor's own lecture as a worksheet to print, and as one HTML file that needs no server."""

from ffnviz.analysis.measuring import Progress
from ffnviz.app.catalog import build_catalog
from ffnviz.app.visit import visit
from ffnviz.export.document import TooLargeError
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.html_file import lecture_html
from ffnviz.lecture.lecture import read_lecture
from ffnviz.lecture.worksheet import worksheet_html
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.text import saving_cell, text_cell
from ffnviz.state.run import Run

WHAT = {
    "worksheet": "the worksheet: questions and gaps, and the solutions, to print on A4",
    "html": "the lecture as one file, which opens without a server",
}


def ask(what: str, name: str, text: str) -> None:
    """Have one of WHAT made of the text of a lecture's file."""
    visit().handout = (what, name, text)


def handout(text: str) -> Sheet:
    """What was asked for, as long as the lecture is the same."""
    what, name, wanted = visit().handout or ("", "", "")
    if wanted != text:
        return Sheet([])
    made = Measurement[str | list[str]](
        f"desk-{what}",
        (wanted,),
        make,
        lambda measured: offered(what, name, measured),
        (what, wanted),
        before=[row(Soon("", f"Soon: {WHAT[what]}", 90))],
        doing="Making the file …",
        once=True,
    )
    return Sheet([made], [])


def make(run: Run, progress: Progress, what: str, text: str) -> str | list[str]:
    """The file, or in a list the sentence that says why there is none."""
    catalog = build_catalog()
    lecture = read_lecture(text, catalog, FACTS)
    try:
        if what == "worksheet":
            return worksheet_html(lecture, catalog, run.device)
        return lecture_html(lecture, catalog, run.device, progress)
    except TooLargeError as error:
        return [str(error)]


def offered(what: str, name: str, measured: Measured[str | list[str]]) -> list[Row]:
    """The button that saves the file."""
    if isinstance(measured.result, list):
        return [row(text_cell("desk-handout", measured.result[0], tone="warning"))]
    content, file = measured.result.encode(), f"{name}{'-worksheet' * (what == 'worksheet')}.html"
    save = saving_cell(
        f"Save {WHAT[what].partition(':')[0].partition(',')[0]}",
        content,
        file,
        "text/html",
        key="desk-handout",
    )
    return [row([save])]
