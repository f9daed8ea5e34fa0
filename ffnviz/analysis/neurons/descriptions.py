"""Descriptions of what neurons stand for, by people or programs, and their scores.

https://docs.neuronpedia.org/api-and-data/exports; the columns are those of its table Explanation.
"""

import gzip
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ffnviz.analysis.neurons.names import LONGEST, SURROGATE, Name, Reading, cut
from ffnviz.models.arguments import at_most, path_of, plain
from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.text_encoding import lines_of


@dataclass(frozen=True)
class Score:
    """A score of a description, from its file.

    Examples:
        >>> score = ffnviz.Score(0.81, "recall_alt", "gpt-4o-mini")
        >>> ffnviz.Description("1", 1709, "things", scores=(score,)).best.value
        0.81
    """

    value: float  # 1 is best for most methods
    method: str = ""  # for example “recall_alt”
    by: str = ""  # the model that scored


@at_most(5)
@dataclass(frozen=True)
class Description:
    """What somebody says that a neuron or a feature stands for, as Neuronpedia's files have it.

    Examples:
        >>> said = ffnviz.Description("1", 1709, "things that are held", by="A. Reader")
        >>> said.block, said.who
        (1, 'A. Reader')
    """

    # for a neuron of an FFN, its block's number from 0 as text, "3"; for a feature, the name of its
    # dictionary, "6-res-jb"
    layer: str
    index: int  # of the neuron or feature
    text: str
    model: str = ""  # the network's name
    by: str = ""  # the author, mostly a model
    method: str = ""  # by which it was made, for example “oai_token-act-pair”
    scores: tuple[Score, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.layer, str):
            raise DescriptionsError(
                f"layer = {self.layer!r}: give a text; for a neuron the number of its block, "
                f'counted from 0: "{self.layer}".'
            )
        if type(plain(self.index)) is not int or self.index < 0:
            raise DescriptionsError(f"index = {self.index!r}: give a whole number, from 0.")
        text: object = self.text
        if not text or not isinstance(text, str):
            raise DescriptionsError(f"text = {self.text!r}: say what the neuron stands for.")

    @property
    def block(self) -> int | None:
        """The block, from 0, of the neuron; None for a feature."""
        return int(self.layer) if re.fullmatch("[0-9]+", self.layer) else None

    @property
    def who(self) -> str:
        """The author and the method; empty if the file does not tell."""
        return f"{self.by} ({self.method})" if self.by and self.method else self.by or self.method

    @property
    def best(self) -> Score | None:
        """The highest of its scores, if there is one."""
        return max(self.scores, key=lambda score: score.value, default=None)


@dataclass(frozen=True)
class Descriptions:
    """The descriptions of one or several files.

    Examples:
        >>> said = ffnviz.Descriptions((ffnviz.Description("1", 1709, "things that are held"),))
        >>> [each.text for each in said.of(1, 1709)]
        ['things that are held']
    """

    rows: tuple[Description, ...]  # in the files' order
    left_out: tuple[str, ...] = ()  # the first invalid lines, and why
    n_left_out: int = 0  # the number of invalid lines

    def of(self, block: int, neuron: int) -> tuple[Description, ...]:
        """The descriptions of a neuron, by its block and number from 0, the best first."""
        return self.in_layer(str(block), neuron)

    def in_layer(self, layer: str, index: int) -> tuple[Description, ...]:
        """The descriptions of a neuron or a feature, by its layer's name, the best first."""
        return self._by_place.get((layer, index), ())

    def __add__(self, other: "Descriptions") -> "Descriptions":
        """The descriptions of both."""
        return Descriptions(
            self.rows + other.rows,
            self.left_out + other.left_out,
            self.n_left_out + other.n_left_out,
        )

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, int], tuple[Description, ...]]:
        by_place: dict[tuple[str, int], list[Description]] = {}
        for row in self.rows:
            by_place.setdefault((row.layer, row.index), []).append(row)

        def rank(row: Description) -> float:
            return math.inf if row.best is None else -row.best.value

        return {place: tuple(sorted(rows, key=rank)) for place, rows in by_place.items()}


LONGEST_LINE = 2**20  # characters; a line may contain an embedding
LONGEST_TEXT = 1_000  # characters; longer descriptions are cut
LONGEST_ID = 120
MOST_SCORES = 20
MOST = 300_000  # descriptions
MOST_REASONS = 100  # for lines that are left out
ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz")


