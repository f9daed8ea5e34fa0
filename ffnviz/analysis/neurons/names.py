"""Names that a person gave to neurons, as a file and as a line of a URL."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from reprlib import repr as shortened

from ffnviz.models.card import NetworkSize

ONE = re.compile(r"(?:([0-9]{1,3}):)?([0-9]{1,6})(?:[-\u2013]([0-9]{1,6}))?", re.ASCII)


class NeuronSetError(ValueError):
    """A text that names no set of neurons: says which piece, and what to write."""


def read_set(text: str, n_blocks: int, d_ff: int, block: int) -> dict[int, tuple[int, ...]]:
    """The neurons that a text names, sorted, by the number of their block, from 0.

    Commas, semicolons or spaces separate pieces: "17" is a neuron of the given block, "2:17" one of
    the second, "2:40-49" ten of them. Blocks count from 1, neurons from 0, as on the page.
    """
    by_block: dict[int, set[int]] = {}
    for piece in re.split(r"[\s,;]+", text.strip()):
        if not piece:
            continue
        match = ONE.fullmatch(piece)
        if not match:
            raise NeuronSetError(
                f"“{piece}” names no neuron. Write 17 for a neuron of this block, 2:17 for one of "
                "block 2, 2:40-49 for ten of them."
            )
        number = block if match[1] is None else int(match[1]) - 1
        first = int(match[2])
        last = first if match[3] is None else int(match[3])
        if not 0 <= number < n_blocks:
            raise NeuronSetError(f"“{piece}”: the blocks are 1 to {n_blocks}.")
        if last >= d_ff or first >= d_ff:
            raise NeuronSetError(f"“{piece}”: a block's neurons are 0 to {d_ff - 1}.")
        if last < first:
            raise NeuronSetError(f"“{piece}”: the first of a range comes before the last.")
        by_block.setdefault(number, set()).update(range(first, last + 1))
    return {number: tuple(sorted(neurons)) for number, neurons in sorted(by_block.items())}


def written_set(neurons: Mapping[int, Iterable[int]]) -> str:
    """A set as `read_set` reads it, with consecutive neurons as ranges."""
    pieces = [
        f"{block + 1}:{first}" + (f"-{last}" if last > first else "")
        for block, members in sorted(neurons.items())
        for first, last in runs(members)
    ]
    return ", ".join(pieces)


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The runs of consecutive numbers, in order, each as its first and last."""
    by_offset = groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0])
    members = ([number for _, number in run] for _, run in by_offset)
    return [(run[0], run[-1]) for run in members]


LONGEST_FILE = 200_000
LONGEST_NAME = 120
LONGEST_TAG = 60
LONGEST_WORDS = 480
LONGEST = {
    "twin": LONGEST_TAG,
    "name": LONGEST_NAME,
    "tag": LONGEST_TAG,
    "words": LONGEST_WORDS,
    "by": 120,
    "score": LONGEST_TAG,
}
KEYS = ("twin", "block", "neuron", "name", "tag", "words", "by", "score")
NEEDED = 4  # twin, block, neuron, name
SURROGATE = re.compile("[\ud800-\udfff]")  # invalid alone, yet JSON can contain one


@dataclass(frozen=True)
class Name:
    """What somebody thinks a neuron stands for."""

    twin: str  # the network's name
    block: int  # from 1 here, as on the page
    neuron: int
    name: str  # in their own words
    tag: str = ""  # of the sentences on which it should fire; empty if words say so
    words: str = ""  # on which it should fire; empty if a tag says so
    by: str = ""  # who gave the name, if it was somebody else
    score: str = ""  # given there

    @property
    def of(self) -> tuple[str, int, int]:
        """The neuron that it names."""
        return self.twin, self.block, self.neuron


@dataclass(frozen=True)
class Reading:
    """The names in a text."""

    names: tuple[Name, ...]  # at most one per neuron, the last of several
    left_out: tuple[str, ...] = ()  # each invalid entry, and why


class NamesError(ValueError):
    """A text that holds no list of names: says why."""


def cut(text: str, longest: int) -> str:
    """A text cut to at most `longest` characters, with "…" at the end if it was longer."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def with_name(names: Sequence[Name], new: Name) -> tuple[Name, ...]:
    """The names with this one, which replaces any other for the same neuron."""
    return (*(name for name in names if name.of != new.of), new)


def to_file(names: Sequence[Name]) -> str:
    """Names as JSON for a file."""
    return json.dumps([asdict(name) for name in names], ensure_ascii=False, indent=1) + "\n"


def to_line(names: Sequence[Name]) -> str:
    """Names as one short line of JSON, without empty fields at the end."""
    rows = []
    for name in names:
        row = list(asdict(name).values())
        while row[-1] == "" and len(row) > NEEDED:
            row.pop()
        rows.append(row)
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")) if rows else ""


def read_names(text: str, networks: Mapping[str, NetworkSize]) -> Reading:
    """Read what `to_file`, `to_line` or anybody wrote; names for other networks are left out."""
    if len(text) > LONGEST_FILE:
        raise NamesError(f"It is longer than {LONGEST_FILE:,} characters.")
    if not text.strip():
        return Reading(())
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NamesError(f"It is not JSON: it cannot be read past {where}.") from error
    except (ValueError, RecursionError) as error:  # endless digits, endless brackets
        raise NamesError("It is not a list of names.") from error
    if not isinstance(rows, list):
        raise NamesError("It is not a list of names.")
    names: dict[tuple[str, int, int], Name] = {}
    left_out = []
    for number, row in enumerate(rows, start=1):
        try:
            name = _name(row, networks)
        except NamesError as error:
            left_out.append(f"Entry {number}: {error}")
        else:
            names.pop(name.of, None)
            names[name.of] = name
    return Reading(tuple(names.values()), tuple(left_out))


def _fields(row: object) -> dict[str, object]:
    if isinstance(row, list) and len(row) <= len(KEYS):
        row = dict(zip(KEYS, row, strict=False))
    if isinstance(row, dict) and set(KEYS[:NEEDED]) <= set(row) <= set(KEYS):
        return row
    raise NamesError(
        f"a name has {', '.join(KEYS[:NEEDED])}, and may have a tag or words, and say who gave it."
    )


def _name(row: object, networks: Mapping[str, NetworkSize]) -> Name:
    fields = _fields(row)
    texts = {key: _text(key, fields.get(key, "")) for key in LONGEST}
    if texts["twin"] not in networks:
        known = ", ".join(networks)
        raise NamesError(f"there is no network {shortened(texts['twin'])} here; there is {known}.")
    size = networks[texts["twin"]]
    block = _whole("block", fields["block"], 1, size.n_blocks)
    neuron = _whole("neuron", fields["neuron"], 0, size.d_ff - 1)
    return Name(block=block, neuron=neuron, **texts)


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise NamesError(f"{key} is {shortened(value)}, which is not a text.")
    if len(value) > LONGEST[key]:
        raise NamesError(f"{key} has {len(value):,} characters; {LONGEST[key]} are allowed.")
    return SURROGATE.sub("\ufffd", value)


def _whole(key: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise NamesError(f"{key} is {shortened(value)}; it must be from {least} to {most}.")
    return value
