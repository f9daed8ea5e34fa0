"""`ffnviz export`: the Journey of a sentence as one HTML file that needs no server."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
import torch

from ffnviz.app.catalog import build_catalog
from ffnviz.cli import options
from ffnviz.cli.app_checks import LectureFile
from ffnviz.cli.options import opened
from ffnviz.export.document import TooLargeError
from ffnviz.export.journey import journey_file
from ffnviz.export.live.packing import NotForALivePageError
from ffnviz.export.live.page import OtherPageError, check_folder, live_folder, live_page
from ffnviz.export.runs import exported_run
from ffnviz.lecture.chosen import BUILT_IN, lecture_file
from ffnviz.lecture.html_file import lecture_html
from ffnviz.lecture.lecture import LectureError
from ffnviz.lecture.worksheet import worksheet_html
from ffnviz.models.encoder.atomic import check_file, replace_file
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.encoder.model import TWINS
from ffnviz.models.external.memory import gigabytes
from ffnviz.models.network import Network
from ffnviz.state.state import tidied

R = TypeVar("R")


@click.command()
@options.sentence_options
@click.option(
    "--lecture",
    is_flag=False,
    flag_value="ffn",
    type=LectureFile(),
    metavar="[FILE]",
    help="A whole lecture instead of a sentence: a .toml file, or a built-in one: "
    f"{' or '.join(BUILT_IN)}.",
)
@click.option(
    "--worksheet",
    is_flag=True,
    help="Of a lecture: its questions and gaps to fill in, and the solutions, to print on A4.",
)
@click.option(
    "--live",
    is_flag=True,
    help="For a sentence or a lecture: the file also holds the networks, so that any other "
    "sentence can be typed into it.",
)
@click.option(
    "--folder",
    type=options.NEW_FOLDER,
    help="With --live: a folder for "
    "a web server in place of a file; its first picture appears before the networks have loaded.",
)
@options.device_option
@options.threads_option(default=1)
@click.option(
    "-o",
    "--out",
    type=options.NEW_FILE,
    help="Where the file goes; "
    "ffnviz-journey.html, ffnviz-live.html, ffnviz-lecture.html or ffnviz-worksheet.html if "
    "absent. An existing file is replaced.",
)
def export(
    text: str,
    twin: str,
    model: str | None,
    dtype: str | None,
    revision: str | None,
    lecture: Path | None,
    worksheet: bool,
    live: bool,
    folder: Path | None,
    device: torch.device,
    out: Path | None,
) -> None:
    """Save the Journey of a sentence as one HTML file: all tokens, blocks and both twins.

    With --live any other sentence can be typed in it.
    """
    if worksheet and lecture is None:
        raise click.BadParameter(
            "a worksheet is made from a lecture: give --lecture.", param_hint="--worksheet"
        )
    if live and worksheet:
        raise click.BadParameter("nothing is typed on paper.", param_hint="--live")
    if folder is not None and (not live or out is not None or lecture is not None):
        raise click.BadParameter(
            "it needs --live and a sentence, and replaces --out.", param_hint="--folder"
        )
    kinds = {"worksheet": worksheet, "lecture": lecture is not None, "live": live, "journey": True}
    kind = next(kind for kind, is_meant in kinds.items() if is_meant)
    out = out or Path(f"ffnviz-{kind}.html")
    if folder is None:
        check_file(out)
    else:
        with options.reported(OtherPageError):
            check_folder(folder)
    if lecture is not None:
        _save(_lecture(lecture, device, worksheet, live), out, "")
        return
    if not text.strip():
        raise click.BadParameter("it is empty. Give a sentence.", param_hint="--text")
    names = [model] if model else [twin, *(other for other in TWINS if other != twin)]
    networks = [opened(name, device, dtype, revision) for name in names]
    if live and folder is not None:
        files = _made(live_folder, networks, text)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():  # the page is the last, after what it reads
            replace_file(folder / name, content)
        size = gigabytes(sum(map(len, files.values())))
        click.echo(f"{click.format_filename(folder)}: {size}, {len(files)} files")
        return
    if live:
        _save(_made(live_page, networks, text), out, "")
        return
    with options.reported(ValueError):
        run = exported_run(networks, tidied(text))
        journey = options.with_bar("pictures", lambda progress: journey_file(run, progress))
    if journey.notice:
        click.echo(journey.notice, err=True)
    _save(journey.html, out, f", {journey.n_tokens} tokens")


@options.reported(LectureError, ModelFolderError, NotForALivePageError, TooLargeError, RuntimeError)
def _lecture(path: Path, device: torch.device, worksheet: bool, live: bool) -> str:
    """The HTML of a lecture, whose scenes show the twins, as the app does, or its worksheet."""
    catalog = build_catalog()
    lecture = lecture_file(path, catalog)
    if worksheet:
        return worksheet_html(lecture, catalog, device.type)
    return options.with_bar(
        "scenes", lambda step: lecture_html(lecture, catalog, device.type, step, live=live)
    )


@options.reported(NotForALivePageError)
def _made(make: Callable[..., R], networks: Sequence[Network], text: str) -> R:
    """A live page, by what makes it."""
    return options.with_bar("pictures", lambda step: make(networks, tidied(text), step))


def _save(html: str, out: Path, details: str) -> None:
    content = html.encode()
    replace_file(out, content)
    click.echo(f"{click.format_filename(out)}: {gigabytes(len(content))}{details}")
