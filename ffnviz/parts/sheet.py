"""What a part shows, as frozen data: rows of cells, and the controls that belong to them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from ffnviz.jobs.job import Contention
from ffnviz.pictures.cell import Cell
from ffnviz.state.actions import Action, Set
from ffnviz.state.settings import Setting

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Measured(Generic[R]):
    """The result of a measurement, and what it was measured on."""

    setup: tuple[object, ...]  # all that it depends on, such as network, block, sentence and device
    result: R
    when: str  # the time of day
    where: str  # the device in words
    shared: Contention | None = None  # how much it had to share the machine


@dataclass(frozen=True)
class Measurement(Generic[R]):
    """What takes long: a function, what is shown until it has a result, and what then.

    It stands on a sheet wherever a row or a cell may, and gives way to rows or to cells. A first
    result is measured unasked and kept for everybody; a button measures again.
    """

    name: str  # unique among all parts
    setup: tuple[object, ...]  # all that the result depends on
    # A function of a module, called in another process with a Run, a callback for its progress, and
    # `args`; what it returns can be pickled.
    work: Callable[..., R]
    # What is shown of a result, which may be of another setup, measured before.
    after: Callable[[Measured[R]], Sequence[Any]]
    args: tuple[Any, ...] = ()
    before: Sequence[Any] = ()  # what is shown until there is a result
    label: str = "Measure"  # on the button
    doing: str = "Measuring …"  # on the progress bar
    on_request: bool = False  # whether it waits for the button: it is long, and few want it
    once: bool = False  # whether its result is always the same: there is a button only if it failed
    live: bool = False  # whether it is a training, shown on its way as a `Course`
    recorded: Callable[[], R] | None = None  # what a file shows of a training, as it cannot train


@dataclass(frozen=True)
class Column:
    """Cells one below the other."""

    cells: tuple[Cell | Measurement[Any], ...]  # from top to bottom
    width: float = 1  # relative to the other columns of the row


@dataclass(frozen=True)
class Row:
    """Columns side by side; one below the other where it is narrow."""

    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Button:
    """A control that asks for an action."""

    label: str  # unique on the sheet
    action: Action | Callable[[], Any] | None  # None disables it


@dataclass(frozen=True)
class Download:
    """A control that saves a file."""

    label: str  # unique on the sheet
    name: str  # the file's
    kind: str  # its media type
    content: str | bytes


@dataclass(frozen=True)
class Choice:
    """A control that offers actions by words; what is set on a part is chosen by its settings."""

    label: str  # unique on the sheet
    options: Sequence[str]  # in words
    action: Callable[[int], Action]  # gives the action for an option, by its index
    chosen: int | None = None  # the index of the option that holds now, if any does
    bare: bool = False  # whether only screen readers get the label
    style: Literal["slider", "menu"] | None = None  # None: a few short options are buttons


@dataclass(frozen=True)
class NumberBox:
    """A control that asks for an action with a whole number."""

    label: str  # unique on the sheet
    value: int
    low: int
    high: int
    action: Callable[[int], Action]  # gives the action for a number


@dataclass(frozen=True)
class Switch:
    """A control that is on or off."""

    label: str  # unique on the sheet
    on: bool
    action: Callable[[bool], Any]  # gives the action for on or off
    disabled: bool = False
    help: str = ""


@dataclass(frozen=True)
class Answer:
    """What an upload leads to: an action, and a note that stays until something else is done."""

    action: Action | None
    note: Cell | None = None  # above the rows


@dataclass(frozen=True)
class Upload:
    """A control that brings a text file."""

    label: str  # unique on the sheet
    accepts: str  # the file's ending, as “.json”
    longest: int  # characters; of a longer file one more is sent, which tells that it is longer
    answer: Callable[[str, str], Any]  # to the file's name and its text, as that of a cell's event
    help: str = ""


Control = Setting[Any] | Button | Download | Upload | Choice | NumberBox | Switch


@dataclass(frozen=True)
class Sheet:
    """What a part shows."""

    rows: Sequence[Row | Measurement[Any]]  # from top to bottom
    controls: Sequence[Control] | None = None  # None: all settings of the part that have one


def row(
    *columns: Cell | Measurement[Any] | Sequence[Cell | Measurement[Any]],
    widths: Sequence[float] = (),
) -> Row:
    """A row of columns, each a cell or several, of these widths and otherwise of width 1."""
    wide = [*widths, *[1.0] * (len(columns) - len(widths))]
    return Row(tuple(
        Column(tuple(cells) if isinstance(cells, Sequence) else (cells,), width)
        for cells, width in zip(columns, wide, strict=True)
    ))  # fmt: skip


def set_to(setting: Setting[T], value: T | None) -> Set:
    """The action that changes a setting; None resets it."""
    return Set({setting.name: None if value is None else setting.text(value)})


def cells_of(rows: Sequence[Row]) -> Iterator[Cell]:
    """All cells of rows that have no measurement left, in order."""
    columns = (column for each in rows for column in each.columns)
    return (cell for column in columns for cell in column.cells if isinstance(cell, Cell))


@dataclass
class Resolved:
    """A sheet in which results stand where its measurements stood."""

    rows: list[Row] = field(default_factory=list)  # of cells alone
    measurements: list[Measurement[Any]] = field(default_factory=list)  # in order


def resolved(sheet: Sheet, look: Callable[[Measurement[Any]], Measured[Any] | None]) -> Resolved:
    """The sheet with what is shown of each measurement, whose result, if any, `look` gives."""
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
