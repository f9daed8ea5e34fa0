"""Options of the form [NETWORK=]PATH: files that are shown with a network."""

from collections.abc import Callable
from pathlib import Path

import click

from ffnviz.models.registry import available_networks

Look = Callable[[str, Path], tuple[str, str]]


def opened_paths(
    option: str, values: tuple[str, ...], look: Look
) -> tuple[tuple[tuple[str, Path], ...], list[str]]:
    """Each path with the id of the network that it is shown for, and a line on what it holds.

    Args:
        option: as it is typed.
        values: PATH, or NETWORK=PATH.
        look: opens a path for a network, or if that is "" for the one that the file names, and
            returns the network and the line.

    Raises:
        ClickException: in a sentence, if one cannot be read, or fits no network here.
    """
    paths, lines = [], []
    for value in values:
        network, path = _split(option, value)
        network, line = look(network, path)
        paths.append((network, path))
        lines.append(line)
    return tuple(paths), lines


def _split(option: str, value: str) -> tuple[str, Path]:
    """The network, "" if none is named, and the path.

    Raises:
        ClickException: in a sentence, if there is no such network.
    """
    network, sign, path = value.partition("=")
    if not sign or Path(value).exists():
        return "", Path(value).resolve()
    here = ", ".join(available_networks())
    if network not in available_networks():
        raise click.ClickException(f"{option} {value}: there is no “{network}”, but {here}.")
    return network, Path(path).resolve()
