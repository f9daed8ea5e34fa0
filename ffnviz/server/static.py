"""Scripts and styles that all visitors fetch: compressed once a process, kept a year by browsers.

The pictures' scripts are two files, whose names change with what is in them; the page's first
script tells the first to the adapters. Where that is missing, as under `streamlit run`, they load
module by module. Streamlit would compress plotly.js anew for each visitor: 0.1 s each time.
"""

import gzip
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import brotli
import plotly
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from ffnviz.export.bundle import first_module, more_module
from ffnviz.export.document import PLOTLY

FOR_A_YEAR = "public, max-age=31536000, immutable"
ASKED_AGAIN = "no-cache"
# Some systems take scripts for text/plain; fonts and pictures are compressed already.
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
_BROTLI = 10  # of 11: a second of a processor for all of a first page, a sixth shorter than gzip's


@dataclass
class PackedFile:
    """A file in memory, compressed.

    By gzip at once; by Brotli, beside whatever else the process does, when a browser that knows it
    has asked: browsers do over https, and of their own machine.
    """

    packed: dict[str, bytes]  # an encoding → the content
    media_type: str  # of what it is when unpacked
    kept: str = FOR_A_YEAR  # by browsers: a year, where its address changes with its content
    is_asked_for: bool = field(default=False, init=False)  # in Brotli

    @staticmethod
    def of(content: bytes, media_type: str, kept: str = FOR_A_YEAR) -> "PackedFile":
        """Compress a text."""
        packed = gzip.compress(content, compresslevel=6, mtime=0)
        return PackedFile({"gzip": packed}, media_type, kept)

    @property
    def size(self) -> int:
        """Its bytes when compressed by gzip."""
        return len(self.packed["gzip"])

    def answer(self, request: Request) -> Response:
        """What a browser gets: unpacked, if it knows no such encoding."""
        headers = {"Cache-Control": self.kept, "Vary": "Accept-Encoding"}
        known = encodings(request.headers.get("accept-encoding", ""))
        if "br" in known and not self.is_asked_for:
            self.is_asked_for = True
            _brotli_queue().put(self)
        for encoding in ("br", "gzip"):
            if encoding in known and encoding in self.packed:
                headers["Content-Encoding"] = encoding
                return Response(self.packed[encoding], media_type=self.media_type, headers=headers)
        content = gzip.decompress(self.packed["gzip"])
        return Response(content, media_type=self.media_type, headers=headers)

    def pack_by_brotli(self) -> None:
        """From now on `answer` may give that."""
        content = gzip.decompress(self.packed["gzip"])
        self.packed["br"] = brotli.compress(content, mode=brotli.MODE_TEXT, quality=_BROTLI)


@cache
def _brotli_queue() -> SimpleQueue[PackedFile]:
    """What this process is to compress by Brotli: one file at a time, and none once it ends."""
    queue = SimpleQueue[PackedFile]()

    def pack() -> None:
        while True:
            queue.get().pack_by_brotli()

    Thread(target=pack, name="brotli", daemon=True).start()
    return queue


def encodings(accepted: str) -> set[str]:
    """Those that an Accept-Encoding header names, but for what it refuses by the weight 0."""
    found = set()
    for each in accepted.lower().split(","):
        name, _, weight = each.replace(" ", "").partition(";q=")
        if not weight or weight.strip("0."):
            found.add(name)
    return found


@cache
def packed_file(path: Path) -> PackedFile:
    """A file of the disk, compressed when it is first asked for."""
    return PackedFile.of(path.read_bytes(), MEDIA_TYPES[path.suffix])


def file_at(address: str, file: PackedFile) -> Route:
    """The route of a file."""

    async def answer(request: Request) -> Response:
        return file.answer(request)

    return Route(address, answer)


def font_at(path: Path) -> Route:
    """The route of a font, which is compressed already."""

    async def answer(_: Request) -> Response:
        return FileResponse(path, media_type="font/woff2", headers={"Cache-Control": FOR_A_YEAR})

    return Route(f"/fonts/{path.name}", answer)


class StaticFiles(Route):
    """Answers for scripts and styles in a folder, whose names have a hash, and for nothing else.

    `instead` has what some of them are to be.
    """

    def __init__(self, folder: Path, files: Iterable[str], instead: Mapping[str, str]) -> None:
        super().__init__("/{path:path}", self._answer)
        self.folder = folder
        self.files = frozenset(file for file in files if Path(file).suffix in MEDIA_TYPES)
        self.instead = {
            path: PackedFile.of(code.encode(), MEDIA_TYPES[Path(path).suffix])
            for path, code in instead.items()
        }

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a file of the folder is at an address."""
        match, child = super().matches(scope)
        if child.get("path_params", {}).get("path") in self.files:
            return match, child
        return Match.NONE, {}

    async def _answer(self, request: Request) -> Response:
        path = request.path_params["path"]
        return (self.instead.get(path) or packed_file(self.folder / path)).answer(request)


FILES = "_stcore/bidi-components/ffnviz.pictures"


@dataclass(frozen=True)
class PicturesScript:
    """The scripts of all pictures: one for a first page, and one for the rest."""

    name: str  # the first's address
    files: Mapping[str, PackedFile]  # both, by their addresses

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
        """Where all are served."""

        async def charts(request: Request) -> Response:
            return packed_file(PLOTLY).answer(request)

        scripts = [file_at(f"/{name}", file) for name, file in self.files.items()]
        return [*scripts, Route(f"/{PLOTLY.name}", charts)]


@cache
def pictures_script() -> PicturesScript:
    """Those of this process."""
    files: dict[str, PackedFile] = {}

    def add(name: str, code: str) -> str:
        address = f"{name}.{hashlib.sha256(code.encode()).hexdigest()[:16]}.js"
        files[address] = PackedFile.of(code.encode(), MEDIA_TYPES[".js"])
        return address

    more = add("more_pictures", more_module(FILES))
    return PicturesScript(add("pictures", first_module(FILES, more)), files)
