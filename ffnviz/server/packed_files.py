"""Scripts and styles that all visitors fetch: compressed once a process, kept a year by browsers.

Streamlit sends its own as they are, since it would compress them anew for each visitor, and does so
with plotly.js: a tenth of a second each time.
"""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

FOR_A_YEAR = "public, max-age=31536000, immutable"
# Some systems take scripts for text/plain; fonts and pictures are compressed already.
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}


@dataclass(frozen=True)
class PackedFile:
    """A file in memory, whose address changes with its content.

    Attributes:
        packed: its content, compressed by gzip.
        media_type: of what it is when unpacked.
    """

    packed: bytes
    media_type: str

    @classmethod
    def of(cls, content: bytes, suffix: str) -> "PackedFile":
        """Compress the content of a script or a style sheet."""
        return cls(gzip.compress(content, compresslevel=6, mtime=0), MEDIA_TYPES[suffix])

    def answer(self, request: Request) -> Response:
        """What a browser gets: unpacked, if it does not know gzip."""
        headers = {"Cache-Control": FOR_A_YEAR, "Vary": "Accept-Encoding"}
        content = self.packed
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            content = gzip.decompress(content)
        return Response(content, media_type=self.media_type, headers=headers)


@cache
def packed_file(path: Path) -> PackedFile:
    """A file of the disk, compressed when it is first asked for."""
    return PackedFile.of(path.read_bytes(), path.suffix)


class StaticFiles(Route):
    """Answers for scripts and styles in a folder, whose names have a hash, and for nothing else.

    Attributes:
        folder: where they are.
        files: what there is, by the path below the folder, which is its address.
    """

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
