"""Arguments that are no longer given by their place, which go on for one version."""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C", bound=Callable[..., Any])


def at_most(n: int) -> Callable[[C], C]:
    """A function, or a class, whose parameters behind the first n are given by their names.

    Who still gives them by their place is warned, and answered.

    Args:
        n: how many are given by place; of a class, `self` not counted.
    """

    def decorate(decorated: C) -> C:
        if isinstance(decorated, type):
            made: Any = decorated
            made.__init__ = _named(made.__init__, n + 1, made.__name__)
            return decorated
        named: Any = _named(decorated, n, decorated.__name__)
        return named  # type: ignore[no-any-return]

    return decorate


def _named(function: Callable[..., Any], n: int, name: str) -> Callable[..., Any]:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    later = [p for p in parameters[n:] if p.kind is p.POSITIONAL_OR_KEYWORD]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= n or len(args) > n + len(later):
            return function(*args, **kwargs)
        given = {p.name: value for p, value in zip(later, args[n:], strict=False)}
        warnings.warn(
            f"{name} takes these by their names from the next version on: "
            f"{', '.join(f'{key}=…' for key in given)}.", DeprecationWarning, stacklevel=2,
        )  # fmt: skip
        return function(*args[:n], **given, **kwargs)

    changed = [
        p.replace(kind=p.KEYWORD_ONLY) if p.kind is p.POSITIONAL_OR_KEYWORD and i >= n else p
        for i, p in enumerate(parameters)
    ]
    called.__signature__ = signature.replace(parameters=changed)  # type: ignore[attr-defined]
    return called
