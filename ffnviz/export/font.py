"""The page's own font, so that a file looks alike wherever it is opened."""

import base64
from functools import cache
from pathlib import Path

import streamlit

MEDIA = Path(streamlit.__file__).parent / "static" / "static" / "media"
FACE = "SourceSansVF-Upright*.woff2"  # SIL Open Font License; it may go along with a document


@cache
def font_face() -> str:
    """A rule of CSS with the font in it; empty if Streamlit brings it no more."""
    file = next(iter(sorted(MEDIA.glob(FACE))), None)
    if file is None:
        return ""
    font = base64.b64encode(file.read_bytes()).decode()
    return (
        '@font-face { font-family: "Source Sans"; font-weight: 200 900; font-style: normal; '
        f'src: url("data:font/woff2;base64,{font}") format("woff2"); }}\n'
    )
