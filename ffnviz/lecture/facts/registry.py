"""What a lecture may say by name: how it is computed, and what it means for whoever chooses it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ffnviz.analysis.needs import Capability
from ffnviz.figures.wording import Number, Typed
from ffnviz.models.network import NotForThisNetwork
from ffnviz.state.run import Run, TracedModel

Compute = Callable[[Run], Number | Typed]


@dataclass(frozen=True)
class Fact:
    """What may stand in braces in a scene's words.

    Attributes:
        meaning: what it is; may name other facts in braces.
        compute: its text for what is shown.
    """

    meaning: str
    compute: Compute


FACTS: dict[str, Fact] = {}


def fact(function: Compute) -> Compute:
    """Has a lecture say what a function returns, by its name; its docstring is the meaning."""
    return _add(function.__name__, (function.__doc__ or "").strip().removesuffix("."), function)


def facts(entries: Mapping[str, tuple[str, Compute]]) -> None:
    """The same for those that take a line: name → meaning and function."""
    for name, (meaning, compute) in entries.items():
        _add(name, meaning, compute)


def fact_of_both(function: Callable[[Run, TracedModel], Number]) -> None:
    """A fact of the network that drives the page, and as partner_… of the one beside it."""
    name = function.__name__
    _add(name, (function.__doc__ or "").removesuffix("."), lambda run: function(run, run.subject))
    facts({f"partner_{name}": (f"{{{name}}} in the network beside",
                               lambda run: function(run, partner(run)))})  # fmt: skip


def partner(run: Run) -> TracedModel:
    """The network beside.

    Raises:
        NotForThisNetwork: if there is none.
    """
    if run.partner is None:
        raise NotForThisNetwork(Capability.PARTNER.value)
    return run.partner


def _add(name: str, meaning: str, compute: Compute) -> Compute:
    if name in FACTS or not meaning:
        raise ValueError(f"A fact needs a name of its own and a docstring, and {name} lacks one.")
    FACTS[name] = Fact(meaning, compute)
    return compute
