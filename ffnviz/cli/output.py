"""What a command prints: results on stdout, progress on stderr."""

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
from tqdm import tqdm

from ffnviz.analysis.measuring import Progress

R = TypeVar("R")


def show_json(values: dict[str, Any]) -> None:
    """Print indented JSON, escaped where stdout cannot take all characters."""
    text = json.dumps(values, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(values, indent=2)
    click.echo(text)


def bar(**options: Any) -> "tqdm[None]":
    """A progress bar on stderr, hidden where that is no terminal."""
    return tqdm(disable=sys.stderr is None or not sys.stderr.isatty(), **options)


def with_bar(name: str, measure: Callable[[Progress], R]) -> R:
    """Call `measure` with a bar that follows the share it reports, and return its result."""
    look = "{desc} {percentage:3.0f}% {bar}"
    with bar(total=100, desc=name, leave=False, bar_format=look) as shown:

        def progress(share: float) -> None:
            shown.update(round(100 * share) - shown.n)

        return measure(progress)
