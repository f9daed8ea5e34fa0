"""All pictures' scripts as one file, and where the page finds it and plotly.js.

Its name changes with what is in it; the page's first script tells it to the adapters. Where that is
missing, as under `streamlit run`, they load module by module.
"""

import hashlib
from dataclasses import dataclass
from functools import cache

import plotly
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ffnviz.export.bundle import module
from ffnviz.export.document import PLOTLY
from ffnviz.server.packed_files import PackedFile, packed_file

FILES = "_stcore/bidi-components/ffnviz.pictures"


@dataclass(frozen=True)
class PicturesScript:
    """The file.

    Attributes:
        name: its address.
        file: its text.
    """

    name: str
    file: PackedFile

    @property
    def told(self) -> str:
        """What says to a page where it and plotly.js are."""
        addresses = {
            "ffnvizPictures": self.name,
            "ffnvizPlotly": f"{PLOTLY.name}?v={plotly.__version__}",
        }
        return "".join(
            f'globalThis.{name} = new URL("./{address}", document.currentScript.src).href;\n'
            for name, address in addresses.items()
        )

    def routes(self) -> list[Route]:
        """Where both are served."""

        async def pictures(request: Request) -> Response:
            return self.file.answer(request)

        async def charts(request: Request) -> Response:
            return packed_file(PLOTLY).answer(request)

        return [Route(f"/{self.name}", pictures), Route(f"/{PLOTLY.name}", charts)]


@cache
def pictures_script() -> PicturesScript:
    """The one of this process."""
    code = module(FILES).encode()
    name = f"pictures.{hashlib.sha256(code).hexdigest()[:16]}.js"
    return PicturesScript(name, PackedFile.of(code, ".js"))
