"""Claims that are functions: each a Finding made of what an experiment measured."""

from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from typing import Concatenate, Generic, ParamSpec, TypeVar

from ffnviz.analysis.lab.experiment import Finding, Result

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R", bound=Result)


class with_claims(Generic[S, P, R]):  # noqa: N801 (a decorator)
    """An experiment's function that adds, to the findings of its result, a finding a claim.

    A claim takes what was tested and what was measured, and stands in the experiment's file::

        @visit_zoo.claim
        def _monotone(subject: Subject, zoo: Zoo) -> Finding: ...
    """

    def __init__(self, measure: Callable[Concatenate[S, P], R]) -> None:
        self._measure = measure
        self._claims: list[Callable[[S, R], Finding]] = []
        update_wrapper(self, measure)

    def __call__(self, tested: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """What is measured, with all findings."""
        result = self._measure(tested, *args, **kwargs)
        findings = (claim(tested, result) for claim in self._claims)
        return replace(result, findings=(*result.findings, *findings))

    def claim(self, function: Callable[[S, R], Finding]) -> Callable[[S, R], Finding]:
        """Has the experiment test this claim too."""
        self._claims.append(function)
        return function
