"""`ffnviz export`: the Journey of a sentence as one HTML file that needs no server."""

from pathlib import Path

import click
import torch

from ffnviz.app.main import build_catalog
from ffnviz.cli.device import device_option, threads_option
from ffnviz.cli.errors import reported
from ffnviz.cli.lecture import LectureFile
from ffnviz.cli.network import opened, sentence_options
from ffnviz.cli.output import with_bar
from ffnviz.export.document import TooLargeError
from ffnviz.export.journey_file import journey_file
from ffnviz.export.live.packing import NotForALivePageError
from ffnviz.export.live.page import live_page
from ffnviz.export.runs import exported_run
from ffnviz.lecture.chosen import BUILT_IN, lecture_file
from ffnviz.lecture.html_file import lecture_html
from ffnviz.lecture.tables import LectureError
from ffnviz.lecture.worksheet import worksheet_html
from ffnviz.models.encoder.atomic import check_file, replace_file
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.encoder.model import TWINS
from ffnviz.models.external.memory import gigabytes
from ffnviz.state.state import tidied


@click.command()
@sentence_options
@click.option(
    "--lecture", is_flag=False, flag_value="ffn", type=LectureFile(), metavar="[FILE]",
    help="A whole lecture instead of a sentence: a .toml file, or a built-in one: "
    f"{' or '.join(BUILT_IN)}.",
)  # fmt: skip
@click.option(
    "--worksheet", is_flag=True,
    help="Of a lecture: its questions and gaps to fill in, and the solutions, to print on A4.",
)  # fmt: skip
@click.option(
    "--live", is_flag=True,
    help="Of a sentence: the networks go along, so that any other can be typed in the file.",
)  # fmt: skip
@device_option
@threads_option(default=1)
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Where the file goes; "
    "ffnviz-journey.html, ffnviz-live.html, ffnviz-lecture.html or ffnviz-worksheet.html if "
    "absent. One that is there is replaced.",
)  # fmt: skip
def export(
    text: str,
    twin: str,
    model: str | None,
    dtype: str | None,
    revision: str | None,
    lecture: Path | None,
    worksheet: bool,
    live: bool,
    device: torch.device,
    out: Path | None,
) -> None:
    """Save the Journey of a sentence as one HTML file: all tokens, blocks and both twins.

    With --live any other sentence can be typed in it.
    """
    if worksheet and lecture is None:
        raise click.BadParameter("a worksheet is made of a --lecture.", param_hint="--worksheet")
    if live and lecture is not None:
        raise click.BadParameter("it is of a sentence, not of a --lecture.", param_hint="--live")
    kind = (
        "live"
        if live
        else "journey"
        if lecture is None
        else "worksheet"
        if worksheet
        else "lecture"
    )
    out = out or Path(f"ffnviz-{kind}.html")
    check_file(out)
    if lecture is not None:
        _save(_lecture(lecture, device, worksheet), out, "")
        return
    if not text.strip():
        raise click.BadParameter("it is empty. Give a sentence.", param_hint="--text")
    names = [model] if model else [twin, *(other for other in TWINS if other != twin)]
    networks = [opened(name, device, dtype, revision) for name in names]
    if live:
        with reported(NotForALivePageError):
            page = with_bar("pictures", lambda step: live_page(networks, tidied(text), step))
        _save(page, out, "")
        return
    with reported(ValueError):
        run = exported_run(networks, tidied(text))
        journey = with_bar("pictures", lambda progress: journey_file(run, progress))
    if journey.notice:
        click.echo(journey.notice, err=True)
    _save(journey.html, out, f", {journey.n_tokens} tokens")


@reported(LectureError, ModelFolderError, TooLargeError, RuntimeError)
def _lecture(path: Path, device: torch.device, worksheet: bool) -> str:
    """The HTML of a lecture, whose scenes show the twins, as the app does, or its worksheet."""
    catalog = build_catalog()
    lecture = lecture_file(path, catalog)
    if worksheet:
        return worksheet_html(lecture, catalog, device.type)
    return with_bar("scenes", lambda step: lecture_html(lecture, catalog, device.type, step))


def _save(html: str, out: Path, details: str) -> None:
    content = html.encode()
    replace_file(out, content)
    click.echo(f"{click.format_filename(out)}: {gigabytes(len(content))}{details}")
