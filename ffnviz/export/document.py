"""One HTML file that needs nothing else: script, data, font, and the policy to load nothing."""

import base64
import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import plotly
import streamlit
from numpy.typing import NDArray

from ffnviz.export.browsers import NO_SCRIPT, OLD_BROWSER_JS
from ffnviz.export.bundle import OWN, script
from ffnviz.pictures.payload import pack

LARGEST = 3_000_000  # bytes of a file
FONTS = Path(streamlit.__file__).parent / "static" / "static" / "media"
FONT = "SourceSansVF-Upright*.woff2"  # SIL Open Font License; it may go along with a document
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


class TooLargeError(ValueError):
    """The contents do not fit into a file; the message says why, and what to do.

    Examples:
        >>> try:
        ...     shown = ffnviz.show(ffnviz.load("relu").trace("It was late."))  # small enough
        ... except ffnviz.TooLargeError as error:
        ...     print(error)
    """


@dataclass(frozen=True)
class Contents:
    """The contents of a file."""

    title: str  # of the browser's tab; it may hold what somebody typed
    pictures: tuple[str, ...]  # that are drawn, by their names in shell.js
    header: Mapping[str, Any]  # for player.js: JSON values
    arrays: Mapping[str, NDArray[Any]]  # that go with them
    charts: bool = False  # whether plotly.js is needed
    font: bool = True  # whether the page's font goes along; without, the reader's own is taken
    worker: str = ""  # a script that runs beside the page
    served: bool = False  # whether it may read files beside it
    later: Mapping[str, str] = field(default_factory=dict)  # base64 texts after the script


def document(contents: Contents) -> str:
    """The file's text; data are packed and encoded, so that nothing in them is read as markup."""
    code = script(contents.pictures)
    player_css = (OWN / "player.css").read_text(encoding="utf-8")
    style = _font_face() + player_css if contents.font else player_css
    library = [PLOTLY.read_text(encoding="utf-8")] if contents.charts else []
    title = contents.title.encode(errors="replace").decode()  # half a character is none
    packed = gzip.compress(pack(contents.header, contents.arrays), mtime=0)
    policy = _policy([code, *library], style, bool(contents.worker), contents.served)
    plain = {"data": _encoded(packed)}
    plain |= {"plotly": _packed_plotly()} if contents.charts else {}
    plain |= {"worker": contents.worker} if contents.worker else {}
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<script>{OLD_BROWSER_JS}</script>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            f"<noscript>{NO_SCRIPT}</noscript>",
            # Texts that the script reads; nothing in them ends an element.
            *(
                f'<script type="text/plain" id="{name}">{text}</script>'
                for name, text in plain.items()
            ),
            f"<script>{code}</script>",
            # Not in a script, all of which WebKit looks through again with each piece that arrives.
            *(f'<div hidden id="{name}">{text}</div>' for name, text in contents.later.items()),
            "</body>",
            "</html>",
            "",
        ]
    )


@cache
def _font_face() -> str:
    """A rule of CSS with the page's own font in it; empty if Streamlit brings it no more."""
    file = next(iter(sorted(FONTS.glob(FONT))), None)
    if file is None:
        return ""
    return (
        '@font-face { font-family: "Source Sans"; font-weight: 200 900; font-style: normal; '
        f'src: url("data:font/woff2;base64,{_encoded(file.read_bytes())}") format("woff2"); }}\n'
    )


@cache
def _packed_plotly() -> str:
    return _encoded(gzip.compress(PLOTLY.read_bytes(), mtime=0))


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _policy(scripts: Sequence[str], style: str, has_worker: bool, served: bool) -> str:
    """The policy to load nothing, and to run these scripts and apply this style sheet alone.

    A worker is made of a text in the page, as a blob, and may compile WebAssembly. A page that is
    served reads what lies beside it, and has a service worker there.
    """
    computes = ["'wasm-unsafe-eval'"] if has_worker else []
    beside = " 'self'" if served else ""
    rules = {
        "default-src": "'none'",
        "script-src": " ".join([*map(_hash, [OLD_BROWSER_JS, *scripts]), *computes]),
        **({"worker-src": f"blob:{beside}"} if has_worker else {}),
        # Plotly writes styles as it goes.
        "style-src": "'unsafe-inline'" if scripts[1:] else _hash(style),
        "font-src": "data:",
        "connect-src": f"data:{beside}",  # a saved picture carries the font
        "img-src": "data: blob:",  # what is saved as PNG is drawn from an SVG of its own
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{_encoded(hashlib.sha256(text.encode()).digest())}'"
