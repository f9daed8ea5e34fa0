"""What takes seconds and comes out the same is computed once for all commands that ask for it."""

import json
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from click.testing import CliRunner

from ffnviz.cli import main

T = TypeVar("T")


def once(work: Callable[..., T], asked: Callable[..., Hashable]) -> Callable[..., T]:
    """The same function, which keeps a result for each thing asked."""
    known: dict[Hashable, T] = {}

    def kept(*given: object) -> T:
        key = asked(*given)
        if key not in known:
            known[key] = work(*given)
        return known[key]

    return kept


def json_of(command: list[str]) -> dict[str, Any]:
    """What a command prints with --json."""
    result = CliRunner().invoke(main, [*command, "--json"])
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report
