"""The one Chromium of a test run."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Pages of the browser's own window, which nobody sees, cost more than ours.
    "--disable-features=PreloadTopChromeWebUI,TopChromeWebUI,WebUIBubble,"
    "OptimizationHints,OptimizationGuideModelDownloading",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium without a window; where there is none the test is skipped, but in CI it fails."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_path(), args=list(FLAGS))
        yield browser
        browser.close()


def _path() -> str:
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found:
        return found
    missing = "No Chromium was found: install your system's package, or set CHROMIUM to its path."
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)
