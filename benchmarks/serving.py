"""Starting Streamlit pages and one Chromium for the benchmarks that need a browser."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def streamlit_command(page: Path, port: int) -> list[str]:
    """`streamlit run` of a page with this project's server settings."""
    return [sys.executable, "-m", "streamlit", "run", str(page), "--server.port", str(port)]


@contextmanager
def process_of(command: Sequence[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A server as a process of its own, from its start until it is stopped."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@contextmanager
def running(command: Sequence[str], port: int) -> Iterator[str]:
    """The same, by its address."""
    with process_of(command):
        yield f"http://localhost:{port}"


def wait_until_up(address: str, seconds: float = 120.0) -> None:
    """Return as soon as the server answers.

    Raises:
        TimeoutError: if it does not within `seconds`.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.02)
    raise TimeoutError(f"{address} did not answer within {seconds} s.")


@contextmanager
def chromium() -> Iterator[Browser]:
    """One headless Chromium.

    Raises:
        FileNotFoundError: if none is installed.
    """
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSER_NAMES)), None)
    if found is None:
        raise FileNotFoundError("No Chromium was found: install your system's chromium package.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield browser
        browser.close()
