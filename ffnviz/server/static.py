"""Scripts and styles that all visitors fetch: compressed once a process, kept a year by browsers.

All pictures' scripts are one file, whose name changes with what is in it; the page's first script
tells it to the adapters. Where that is missing, as under `streamlit run`, they load module by
module. Streamlit would compress plotly.js anew for each visitor: a tenth of a second each time.
"""

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import plotly
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from ffnviz.export.bundle import module
from ffnviz.export.document import PLOTLY

FOR_A_YEAR = "public, max-age=31536000, immutable"
ASKED_AGAIN = "no-cache"
# Some systems take scripts for text/plain; fonts and pictures are compressed already.
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}


@dataclass(frozen=True)
class PackedFile:
    """A file in memory."""

    packed: bytes  # its content, compressed by gzip
    media_type: str  # of what it is when unpacked
    kept: str = FOR_A_YEAR  # by browsers: a year, where its address changes with its content

    @staticmethod
    def of(content: bytes, media_type: str, kept: str = FOR_A_YEAR) -> "PackedFile":
        """Compress a text."""
        return PackedFile(gzip.compress(content, compresslevel=6, mtime=0), media_type, kept)

    def answer(self, request: Request) -> Response:
        """What a browser gets: unpacked, if it does not know gzip."""
        headers = {"Cache-Control": self.kept, "Vary": "Accept-Encoding"}
        content = self.packed
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            content = gzip.decompress(content)
        return Response(content, media_type=self.media_type, headers=headers)


@cache
def packed_file(path: Path) -> PackedFile:
    """A file of the disk, compressed when it is first asked for."""
    return PackedFile.of(path.read_bytes(), MEDIA_TYPES[path.suffix])


def file_at(address: str, file: PackedFile) -> Route:
    """The route of a file."""

    async def answer(request: Request) -> Response:
        return file.answer(request)

    return Route(address, answer)


class StaticFiles(Route):
    """Answers for scripts and styles in a folder, whose names have a hash, and for nothing else."""

    def __init__(self, folder: Path, files: Iterable[str]) -> None:
        super().__init__("/{path:path}", self._answer)
        self.folder = folder
        self.files = frozenset(file for file in files if Path(file).suffix in MEDIA_TYPES)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a file of the folder is at an address."""
        match, child = super().matches(scope)
        if child.get("path_params", {}).get("path") in self.files:
            return match, child
        return Match.NONE, {}

    async def _answer(self, request: Request) -> Response:
        return packed_file(self.folder / request.path_params["path"]).answer(request)


FILES = "_stcore/bidi-components/ffnviz.pictures"


@dataclass(frozen=True)
class PicturesScript:
    """The one script of all pictures."""

    name: str  # its address
    file: PackedFile

    @property
    def told(self) -> str:
        """What says to a page where it and plotly.js are."""
        charts = f"{PLOTLY.name}?v={plotly.__version__}"
        addresses = {"ffnvizPictures": self.name, "ffnvizPlotly": charts}
        return "".join(
            f'globalThis.{name} = new URL("./{address}", document.currentScript.src).href;\n'
            for name, address in addresses.items()
        )

    def routes(self) -> list[Route]:
        """Where both are served."""

        async def charts(request: Request) -> Response:
            return packed_file(PLOTLY).answer(request)

        return [file_at(f"/{self.name}", self.file), Route(f"/{PLOTLY.name}", charts)]


@cache
def pictures_script() -> PicturesScript:
    """The one of this process."""
    code = module(FILES).encode()
    name = f"pictures.{hashlib.sha256(code).hexdigest()[:16]}.js"
    return PicturesScript(name, PackedFile.of(code, MEDIA_TYPES[".js"]))