class DescriptionsError(ValueError):
    """A file that holds no descriptions of neurons: says why.

    Examples:
        >>> written = Path("none.jsonl").write_text("{}")
        >>> ffnviz.read_descriptions("none.jsonl")
        Traceback (most recent call last):
            ...
        ffnviz.analysis.neurons.descriptions.DescriptionsError: ...
    """


def read_descriptions(path: Path | str) -> Descriptions:
    """Read descriptions of neurons from a file as Neuronpedia exports it, or from a folder of such.

    A line is an object with layer, index and description, and mostly modelId, explanationModelName,
    typeName and scores; other fields are ignored. A single list of such objects, as its interface
    exports it, is read too. Invalid lines are left out and named by their numbers; texts are cut
    after 1,000 characters.

    Args:
        path: .jsonl, .json, either with .gz, or a folder.

    Raises:
        DescriptionsError: a ValueError, if there is no description in it, or too many.
        OSError: if it cannot be read.

    Examples:
        >>> line = '{"layer": "1", "index": 1709, "description": "things that are held"}'
        >>> written = Path("said.jsonl").write_text(line)
        >>> ffnviz.read_descriptions("said.jsonl").of(1, 1709)[0].text
        'things that are held'
    """
    path = path_of(path)
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
    lines = ((f"{file.name}, {place}", line) for file in files for place, line in _lines(file))
    return _gathered(str(path), lines)


def descriptions_in(name: str, text: str) -> Descriptions:
    """As `read_descriptions`, for the text of a file."""
    return _gathered(name, _values(io.StringIO(text.removeprefix("\ufeff"))))


def _gathered(name: str, lines: Iterable[tuple[str, object]]) -> Descriptions:
    rows: list[Description] = []
    left_out: list[str] = []
    n_left_out = 0
    for place, line in lines:
        try:
            rows.append(_description(line))
        except DescriptionsError as error:
            n_left_out += 1
            if len(left_out) < MOST_REASONS:
                left_out.append(f"{place}: {error}")
        if len(rows) > MOST:
            raise DescriptionsError(f"{name} has more than {MOST:,} descriptions.")
    if not rows:
        why = f" {left_out[0]}" if left_out else ""
        raise DescriptionsError(f"{name} has no descriptions of neurons.{why}")
    return Descriptions(tuple(rows), tuple(left_out), n_left_out)


