"""Converting the names that a person gave neurons to descriptions, and descriptions to names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ffnviz.analysis.neurons.descriptions import Description, Descriptions, Score
from ffnviz.analysis.neurons.names import LONGEST, Name, Reading, cut
from ffnviz.models.card import NetworkSize


def as_descriptions(names: Iterable[Name]) -> Iterator[Description]:
    """Each name as a description, with its author if that is known."""
    for name in names:
        by, method = re.fullmatch(r"(.*?)(?: \((.*)\))?", name.by, re.DOTALL).groups()  # type: ignore[union-attr]
        number = re.match(r"-?\d+(?:\.\d+)?", name.score)
        scored = name.score[number.end() :].strip() if number else ""
        scores = (Score(float(number[0]), scored),) if number else ()
        yield Description(
            str(name.block - 1), name.neuron, name.name, name.twin, by,
            method=method or "", scores=scores,
        )  # fmt: skip


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
        name = credit(
            Name(network, row.block + 1, row.index, cut(best.text, LONGEST["name"])), best
        )
        names.setdefault(name.of, name)
    return Reading(tuple(names.values()), tuple(left_out))


def credit(name: Name, row: Description) -> Name:
    """The name with a description's author and best score."""
    score = "" if row.best is None else f"{row.best.value:.4g} {row.best.method}".strip()
    return replace(name, by=cut(row.who, LONGEST["by"]), score=cut(score, LONGEST["score"]))
