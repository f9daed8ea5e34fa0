"""What others say of a neuron: descriptions from the files that the server was given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ffnviz.analysis.neurons.descriptions import (
    Description,
    Descriptions,
    DescriptionsError,
    credit,
    read_descriptions,
)
from ffnviz.analysis.neurons.names import Name
from ffnviz.models.config import config
from ffnviz.parts.neurons.choose import error_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.text import table_cell, text_cell
from ffnviz.pictures.wording import counted, number, plain, typed
from ffnviz.state.run import Run

SHOWN = 20


def what_others_say(
    run: Run,
    neuron: int,
    on_choose: Callable[[Description], Any] | None = None,  # gives the action for a row
    dictionary: str = "",  # whose feature is meant instead, as Neuronpedia calls it
) -> list[Cell]:
    """Descriptions of the neuron, by whom, and their scores; nothing without files for it."""
    files = _files(run)
    if not files:
        return []
    try:
        descriptions = said_of(run, neuron, dictionary)[:SHOWN]
    except (DescriptionsError, OSError) as error:
        return [error_cell("others", "The descriptions of neurons cannot be read.", error)]
    where = ", ".join(path.name for path in files)
    if not descriptions:
        nothing = f"{typed(where)} says nothing of this neuron."
        return [] if dictionary else [text_cell("others", nothing, tone="quiet")]
    n, what = len(descriptions), "feature" if dictionary else "neuron"
    sentence = f"{number(counted(n, 'description'))} of this {what} in {plain(where)}."
    if on_choose:
        sentence += " Click one to take it as your name."
    rows = [(row.text, row.who or "not told", scored(row)) for row in descriptions]
    head, columns = Head(sentence, "", run.card.colour), ("description", "said by", "score")
    choose = (lambda at: on_choose(descriptions[at])) if on_choose else None
    return [table_cell("others", head, columns, rows, choose)]


def said_of(run: Run, neuron: int, dictionary: str = "") -> tuple[Description, ...]:
    """The files' descriptions of a neuron of the block shown, or of a feature, the best first."""
    files = _files(run)
    descriptions = run.subject.per_network(
        f"descriptions in {files}", lambda: sum(map(read_descriptions, files), Descriptions(()))
    )
    return descriptions.in_layer(dictionary or str(run.state.block), neuron)


def credited(run: Run, name: Name) -> Name:
    """The name, credited to its author if it is a description from one of the files."""
    try:
        descriptions = said_of(run, name.neuron)
    except (DescriptionsError, OSError):
        return name
    for row in descriptions:
        if name.name and row.text.startswith(name.name):
            return credit(name, row)
    return name


def _files(run: Run) -> list[Path]:
    return [path for network, path in config().descriptions if network == run.card.id]


def scored(row: Description) -> str:
    """Its best score, with the method and the author."""
    best = row.best
    if best is None:
        return ""
    how = ", ".join(part for part in (best.method, best.by) if part)
    return f"{best.value:.2f}" + f" ({how})" * bool(how)
