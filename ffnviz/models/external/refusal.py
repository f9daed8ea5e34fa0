"""Why an external network cannot be shown, in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ffnviz.models.encoder.folder import ModelFolderError


class CannotOpenError(ModelFolderError):
    """A network cannot be opened; the message says what was wrong, and what to do.

    Examples:
        >>> try:
        ...     ffnviz.load("no/such-network")
        ... except ffnviz.CannotOpenError as error:
        ...     print(error.path)
        no/such-network
    """

    def __init__(self, name: str | Path, why: str) -> None:
        super().__init__(Path(name), why)
        self.args = (f"{name}: {why}",)


class Refused(ValueError):  # noqa: N818, as nobody made an error
    """Why a network cannot be opened; whoever opens it says which, see `refused_as`."""


@contextmanager
def refused_as(name: str) -> Iterator[None]:
    """A context: what is refused in it is a CannotOpenError of that network."""
    try:
        yield
    except Refused as why:
        raise CannotOpenError(name, str(why)) from why.__cause__


class NotProvedError(ValueError):
    """An equation, E1 to E5, does not hold for a network: in a block, from 0, or in all of it."""

    def __init__(self, equation: str, why: str, block: int | None = None) -> None:
        where = "" if block is None else f"block {block + 1} (from 1), "
        super().__init__(f"{where}{equation}: {why}")
        self.equation, self.why, self.block = equation, why, block


def in_short(error: Exception) -> str:
    """A library's error in a line."""
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line[:160]}{' …' if len(line) > 160 else ''}"
