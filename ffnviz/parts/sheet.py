"""What a part shows, as frozen data: rows of cells, and the controls that belong to them."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

import torch

from ffnviz.jobs.job import Contention, outcome
from ffnviz.models.device import device_name
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.waiting import waiting_cell
from ffnviz.pictures.wording import Sentence
from ffnviz.state.actions import Action, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, count_setting, count_slider
from ffnviz.state.state import LARGEST

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
    partial: bool = False  # whether it is a result so far, and more is on its way


@dataclass(frozen=True)
class Measurement(Generic[R]):
    """What takes long: a function, what is shown until it has a result, and what then.

    It stands on a sheet wherever a row or a cell may, and gives way to rows or to cells. It is
    measured unasked, whenever its setup is another, and kept for everybody; a button measures
    again. Until a new result is there the last stays, pale.
    """

    name: str  # unique among all parts
    setup: tuple[object, ...]  # all that the result depends on
    # A function of a module, called in another process with a Run, a callback for its progress, and
    # `args`; what it returns can be pickled. It may yield results so far, the last of them whole.
    work: Callable[..., Any]
    # What is shown of a result of this setup; of a partial one, with `Soon` for each card to come.
    after: Callable[[Measured[R]], Sequence[Any]]
    args: tuple[Any, ...] = ()
    before: Sequence[Any] = ()  # what is shown until there is a result: a `Soon` for each card
    label: str = "Measure"  # on the button
    doing: str = "Measuring …"  # beside the progress bar
    on_request: bool = False  # whether it waits for the button: it is long, and few want it
    once: bool = False  # whether its result is always the same: there is a button only if it failed
    live: bool = False  # whether it is a training, shown on its way as a `Course`
    recorded: Callable[[], R] | None = None  # what a file shows of a training, as it cannot train


@dataclass(frozen=True)
class Soon:
    """A card that will stand here once its measurement has got so far; an outline until then."""

    note: str  # of the head of what will stand here
    title: str  # what will be seen
    height: int = 560  # of the picture, as `chart_cell` has it


@dataclass(frozen=True)
class Column:
    """Cells one below the other."""

    cells: tuple[Cell | Measurement[Any] | Soon, ...]  # from top to bottom
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
    *columns: Cell | Measurement[Any] | Soon | Sequence[Cell | Measurement[Any] | Soon],
    widths: Sequence[float] = (),
) -> Row:
    """A row of columns, each a cell or several, of these widths and otherwise of width 1."""
    wide = [*widths, *[1.0] * (len(columns) - len(widths))]
    return Row(
        tuple(
            Column(tuple(cells) if isinstance(cells, Sequence) else (cells,), width)
            for cells, width in zip(columns, wide, strict=True)
        )
    )


def measured_row(
    name: str,
    setup: tuple[object, ...],
    work: Callable[..., Any],
    cards: Callable[[Measured[Any]], Sequence[Cell | Soon]],
    soon: Sequence[Cell | Soon],
    *,
    widths: Sequence[float] = (),
    args: tuple[Any, ...] = (),
    words: tuple[str, str] = ("Measure", "Measuring …"),
    once: bool = False,
) -> Measurement[Any]:
    """The measurement behind one row: its cards, and what stands there until they are known.

    `words` are on the button, and beside the progress bar.
    """

    def after(measured: Measured[Any]) -> list[Row]:
        return [row(*cards(measured), widths=widths)]

    before = [row(*soon, widths=widths)]
    label, doing = words
    return Measurement(name, setup, work, after, args, before, label, doing, once=once)


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
    pale: set[str] = field(default_factory=set)  # the keys of cells that a newer result replaces


def resolved(
    sheet: Sheet,
    look: Callable[[Measurement[Any]], Measured[Any] | None],
    busy: Callable[[Measurement[Any]], bool] = lambda _: False,
    kept: MutableMapping[str, Sequence[Any]] | None = None,
) -> Resolved:
    """The sheet with what is shown of each measurement.

    `look` gives the result of one, or its last, of another setup; `busy`, whether one is under way;
    `kept` has what was last shown of each whole result, by name; what is shown now is put there.
    """
    outcome, led = Resolved(), set[str]()  # led: the measurements that have a card with their bar
    kept = {} if kept is None else kept

    def expanded(
        parts: Sequence[Any],
        of: Measurement[Any] | None = None,
        now: Mapping[str, Cell] | None = None,  # of what is pale, the cells that are not
    ) -> Iterator[Any]:
        for part in parts:
            match part:
                case Measurement():
                    yield from measured(part)
                case Row():
                    columns = [
                        Column(tuple(expanded(column.cells, of, now)), column.width)
                        for column in part.columns
                    ]
                    yield Row(tuple([column for column in columns if column.cells]))
                case Soon() if of is not None:
                    words = ("", "") if of.live or of.name in led else (of.label, of.doing)
                    led.add(of.name)
                    yield waiting_cell(
                        of.name, *words, busy(of), part.title, part.note, part.height
                    )
                case Cell() if now is not None and part.key in now:
                    yield now[part.key]
                case Cell():
                    if now is not None:
                        outcome.pale.add(part.key)
                    yield part

    def measured(this: Measurement[Any]) -> Iterator[Any]:
        outcome.measurements.append(this)
        result, now = look(this), _cells_in(this.before)
        if result is not None and (this.live or result.setup == this.setup):
            again = busy(this) and not (result.partial or this.live)
            shown = list(expanded(this.after(result), this, now if again else None))
            if not (result.partial or this.live):
                kept[this.name] = list(_without_events(shown))
            yield from under(shown, this, other=False) if again else shown
        elif this.name in kept and not this.on_request:
            yield from under(list(expanded(kept[this.name], this, now)), this, other=True)
        else:
            yield from expanded(this.before, this)

    def under(shown: list[Any], this: Measurement[Any], *, other: bool) -> list[Any]:
        over = waiting_cell(this.name, this.label, this.doing, busy(this), other=other)
        if not (shown and isinstance(shown[0], Row)):
            return [over, *shown]
        first, *rest = shown[0].columns
        return [Row((Column((over, *first.cells), first.width), *rest)), *shown[1:]]

    outcome.rows = [each for each in expanded(sheet.rows) if each.columns]
    return outcome


def _cells_in(parts: Sequence[Any]) -> dict[str, Cell]:
    """The cells that are there before a result, by key: what is drawn or typed for it."""
    rows = [part if isinstance(part, Row) else row(part) for part in parts]
    return {cell.key: cell for cell in cells_of(rows)}


def _without_events(shown: Sequence[Any]) -> Iterator[Any]:
    """Cells, or rows of them, that ask for nothing when they are clicked."""
    for each in shown:
        if isinstance(each, Row):
            columns = [
                Column(tuple(_without_events(column.cells)), column.width)
                for column in each.columns
            ]
            yield Row(tuple(columns))
        else:
            yield replace(each, events={})


STOPS = (5, 10, 20, 50, 100, 200, 500, 1_000)
REPEATS = count_slider("repeats", 50, STOPS, "runs of each", "{:,}")


def measured_at_once(measurement: Measurement[Any], run: Run) -> Measured[Any]:
    """The result for a file, which is made once while nobody waits."""
    result = outcome(measurement.work(run, lambda _: None, *measurement.args))
    return Measured(measurement.setup, result, f"{datetime.now():%H:%M:%S}", where(run))


def where(run: Run) -> str:
    """The device of a run, in words."""
    return f"{device_name(run.model.device)}; PyTorch {torch.__version__}"


def measured_on(measured: Measured[Any]) -> Sentence:
    """When and on what it was measured: the quiet line below a picture."""
    if measured.partial:
        return "Still being measured."
    said = f"Measured at {measured.when} on {measured.where}."
    if measured.shared is not None and measured.shared.matters:
        said += (
            f" The machine was busy: the measurement had {measured.shared.processor:.0%} of a "
            f"processor, and for {measured.shared.pages:.0%} of the time other pages were "
            "computed, so times may be too long."
        )
    return said


def token_setting(name: str) -> Setting[int]:
    """A setting that holds a token, from 1; while it is 0, the part chooses one."""
    return count_setting(name, 0, 0, LARGEST)


def token_choice(
    label: str, setting: Setting[int], labels: Sequence[str], places: Sequence[int], chosen: int
) -> Choice:
    """The control for a `token_setting`; its label is unique on the sheet, places are from 0."""
    words = [f"{place + 1}. {labels[place]}" for place in places]
    chosen = places.index(chosen)
    return Choice(label, words, lambda at: set_to(setting, places[at] + 1), chosen, style="menu")
