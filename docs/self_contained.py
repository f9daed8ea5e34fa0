"""What the site needs from the top of the repository, and that it needs nothing from elsewhere."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ASSETS = Path(__file__).parents[1] / "assets"
TAKEN = ("logo.svg", "journey.webp", "journey.png")
# Elsewhere: another host, whatever the scheme. A link that a reader may follow is no request.
FOREIGN = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
FETCHED = ("src", "srcset", "poster", "data", "action", "formaction")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The logo and the first page's picture, from assets/."""
    for name in TAKEN:
        files.append(File.generated(config, name, abs_src_path=str(ASSETS / name)))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """See that no page or style sheet asks another host for anything.

    Raises:
        PluginError: naming each place that does.
    """
    site = Path(config.site_dir)
    found = [f"{path.relative_to(site)}: {address}" for path, address in requests(site)]
    if found:
        raise PluginError("The site asks other hosts:\n" + "\n".join(sorted(set(found))))


def requests(site: Path) -> Iterator[tuple[Path, str]]:
    """Every address of another host that a browser would fetch by itself."""
    for path in site.rglob("*.html"):
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        yield from ((path, address) for address in page.found)
    for path in site.rglob("*.css"):
        for address in IN_CSS.findall(path.read_text(encoding="utf-8")):
            yield path, address


class _Page(HTMLParser):
    """The addresses that one page fetches from another host."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Attributes that fetch, links but those of <a>, and inline styles."""
        self._in_style = tag == "style"
        for name, value in attrs:
            told = value or ""
            if name in FETCHED or (name == "href" and tag not in ("a", "area")):
                each = told.split(",") if name == "srcset" else [told]
                self.found += [address.strip() for address in each if FOREIGN.match(address)]
            elif name == "style":
                self.found += IN_CSS.findall(told)
            elif name == "class" and "mermaid" in told.split():
                self.found.append("mermaid, which Material fetches from unpkg.com")

    def handle_data(self, data: str) -> None:
        """What a <style> imports."""
        if self._in_style:
            self.found += IN_CSS.findall(data)
