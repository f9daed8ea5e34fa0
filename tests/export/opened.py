"""What lies in a file that was taken home, read as a browser would."""

import base64
import gzip
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from numpy.typing import NDArray

from tests.unpacked import unpacked


@dataclass
class Markup(HTMLParser):
    """The tags of a file in their order, their attributes, and the text in them."""

    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        tag = self.tags[-1] if self.tags else ""
        self.text[tag] = self.text.get(tag, "") + data


def markup(html: str) -> Markup:
    found = Markup()
    found.feed(html)
    found.close()
    return found


def contents(html: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays, as the file has them packed."""
    start = html.index('id="data">') + len('id="data">')
    packed = gzip.decompress(base64.b64decode(html[start : html.index("<", start)]))
    return unpacked(packed)
