"""What axe complains of. Its 500 kB of script are read once by each document, not at each look."""

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RUN = "async (options) => (await axe.run(options)).violations"


def violations(page: Page, rules: Sequence[str] = ()) -> list[Any]:
    """Of these rules, or of all, if none is named."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(Axe().axe_script)
    asked = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found: list[Any] = page.evaluate(RUN, asked)
    return found
