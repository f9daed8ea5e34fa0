"""The names given so far: in the URL, and in files to export and to import."""

from collections.abc import Sequence
from urllib.parse import quote_plus

from ffnviz.analysis.neurons.description_file import (
    DescriptionsError,
    descriptions_in,
    to_lines,
)
from ffnviz.analysis.neurons.name_exchange import as_descriptions, as_names
from ffnviz.analysis.neurons.names import (
    LONGEST_FILE,
    Name,
    NamesError,
    Reading,
    read_names,
    to_file,
    to_line,
    with_name,
)
from ffnviz.figures.wording import number
from ffnviz.parts.sheet import Answer, Button, Control, Download, Upload, set_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.table import table_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import OpenNeuron, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, text_setting
from ffnviz.state.state import Neuron

LONGEST_IN_URL = 1_800
ROOM_IN_URL = 2_800  # characters of the URL for the same: JSON's signs take three each
# A line that is there is read to its end, however a URL writes it: cut, it would be no JSON.
NAMES = text_setting("names", longest=LONGEST_IN_URL, url_length=12 * LONGEST_IN_URL)
NO_ROOM = "A link has no room for so many names, so none was added."
PROBLEMS_SHOWN = 5


def names_in_link(run: Run, values: Values) -> Reading:
    """The names in the URL, with what cannot be read in it."""
    try:
        return read_names(values[NAMES], run.networks)
    except NamesError as error:
        return Reading((), (str(error),))


def name_controls(run: Run, values: Values, name: Name) -> list[Control]:
    """The controls that keep the name, and that export and import all names."""
    names = names_in_link(run, values).names
    lines = to_lines(as_descriptions(names))
    exports = [
        Download("Export names", "neuron-names.json", "application/json", to_file(names)),
        Download("Export for Neuronpedia", "explanations.jsonl", "application/jsonl", lines),
    ]
    return [
        Button("Keep this name", _add_names(names, [name]) if name.name.strip() else None),
        *(exports if names else []),
        Upload(
            "Import names", ".json,.jsonl", LONGEST_FILE,
            lambda *file: imported(run, values, *file),
            "A file of names, as exported here, or of descriptions, as Neuronpedia exports them: "
            f"up to {LONGEST_FILE:,} characters",
        ),
    ]  # fmt: skip


def name_cells(run: Run, values: Values, name: Name) -> list[Cell]:
    """The table of the link's names, and what is wrong with them; a row leads to its neuron."""
    reading, cells = names_in_link(run, values), []
    if reading.left_out:
        title = "The link holds names that cannot be shown."
        cells.append(_problems("names-link", title, reading.left_out))
    if name.name.strip() and _add_names(reading.names, [name]) is None:
        cells.append(text_cell("names-full", "The link has no room for another name.", tone="info"))
    if reading.names:
        cells.append(table_of(run, reading.names))
    return cells


def table_of(run: Run, names: Sequence[Name]) -> Cell:
    """One row a name."""
    neurons = [Neuron(each.twin, each.block - 1, each.neuron) for each in names]
    count = number(f"{len(names):,} name{'s' * (len(names) > 1)}")
    sources = any(each.by or each.score for each in names)
    rows = [
        (f"{neuron.network} {neuron}", each.name, each.tag or each.words,
         *[each.by or "you", each.score] * sources)
        for neuron, each in zip(neurons, names, strict=True)
    ]  # fmt: skip
    return table_cell(
        "names-table",
        Head([count, " kept in this page’s link. Click one to open it."], "", run.card.colour),
        ("neuron", "name", "guess", *["said by", "score"] * sources),
        rows,
        on_choose=lambda row: OpenNeuron(
            neurons[row], "neurons", "browse", settings={"browse_view": "name"}
        ),
    )  # fmt: skip


def imported(run: Run, values: Values, file: str, text: str) -> Answer:
    """Add the file's legal names, each replacing an older one; a note says what was left out."""
    try:
        reading = read_either(run, file, text)
        action = _add_names(names_in_link(run, values).names, reading.names)
        if action is None:
            raise NamesError(NO_ROOM)
    except (NamesError, DescriptionsError) as error:
        title = "The names could not be imported."
        return Answer(None, _problems("names-file", title, [f"{file}: {error}"]))
    n = len(reading.names)
    done = f"{n:,} name{'' if n == 1 else 's'} imported; {len(reading.left_out):,} left out."
    note = _problems("names-file", done, reading.left_out) if reading.left_out else None
    return Answer(action, note)


def read_either(run: Run, file: str, text: str) -> Reading:
    """The names in one of our files, or in a file of descriptions, as names by others.

    Raises:
        NamesError, DescriptionsError: if it is neither.
    """
    if file.lower().endswith(".jsonl"):
        return as_names(descriptions_in("It", text), run.networks, run.card.id)
    # Some editors put a byte order mark before the text.
    return read_names(text.removeprefix("\ufeff"), run.networks)


def _add_names(names: Sequence[Name], more: Sequence[Name]) -> Set | None:
    """The action that adds names to the link; None if it has no room for them."""
    for name in more:
        names = with_name(names, name)
    line = to_line(names)
    fits = len(line) <= LONGEST_IN_URL and len(quote_plus(line)) <= ROOM_IN_URL
    return set_to(NAMES, line) if fits else None


def _problems(key: str, title: str, reasons: Sequence[str]) -> Cell:
    more = len(reasons) - PROBLEMS_SHOWN
    rest = [f"and {more:,} more"] if more > 0 else []
    shown = [[(reason, "typed")] for reason in reasons[:PROBLEMS_SHOWN]]
    return text_cell(key, title, *shown, *rest, tone="warning")
