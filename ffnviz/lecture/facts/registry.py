"""The facts by name: how each is computed, and what it means, for the lecturer who chooses it."""

from collections.abc import Callable, Mapping

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import NotForThisNetwork
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run, TracedModel

Compute = Callable[[Run], Sentence | int]  # a text in which nothing is marked is a number, too

FACTS: dict[str, Compute] = {}
MEANINGS: dict[str, str] = {}  # may have other names in braces


def fact(function: Compute) -> Compute:
    """Register a function as a fact of its name; its docstring is the meaning."""
    facts({function.__name__: ((function.__doc__ or "").removesuffix("."), function)})
    return function


def fact_of_both(function: Callable[[Run, TracedModel], str]) -> None:
    """Register a fact of the network that drives the page, and as partner_… of the other."""
    name, meaning = function.__name__, (function.__doc__ or "").removesuffix(".")

    def coloured(run: Run, traced: TracedModel) -> Sentence:
        return number(function(run, traced), traced.card.colour)

    other = f"{{{name}}} in the other network"
    facts({name: (meaning, lambda run: coloured(run, run.subject))})
    facts({f"partner_{name}": (other, lambda run: coloured(run, partner(run)))})


def facts(entries: Mapping[str, tuple[str, Compute]]) -> None:
    """Register facts that take a line each: name → meaning and function."""
    for name, (meaning, compute) in entries.items():
        if name in FACTS or not meaning:
            raise ValueError(f"{name} needs a name of its own and a docstring to be a fact.")
        FACTS[name], MEANINGS[name] = compute, meaning


def partner(run: Run) -> TracedModel:
    """The network beside; NotForThisNetwork is raised if there is none."""
    if run.partner is None:
        raise NotForThisNetwork(Capability.PARTNER.value)
    return run.partner
