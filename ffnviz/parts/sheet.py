"""What a part shows, as frozen data: rows of cells, and the controls that belong to them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from ffnviz.jobs.job_pool import Contention
from ffnviz.pictures.cell import Cell
from ffnviz.state.actions import Action, Set
from ffnviz.state.settings import Setting

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Measured(Generic[R]):
    """A result, and what it was measured on.

    Attributes:
        setup: network, block, sentence, device and repeats: whatever it depends on.
        result: what was measured.
        when: the time of day.
        where: the device in words.
        shared: with whom it shared the machine.
    """

    setup: tuple[object, ...]
    result: R
    when: str
    where: str
    shared: Contention | None = None


@dataclass(frozen=True)
class Measurement(Generic[R]):
    """What takes long: a function, what is shown until it has a result, and what then.

    It stands on a sheet wherever a row or a cell may, and gives way to rows or to cells. A first
    result is measured unasked and kept for everybody; a button measures again.

    Attributes:
        name: unique in the house.
        setup: what the result depends on.
        work: a function of a module, called in another process with a Run, what is told the
            progress, and `args`; it returns what can be pickled.
        after: what is shown of a result, which may be of another setup, measured before.
        args: what `work` needs besides.
        before: what is shown until there is one.
        label: on the button.
        doing: on the progress bar.
        on_request: whether nothing is measured until it is asked for: it takes long, and few want
            it.
        once: whether another measurement would have the same result, so that there is a button only
            where the first has failed.
        live: whether it is a training: what it tells on its way is shown, as a `Course`.
        recorded: gives what a file shows of a training, which it cannot make itself.
    """

    name: str
    setup: tuple[object, ...]
    work: Callable[..., R]
    after: Callable[[Measured[R]], Sequence[Any]]
    args: tuple[Any, ...] = ()
    before: Sequence[Any] = ()
    label: str = "Measure"
    doing: str = "Measuring …"
    on_request: bool = False
    once: bool = False
    live: bool = False
    recorded: Callable[[], R] | None = None


@dataclass(frozen=True)
class Column:
    """Cells one below the other.

    Attributes:
        cells: from top to bottom.
        width: against that of the other columns of the row.
    """

    cells: tuple[Cell | Measurement[Any], ...]
    width: float = 1


@dataclass(frozen=True)
class Row:
    """Columns side by side; one below the other where it is narrow."""

    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Button:
    """A control that asks for an action.

    Attributes:
        label: on it; unique on the sheet.
        action: what is asked for; None disables it.
        help: what a page says when somebody asks.
    """

    label: str
    action: Action | Callable[[], Any] | None
    help: str = ""


@dataclass(frozen=True)
class Download:
    """A control that saves a file.

    Attributes:
        label: on it; unique on the sheet.
        name: the file's.
        kind: its media type.
        content: of the file.
    """

    label: str
    name: str
    kind: str
    content: str | bytes


@dataclass(frozen=True)
class Choice:
    """A control that offers actions by words; what is set on a part is chosen by its settings.

    Attributes:
        label: unique on the sheet.
        options: their words.
        action: gives the action for the place of one.
        chosen: the place of the one that holds now, if any does.
        bare: whether the label is only said to those who cannot see.
        style: how it is drawn; few short ones are buttons, and others a menu, if nothing is said.
    """

    label: str
    options: Sequence[str]
    action: Callable[[int], Action]
    chosen: int | None = None
    bare: bool = False
    style: Literal["slider"] | None = None


@dataclass(frozen=True)
class NumberBox:
    """A control that asks for an action with a whole number.

    Attributes:
        label: unique on the sheet.
        value: that it shows.
        low, high: what it may be.
        action: gives the action for one.
    """

    label: str
    value: int
    low: int
    high: int
    action: Callable[[int], Action]


@dataclass(frozen=True)
class Switch:
    """A control that is on or off.

    Attributes:
        label: unique on the sheet.
        on: which of the two.
        action: gives the action for the other.
        disabled: whether it cannot be changed.
        help: what a page says when somebody asks.
    """

    label: str
    on: bool
    action: Callable[[bool], Any]
    disabled: bool = False
    help: str = ""


@dataclass(frozen=True)
class Answer:
    """What comes of an upload: an action, and what is said of it until something else is done.

    Attributes:
        action: what is asked for, if anything.
        note: stands above the rows.
    """

    action: Action | None
    note: Cell | None = None


@dataclass(frozen=True)
class Upload:
    """A control that brings a text file.

    Attributes:
        label: on it; unique on the sheet.
        accepts: the file's ending, as “.json”.
        longest: characters; of a longer file one more comes, so that it can be said.
        answer: to the file's name and its text; or what else a cell's event may ask for.
        help: what a page says when somebody asks.
    """

    label: str
    accepts: str
    longest: int
    answer: Callable[[str, str], Any]
    help: str = ""


Control = Setting[Any] | Button | Download | Upload | Choice | NumberBox | Switch


@dataclass(frozen=True)
class Sheet:
    """What a part shows.

    Attributes:
        rows: from top to bottom.
        controls: in order; None: all settings of the part that have one.
    """

    rows: Sequence[Row | Measurement[Any]]
    controls: Sequence[Control] | None = None


def row(
    *columns: Cell | Measurement[Any] | Sequence[Cell | Measurement[Any]],
    widths: Sequence[float] = (),
) -> Row:
    """A row of columns, each a cell or several; all are equally wide if nothing is said."""
    wide = [*widths, *[1.0] * (len(columns) - len(widths))]
    return Row(tuple(
        Column(tuple(cells) if isinstance(cells, Sequence) else (cells,), width)
        for cells, width in zip(columns, wide, strict=True)
    ))  # fmt: skip


def set_to(setting: Setting[T], value: T | None) -> Set:
    """The action that sets one thing; None resets it."""
    return Set({setting.name: None if value is None else setting.text(value)})


def cells_of(rows: Sequence[Row]) -> Iterator[Cell]:
    """All cells of rows that have no measurement left, in order."""
    for each in rows:
        for column in each.columns:
            for cell in column.cells:
                if isinstance(cell, Cell):
                    yield cell


@dataclass
class Resolved:
    """A sheet in which results stand where its measurements stood.

    Attributes:
        rows: of cells alone.
        measurements: that stood there, in order.
    """

    rows: list[Row] = field(default_factory=list)
    measurements: list[Measurement[Any]] = field(default_factory=list)


def resolved(sheet: Sheet, look: Callable[[Measurement[Any]], Measured[Any] | None]) -> Resolved:
    """The sheet with what is shown of each measurement.

    Args:
        sheet: what a part made.
        look: gives the result of a measurement; None if there is none yet.
    """
    outcome = Resolved()

    def shown(parts: Sequence[Any]) -> Iterator[Any]:
        for part in parts:
            if isinstance(part, Measurement):
                outcome.measurements.append(part)
                result = look(part)
                yield from shown(part.before if result is None else part.after(result))
            else:
                yield part

    for each in shown(sheet.rows):
        columns = (Column(tuple(shown(column.cells)), column.width) for column in each.columns)
        outcome.rows.append(Row(tuple(column for column in columns if column.cells)))
    return outcome
