"""What others say that neurons stand for: a person or a program, with how well that was scored."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Score:
    """How well a description does, as its file says."""

    value: float  # 1 is best, of most methods
    method: str = ""  # what was scored, as “recall_alt”
    by: str = ""  # the model that scored it


@dataclass(frozen=True)
class Description:
    """What somebody says that a neuron or a feature stands for, as Neuronpedia's files have it.

    Examples:
        >>> said = ffnviz.Description("1", 1709, "things that are held", by="A. Reader")
        >>> said.block, said.who
        (1, 'A. Reader')
    """

    # the block's number from 0 as a text, "3", of a neuron of its FFN; of a feature the name of its
    # dictionary, "6-res-jb"
    layer: str
    index: int  # of the neuron or feature
    text: str  # what is said
    model: str = ""  # the network's name there
    by: str = ""  # the model that said it
    method: str = ""  # how that was asked, as “oai_token-act-pair”
    scores: tuple[Score, ...] = ()

    @property
    def block(self) -> int | None:
        """The block, from 0, of which it describes a neuron; None of a feature."""
        return int(self.layer) if re.fullmatch("[0-9]+", self.layer) else None

    @property
    def who(self) -> str:
        """Who said so, in a few words; empty if the file does not tell."""
        return f"{self.by} ({self.method})" if self.by and self.method else self.by or self.method

    @property
    def best(self) -> Score | None:
        """The highest of its scores, if it has any."""
        return max(self.scores, key=lambda score: score.value, default=None)


@dataclass(frozen=True)
class Descriptions:
    """Those of one or several files.

    Examples:
        >>> said = ffnviz.Descriptions((ffnviz.Description("1", 1709, "things that are held"),))
        >>> [each.text for each in said.of(1, 1709)]
        ['things that are held']
    """

    rows: tuple[Description, ...]  # in the files' order
    left_out: tuple[str, ...] = ()  # which lines are none, and why; the first of them
    n_left_out: int = 0  # how many lines are none

    def of(self, block: int, neuron: int) -> tuple[Description, ...]:
        """Those of a neuron of a block's FFN, both from 0, the best scored first."""
        return self.in_layer(str(block), neuron)

    def in_layer(self, layer: str, index: int) -> tuple[Description, ...]:
        """Those of a neuron or a feature by the layer's name, the best scored first."""
        return self._by_place.get((layer, index), ())

    def __add__(self, other: "Descriptions") -> "Descriptions":
        """Those of both."""
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
