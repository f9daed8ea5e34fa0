"""Names that a person gave to neurons, as a file and as a line of a URL."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

LONGEST_FILE = 200_000
LONGEST_NAME = 120
NEEDED = 4  # twin, block, neuron, name


@dataclass(frozen=True)
class Name:
    """What somebody thinks a neuron stands for.

    Attributes:
        twin, block, neuron: which; blocks count from 1 here, as on the page.
        name: in their own words.
        tag: the tag that is to tell where it fires; empty where words do.
        words: the words that are to tell; empty where a tag does.
    """

    twin: str
    block: int
    neuron: int
    name: str
    tag: str = ""
    words: str = ""

    @property
    def of(self) -> tuple[str, int, int]:
        """The neuron it is a name for."""
        return self.twin, self.block, self.neuron


class NamesError(ValueError):
    """A text that holds no names: says why."""


def with_name(names: Sequence[Name], new: Name) -> tuple[Name, ...]:
    """The names, this one in the place of an older one for the same neuron."""
    return (*(name for name in names if name.of != new.of), new)


def to_file(names: Sequence[Name]) -> str:
    """As JSON to keep."""
    return json.dumps([asdict(name) for name in names], ensure_ascii=False, indent=1) + "\n"


def to_line(names: Sequence[Name]) -> str:
    """As one short line of JSON; what is empty at the end is left out."""
    rows = []
    for name in names:
        row = list(asdict(name).values())
        while row[-1] == "" and len(row) > NEEDED:
            row.pop()
        rows.append(row)
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")) if rows else ""


def read_names(text: str) -> tuple[Name, ...]:
    """What `to_file` or `to_line` wrote.

    Raises:
        NamesError: if it is anything else.
    """
    if len(text) > LONGEST_FILE:
        raise NamesError(f"It is longer than {LONGEST_FILE:,} characters.")
    if not text.strip():
        return ()
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NamesError(f"It is not JSON ({error}).") from error
    if not isinstance(rows, list):
        raise NamesError("It is not a list of names.")
    names: tuple[Name, ...] = ()
    for number, row in enumerate(rows, start=1):
        names = with_name(names, _name(row, number))
    return names


def _name(row: object, number: int) -> Name:
    keys = [field.name for field in fields(Name)]
    if isinstance(row, list) and len(row) <= len(keys):
        row = dict(zip(keys, row, strict=False))
    if not isinstance(row, dict) or not set(row) <= set(keys):
        raise NamesError(f"Entry {number} is not a name: it needs {', '.join(keys)}.")
    kinds = {field.name: field.type for field in fields(Name)}
    for key, value in row.items():
        if not isinstance(value, kinds[key]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise NamesError(f"Entry {number}: {key} cannot be {value!r}.")
        if isinstance(value, str) and len(value) > LONGEST_NAME * 4:
            raise NamesError(f"Entry {number}: {key} is too long.")
    try:
        return Name(**row)
    except TypeError as error:
        raise NamesError(f"Entry {number} is not a name: it needs {', '.join(keys)}.") from error
