"""WebKit, the engine of Safari and of every browser on an iPhone, in its MiniBrowser.

It has a screen of its own, and a window without bars, which takes any size.
"""

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.webkitgtk.service import Service

from tests.browser.engines.engine import LOOK_S, PATIENCE_S, Engine, process, program

SCREEN = "2000x1200x24"
SOCKETS = "/tmp/.X11-unix/X"  # of screens, by number
FIRST_SCREEN, SCREENS = 100, 800
# The driver passes on no console: what goes wrong is noted in the page, as soon as there is one.
# It says whether the page is another than the last.
NOTE = """
if (window.left || window.wrong) return !window.left;
window.wrong = [];
const note = (...said) => window.wrong.push(said.map((e) => e?.message ?? String(e)).join(" "));
addEventListener("error", ({ message, target }) => {
    if (!message?.startsWith("ResizeObserver loop")) note(message ?? target.src ?? target.href);
}, true);
addEventListener("unhandledrejection", ({ reason }) => note(reason));
addEventListener("securitypolicyviolation", (event) => note(`${event.effectiveDirective} broken`));
console.error = note;
return true;
"""


class WebKit(Engine):
    """One that is driven."""

    def __init__(self, driver: webdriver.WebKitGTK) -> None:
        self.driver = driver
        first = set(driver.window_handles)
        self._run("open('about:blank', '_blank', 'width=1280,height=720,toolbar=no,location=no')")
        driver.switch_to.window(_until(lambda: set(driver.window_handles) - first).pop())

    def _run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def open(self, url: str) -> None:
        self._run("window.left = true")
        self.driver.get(url)

        def noted() -> Any:
            with suppress(WebDriverException):  # between two pages there is none
                return self._run(NOTE)

        _until(noted)

    def resize(self, width: int, height: int) -> None:
        def fits() -> bool:  # its frame is drawn after it has opened
            inside, outside = (
                self._run("return [innerWidth, innerHeight]"),
                self.driver.get_window_size(),
            )
            if inside == [width, height]:
                return True
            self.driver.set_window_size(
                outside["width"] + width - inside[0], outside["height"] + height - inside[1]
            )
            return False

        _until(fits)

    def evaluate(self, expression: str) -> Any:
        return self._run(f"return {expression}")

    def click_at(self, x: float, y: float) -> None:
        actions = ActionChains(self.driver, duration=0)
        pointer = actions.w3c_actions.pointer_action
        pointer.move_to_location(round(x), round(y))  # type: ignore[no-untyped-call]
        pointer.click()
        actions.perform()

    def type(self, text: str) -> None:
        ActionChains(self.driver, duration=0).send_keys(text).perform()

    def errors(self) -> list[str]:
        return list(self._run("return window.wrong"))


def _until(answer: Any) -> Any:
    """What a function gives once that is something."""
    until = time.monotonic() + PATIENCE_S
    while not (given := answer()):
        assert time.monotonic() < until, "WebKit does not answer"
        time.sleep(LOOK_S)
    return given


def _screen() -> str:
    """The name of a screen that nobody uses."""
    screens = range(FIRST_SCREEN, FIRST_SCREEN + SCREENS)
    start = os.getpid() % SCREENS
    free = (
        n for n in (*screens[start:], *screens[:start]) if not Path(f"/tmp/.X11-unix/X{n}").exists()
    )
    return f":{next(free)}"


@contextmanager
def webkit() -> Iterator[Engine]:
    """A WebKit of our own; where there is none the test is left out."""
    driver_path, xvfb, screen = program("WebKitWebDriver"), program("Xvfb"), _screen()
    browser = next(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"), None)
    if browser is None:
        pytest.fail("There is a WebKitWebDriver, but no MiniBrowser.")
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(browser)
    for each in ("--automation", "--javascript-can-open-windows-automatically=true"):
        options.add_argument(each)
    options.page_load_strategy = "none"
    # Its sandbox refuses root.
    environment = {**os.environ, "DISPLAY": screen, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
    with process([xvfb, screen, "-screen", "0", SCREEN]):
        _until(Path(f"{SOCKETS}{screen[1:]}").exists)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of what it itself calls so
            driver = webdriver.WebKitGTK(options, Service(driver_path, env=environment))
        try:
            yield WebKit(driver)
        finally:
            driver.quit()
