"""Claims as functions: each makes a Finding from an experiment's result."""

from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from typing import Concatenate, Generic, ParamSpec, TypeVar

from ffnviz.analysis.lab.experiment import Finding, Result

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R", bound=Result)


class with_claims(Generic[S, P, R]):  # noqa: N801 (a decorator)
    """An experiment's function that adds a finding a claim to those of its result.

    A claim takes the experiment's subject and its result, and stands in the experiment's file::

        @visit_zoo.claim
        def _monotone(subject: Subject, zoo: Zoo) -> Finding: ...
    """

    def __init__(self, measure: Callable[Concatenate[S, P], R]) -> None:
        self._measure = measure
        self._claims: list[Callable[[S, R], Finding]] = []
        update_wrapper(self, measure)

    def __call__(self, tested: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result with all findings."""
        result = self._measure(tested, *args, **kwargs)
        findings = (claim(tested, result) for claim in self._claims)
        return replace(result, findings=(*result.findings, *findings))

    def claim(self, function: Callable[[S, R], Finding]) -> Callable[[S, R], Finding]:
        """Register a claim of this experiment."""
        self._claims.append(function)
        return function
