"""All pictures' scripts as one file, packed once and kept by browsers for a year.

Its name changes with what is in it; the page's first script tells it to the adapters. Where that is
missing, as under `streamlit run`, they load module by module.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ffnviz.export.bundle import module

FILES = "_stcore/bidi-components/ffnviz.pictures"
FOR_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class PicturesScript:
    """The file.

    Attributes:
        name: its address.
        packed: its text, compressed.
    """

    name: str
    packed: bytes

    @property
    def told(self) -> str:
        """What says to a page where it is."""
        address = f'new URL("./{self.name}", document.currentScript.src).href'
        return f"globalThis.ffnvizPictures = {address};\n"

    def route(self) -> Route:
        """Where it is served."""

        async def answer(request: Request) -> Response:
            headers = {"Cache-Control": FOR_A_YEAR, "Vary": "Accept-Encoding"}
            content = self.packed
            if "gzip" in request.headers.get("accept-encoding", ""):
                headers["Content-Encoding"] = "gzip"
            else:
                content = gzip.decompress(content)
            return Response(content, media_type="text/javascript", headers=headers)

        return Route(f"/{self.name}", answer)


@cache
def pictures_script() -> PicturesScript:
    """The one of this process."""
    code = module(FILES).encode()
    name = f"pictures.{hashlib.sha256(code).hexdigest()[:16]}.js"
    return PicturesScript(name, gzip.compress(code, mtime=0))
