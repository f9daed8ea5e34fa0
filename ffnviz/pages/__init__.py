"""What we show: one page a file, `render(run, choices)`, read from top to bottom.

A new page is a new file and a line here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ffnviz.pages import journey
from ffnviz.run import Choices, Run


@dataclass(frozen=True)
class Page:
    """A page and its place in the navigation."""

    render: Callable[[Run, Choices], None]
    title: str
    url_path: str

    @property
    def address(self) -> dict[str, Any]:
        """The arguments of st.Page."""
        return {"title": self.title, "url_path": self.url_path}

    def bind(self, run: Run, choices: Choices) -> Callable[[], None]:
        """The page of one run."""
        return lambda: self.render(run, choices)


PAGES = (Page(journey.render, "Journey", "journey"),)
