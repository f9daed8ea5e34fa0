"""What a test asks of a browser that Playwright does not drive: WebKit's own, and Firefox."""

import json
import os
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

PATIENCE_S = 30
LOOK_S = 0.05
# The middle of the element that a selector finds, in the page or in any of its pictures.
PLACE = """(selector, said) => {
    const inside = [...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean);
    const found = [document, ...inside].flatMap((root) => [...root.querySelectorAll(selector)])
        .filter((e) => e.checkVisibility() && (!said || e.textContent.trim() === said))[0];
    if (!found) return null;
    found.scrollIntoView({ block: "center", inline: "center" });
    const { x, y, width, height } = found.getBoundingClientRect();
    return width && [x + width / 2, y + height / 2];
}"""

# How many frames the page has drawn since it was first asked.
FRAMES = """() => {
    const count = () => {
        window.framesDrawn += 1;
        requestAnimationFrame(count);
    };
    if (window.framesDrawn === undefined) {
        window.framesDrawn = 0;
        requestAnimationFrame(count);
    }
    return window.framesDrawn;
}"""


class Engine(ABC):
    """A browser with one window."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Begin to load a page."""

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Give the page so many pixels."""

    @abstractmethod
    def evaluate(self, expression: str) -> Any:
        """What a JavaScript expression gives, if that is a text."""

    @abstractmethod
    def click_at(self, x: float, y: float) -> None:
        """Press and release the pointer at a place of the window."""

    @abstractmethod
    def type(self, text: str) -> None:
        """Press keys."""

    @abstractmethod
    def errors(self) -> list[str]:
        """What the console said of errors since a page was opened."""

    def ask(self, function: str, *given: object) -> Any:
        """What a JavaScript function gives."""
        arguments = ", ".join(map(json.dumps, given))
        return json.loads(self.evaluate(f"JSON.stringify(({function})({arguments})) ?? 'null'"))

    def wait(self, function: str, *given: object) -> Any:
        """What a function gives once that is something.

        Raises:
            AssertionError: if it gives nothing for long.
        """
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if answer := self.ask(function, *given):
                return answer
            time.sleep(LOOK_S)
        shown = self.ask("() => document.body?.innerText.slice(0, 400)")
        raise AssertionError(f"{function} {given} gave nothing; the page says {shown!r}")

    def click(self, selector: str, said: str = "") -> None:
        """Click on the first element that is seen, in the page or a picture, with this text.

        Its place is read until it stays over two frames: a scene is scrolled with the frame that
        first shows it, which may take a second.
        """
        place = None
        while place != (place := self.wait(PLACE, selector, said)):
            drawn = self.ask(FRAMES)
            self.wait(f"(drawn) => ({FRAMES})() >= drawn + 2", drawn)
        self.click_at(*place)


@contextmanager
def process(command: Sequence[str], environment: dict[str, str] | None = None) -> Iterator[None]:
    """A process of ours, ended with us."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    ) as started:  # fmt: skip
        try:
            yield
        finally:
            started.terminate()


def program(*names: str) -> str:
    """The path of a program; where there is none the test is left out, but in CI it fails."""
    if path := next(filter(None, map(shutil.which, names)), None):
        return path
    missing = (
        f"left out: there is no {names[0]}; tests/browser/engines/install.sh says how to get it"
    )
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
