"""What a lecture may say by name: how it is computed, and what it means for whoever chooses it."""

from collections.abc import Callable, Mapping

from ffnviz.analysis.needs import Capability
from ffnviz.figures.wording import Number, Typed
from ffnviz.models.network import NotForThisNetwork
from ffnviz.state.run import Run, TracedModel

Compute = Callable[[Run], Number | Typed | int | str]

FACTS: dict[str, Compute] = {}
MEANINGS: dict[str, str] = {}  # may have other names in braces


def fact(function: Compute) -> Compute:
    """Has a lecture say what a function returns, by its name; its docstring is the meaning."""
    facts({function.__name__: ((function.__doc__ or "").removesuffix("."), function)})
    return function


def fact_of_both(function: Callable[[Run, TracedModel], Number]) -> None:
    """A fact of the network that drives the page, and as partner_… of the one beside it."""
    name, meaning = function.__name__, (function.__doc__ or "").removesuffix(".")
    facts({
        name: (meaning, lambda run: function(run, run.subject)),
        f"partner_{name}": (f"{{{name}}} in the network beside",
                            lambda run: function(run, partner(run))),
    })  # fmt: skip


def facts(entries: Mapping[str, tuple[str, Compute]]) -> None:
    """Facts that take a line: name → meaning and function."""
    for name, (meaning, compute) in entries.items():
        if name in FACTS or not meaning:
            raise ValueError(f"{name} needs a name of its own and a docstring to be a fact.")
        FACTS[name], MEANINGS[name] = compute, meaning


def partner(run: Run) -> TracedModel:
    """The network beside; raises NotForThisNetwork if there is none."""
    if run.partner is None:
        raise NotForThisNetwork(Capability.PARTNER.value)
    return run.partner