def write_descriptions(descriptions: Descriptions | Iterable[Description], path: Path | str) -> int:
    """Write descriptions as Neuronpedia exports them, one line of JSON each.

    Args:
        descriptions: of neurons or features.
        path: of the file; compressed if it ends in .gz.

    Returns:
        The number written.

    Raises:
        TypeError: if there is something else among them.
        OSError: if it cannot be written; what was there before is there still.

    Examples:
        >>> ffnviz.write_descriptions([ffnviz.Description("1", 1709, "things")], "mine.jsonl")
        1
        >>> ffnviz.read_descriptions("mine.jsonl").rows[0].text
        'things'
    """
    if isinstance(descriptions, Description):
        descriptions = [descriptions]
    rows = descriptions.rows if isinstance(descriptions, Descriptions) else tuple(descriptions)
    given: tuple[object, ...] = rows
    if other := [row for row in given if not isinstance(row, Description)]:
        raise TypeError(f"There is {other[0]!r} among them: give ffnviz.Description.")
    content = to_lines(rows).encode()
    path = path_of(path)
    replace_file(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return len(rows)


def to_lines(rows: Iterable[Description]) -> str:
    """The lines of a file of descriptions."""
    return "".join(json.dumps(_fields(row), ensure_ascii=False) + "\n" for row in rows)


def _fields(row: Description) -> dict[str, Any]:
    scores = [
        {
            "value": score.value,
            "explanationScoreTypeName": score.method,
            "explanationScoreModelName": score.by,
        }
        for score in row.scores
    ]
    return {
        "modelId": row.model,
        "layer": row.layer,
        "index": str(row.index),
        "description": row.text,
        "typeName": row.method or None,
        "explanationModelName": row.by or None,
        **({"scores": scores} if scores else {}),
    }


def _lines(file: Path) -> Iterator[tuple[str, object]]:
    """Each line's number, and its JSON value or the error."""
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rb") as stream, lines_of(stream) as lines:
            yield from _values(lines)
    except (EOFError, gzip.BadGzipFile) as error:
        raise DescriptionsError(f"{file} cannot be decompressed.") from error


def _values(lines: IO[str]) -> Iterator[tuple[str, object]]:
    number = 0
    while line := lines.readline(LONGEST_LINE + 1):
        number += 1
        if number == 1 and line.lstrip().startswith("["):
            entries = _value(line + lines.read(MOST * LONGEST_TEXT))
            rows = entries if isinstance(entries, list) else [entries]
            for place, row in enumerate(islice(rows, MOST + 1), start=1):
                yield f"entry {place}", row
            return
        if len(line) > LONGEST_LINE:
            while line and not line.endswith("\n"):
                line = lines.readline(LONGEST_LINE)
            yield f"line {number}", DescriptionsError("it is too long.")
        elif line.strip():
            yield f"line {number}", _value(line)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # endless digits, endless brackets
        return DescriptionsError("it is not JSON.")


def _description(row: object) -> Description:
    if isinstance(row, DescriptionsError):
        raise row
    if not isinstance(row, dict):
        raise DescriptionsError("it is not an object.")
    missing = [key for key in ("layer", "index", "description") if row.get(key) in (None, "")]
    if missing:
        raise DescriptionsError(f"it has no {' and no '.join(missing)}.")
    text = row["description"]
    if not isinstance(text, str):
        raise DescriptionsError("its description is not a text.")
    layer = _text(row["layer"], LONGEST_ID)
    return Description(
        str(int(layer)) if layer.isdecimal() and layer.isascii() else layer,
        _index(row["index"]),
        _text(text, LONGEST_TEXT),
        _text(row.get("modelId"), LONGEST_ID),
        _text(row.get("explanationModelName"), LONGEST_ID),
        method=_text(row.get("typeName"), LONGEST_ID),
        scores=tuple(_scores(row.get("scores"))),
    )


def _index(value: object) -> int:
    text = str(value).strip() if isinstance(value, (int, str)) else ""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise DescriptionsError("its index is not the number of a neuron.")
    return int(text)


def _text(value: object, longest: int) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        return ""
    return cut(SURROGATE.sub("\ufffd", " ".join(str(value).split())), longest)


def _scores(values: object) -> Iterator[Score]:
    """The valid scores; others are ignored."""
    for each in islice(values if isinstance(values, list) else [], MOST_SCORES):
        value = each.get("value") if isinstance(each, dict) else None
        if isinstance(value, (int, float)) and abs(value) < math.inf:
            method, by = each.get("explanationScoreTypeName"), each.get("explanationScoreModelName")
            yield Score(float(value), _text(method, LONGEST_ID), _text(by, LONGEST_ID))


def as_descriptions(names: Iterable[Name]) -> Iterator[Description]:
    """Each name as a description, with its author if that is known."""
    for name in names:
        by, method = re.fullmatch(r"(.*?)(?: \((.*)\))?", name.by, re.DOTALL).groups()  # type: ignore[union-attr]
        number = re.match(r"-?\d+(?:\.\d+)?", name.score)
        scored = name.score[number.end() :].strip() if number else ""
        scores = (Score(float(number[0]), scored),) if number else ()
        yield Description(
            str(name.block - 1),
            name.neuron,
            name.name,
            name.twin,
            by,
            method=method or "",
            scores=scores,
        )


def as_names(
    descriptions: Descriptions, networks: Mapping[str, NetworkSize], usual: str
) -> Reading:
    """The best description of each neuron as its name; those of no neuron here are left out.

    A description that names none of the networks at hand is taken to mean the usual one.
    """

    def network_of(row: Description) -> str:
        return row.model if row.model in networks else usual

    names: dict[tuple[str, int, int], Name] = {}
    left_out = list(descriptions.left_out)
    for row in descriptions.rows:
        network = network_of(row)
        size = networks[network]
        if row.block is None or row.block >= size.n_blocks or row.index >= size.d_ff:
            left_out.append(f"Layer {row.layer}, {row.index}: {network} has no such neuron.")
            continue
        rows = descriptions.of(row.block, row.index)
        best = next(each for each in rows if network_of(each) == network)
        name = Name(network, row.block + 1, row.index, cut(best.text, LONGEST["name"]))
        names.setdefault(name.of, credit(name, best))
    return Reading(tuple(names.values()), tuple(left_out))


def credit(name: Name, row: Description) -> Name:
    """The name with a description's author and best score."""
    score = "" if row.best is None else f"{row.best.value:.4g} {row.best.method}".strip()
    return replace(name, by=cut(row.who, LONGEST["by"]), score=cut(score, LONGEST["score"]))
