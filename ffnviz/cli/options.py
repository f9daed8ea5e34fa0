"""What commands share: options, errors in words, what they print, and opening a network.

Results go to stdout, progress to stderr.
"""

import errno
import io
import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
import torch
from tqdm import tqdm

from ffnviz.analysis.measuring import Progress
from ffnviz.models.device import usable_device
from ffnviz.models.encoder.model import TWINS, Model
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.registry import DTYPES, load

OF_SIGNALS = 128  # as a shell has it: this and the signal's number

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)
ANY_PATH = click.Path(path_type=Path)
shown_option = partial(click.option, show_default=True)

_WHY = {
    errno.EACCES: "reading or writing it is not allowed",
    errno.EPERM: "reading or writing it is not allowed",
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
    """Errors of these kinds end the command with their message alone."""
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


R = TypeVar("R")


def json_option(says: str) -> Callable[[Any], Any]:
    """The --json option of a command, with what it says in its help."""
    return click.option("--json", "as_json", is_flag=True, help=says)


def show_json(values: dict[str, Any]) -> None:
    """Print indented JSON, escaped where stdout cannot take all characters."""
    text = json.dumps(values, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(values, indent=2)
    click.echo(text)


def bar(**options: Any) -> "tqdm[None]":
    """A progress bar on stderr, hidden where that is not a terminal."""
    return tqdm(disable=sys.stderr is None or not sys.stderr.isatty(), **options)


def with_bar(name: str, measure: Callable[[Progress], R]) -> R:
    """Call `measure` with a bar that follows the share it reports, and return its result."""
    look = "{desc} {percentage:3.0f}% {bar}"
    with bar(total=100, desc=name, leave=False, bar_format=look) as shown:

        def progress(share: float) -> None:
            shown.update(round(100 * share) - shown.n)

        return measure(progress)


class Number(click.FloatRange):
    """Click's FloatRange without “nan”, which click takes to be in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


MOST_THREADS = 4 * (os.cpu_count() or 1)  # more never help, and 100,000 crash PyTorch


def _usable(_context: click.Context, _option: click.Parameter, name: str) -> torch.device:
    try:
        return usable_device(name)
    except RuntimeError as error:
        raise click.BadParameter(str(error)) from error


device_option = click.option(
    "--device", default="cpu", show_default=True, callback=_usable, help="cpu, cuda or mps."
)


def threads_option(default: int | None = None) -> Callable[[Any], Any]:
    """The --threads option, applied as it is read; without a default, PyTorch's own choice."""
    choice = "" if default else " PyTorch's choice if absent."
    return click.option(
        "--threads",
        type=click.IntRange(1, MOST_THREADS),
        default=default,
        show_default=default is not None,
        callback=_set_threads,
        expose_value=False,
        help=f"Threads on the CPU; at most 4 for each of its {os.cpu_count()} cores.{choice}",
    )


def _set_threads(_context: click.Context, _option: click.Parameter, n_threads: int | None) -> None:
    if n_threads is not None:
        torch.set_num_threads(n_threads)


F = TypeVar("F", bound=Callable[..., Any])

SENTENCE = "She opened the [MASK] and looked out."
revision_option = click.option(
    "--revision", help="A branch, tag or commit on the Hugging Face Hub; the newest if absent."
)
dtype_option = click.option(
    "--dtype",
    type=click.Choice(list(DTYPES)),
    help="Number format of networks that are not ours; if absent, one that suits their size.",
)


def model_option(command: F) -> F:
    """--model with --dtype and --revision: a network of somebody else, or a folder of ours."""
    named = click.option(
        "--model",
        metavar="PATH_OR_ID",
        help="A network of your own instead: a folder, or a name on the Hugging Face Hub.",
    )
    return named(dtype_option(revision_option(command)))


FROM_1 = "Counted from 1, as on the pages"


def sentence_options(command: F) -> F:
    """--text and the network that reads it: --twin, or as `model_option` has it."""
    text = click.option("--text", default=SENTENCE, show_default=True)
    twin = click.option("--twin", type=click.Choice(TWINS), default=TWINS[0], show_default=True)
    return text(twin(model_option(command)))


def on_a_block(threads: int | None = None) -> Callable[[Callable[..., None]], Any]:
    """Options of a command on one block of a network that reads a sentence.

    The command is called with the network, the sentence's trace and the block, counted from 1.
    """

    def decorate(command: Callable[..., None]) -> Any:
        @wraps(command)
        def called(
            text: str,
            twin: str,
            model: str | None,
            dtype: str | None,
            revision: str | None,
            block: int | None,
            device: torch.device,
            **own: Any,
        ) -> None:
            network = opened(model or twin, device, dtype, revision)
            with reported(ValueError):
                trace = network.trace(text)
            n_blocks = network.sizes.n_blocks
            if block is not None and block > n_blocks:
                raise click.BadParameter(
                    f"there are {n_blocks} blocks, counted from 1.", param_hint="--block"
                )
            command(network, trace, block or n_blocks, **own)

        numbered = click.option(
            "--block", type=click.IntRange(1), help=f"{FROM_1}; the last if absent."
        )
        return sentence_options(numbered(device_option(threads_option(threads)(called))))

    return decorate


@reported(ValueError)
def opened(
    name: str, device: torch.device, dtype: str | None = None, revision: str | None = None
) -> Model | ExternalNetwork:
    """Open a network by its name."""
    return load(name, device, dtype=dtype, revision=revision)
