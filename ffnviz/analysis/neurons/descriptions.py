"""Descriptions of what neurons stand for, by people or programs, and their scores."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ffnviz.models.positional import at_most


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
        return {place: tuple(sorted(rows, key=_rank)) for place, rows in by_place.items()}


def _rank(row: Description) -> float:
    return float("inf") if row.best is None else -row.best.value
