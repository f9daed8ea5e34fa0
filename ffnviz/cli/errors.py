"""Errors as messages: our own, and the system's: disks, files, permissions, Ctrl-C, pipes."""

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

OF_SIGNALS = 128  # as a shell has it: this and the signal's number

_WHY = {
    errno.EACCES: "you have no right to read or write it",
    errno.EPERM: "you have no right to read or write it",
    errno.EROFS: "it is on a disk that can only be read",
    errno.ENOSPC: "the disk is full. Make room and give the same command again",
    errno.EDQUOT: "your share of the disk is full. Make room and give the same command again",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of this path is a file, where a folder is needed",
    errno.EISDIR: "it is a folder, where a file is needed",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "it is a link that leads to itself",
}


def in_words(error: OSError) -> str:
    """The file and what is wrong with it; an error without a name is the output's."""
    file = "the output" if error.filename is None else click.format_filename(error.filename)
    why = _WHY.get(error.errno or 0) or error.strerror or str(error)
    return f"{file}: {why}."


@contextmanager
def reported(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds end the command with their message alone.

    Raises:
        ClickException: in place of such an error.
    """
    try:
        yield
    except kinds as error:
        raise click.ClickException(str(error)) from error


class Commands(click.Group):
    """A group whose commands end with a message where they would end with a traceback.

    The exit code is then 1, 130 after Ctrl-C, or 143 after SIGTERM.
    """

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; a closed pipe, as in `| head`, ends it silently."""
        if isinstance(sys.stdout, io.TextIOWrapper):  # None if closed; "φ" has no ASCII
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **options)
        except OSError as error:
            _forget_output()
            with suppress(OSError):  # stderr may be on the full disk too
                click.echo(f"Error: {in_words(error)}", err=True)
        sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            click.echo("\nStopped.", err=True)
            ctx.exit(OF_SIGNALS + (stop.args or (signal.SIGINT,))[0])
        except MemoryError as error:
            raise click.ClickException("There is not enough memory for this.") from error


def _forget_output() -> None:
    """Drop what a full stdout has not taken: it would fail again at exit, with a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
