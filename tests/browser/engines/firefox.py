"""Firefox without a window, over WebDriver BiDi, which it speaks without a driver."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.browser.engines.engine import LOOK_S, PATIENCE_S, Engine, process, program
from tests.served import free_port

CALM = 'user_pref("ui.prefersReducedMotion", 1);\n'


class Firefox(Engine):
    """One that listens."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire, self.number, self.said = wire, 0, list[str]()
        self.send("session.new", capabilities={})
        self.tab = self.send("browsingContext.create", type="tab")["context"]
        self.send("session.subscribe", events=["log.entryAdded"])

    def send(self, method: str, **given: object) -> Any:
        """The answer to a command; what else comes until then is noted if it is an error."""
        self.number += 1
        self.wire.send(json.dumps({"id": self.number, "method": method, "params": given}))
        while (answer := json.loads(self.wire.recv(timeout=PATIENCE_S))).get("id") != self.number:
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.said.append(answer["params"]["text"])
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, url: str) -> None:
        self._go("about:blank", "complete")  # what a page says as it is left is not of the next
        self.said.clear()
        self._go(url, "interactive")

    def _go(self, url: str, wait: str) -> None:
        self.send("browsingContext.navigate", context=self.tab, url=url, wait=wait)

    def resize(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        self.send("browsingContext.setViewport", context=self.tab, viewport=viewport)

    def evaluate(self, expression: str) -> Any:
        target = {"context": self.tab}
        answer = self.send(
            "script.evaluate", expression=expression, target=target, awaitPromise=True
        )
        assert "result" in answer, answer
        return answer["result"].get("value")

    def click_at(self, x: float, y: float) -> None:
        self._act("pointer", [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
        ])  # fmt: skip

    def type(self, text: str) -> None:
        self._act(
            "key", [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        )

    def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        given = [{"type": kind, "id": kind, "actions": actions}]
        self.send("input.performActions", context=self.tab, actions=given)

    def errors(self) -> list[str]:
        self.evaluate("''")  # what was said before is heard by then
        return self.said


@contextmanager
def firefox() -> Iterator[Engine]:
    """A Firefox of our own; where there is none the test is left out."""
    path, port = program("firefox-esr", "firefox"), free_port()
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        Path(profile, "user.js").write_text(CALM, encoding="utf-8")
        command = [path, "--headless", "--no-remote", "--profile", profile,
                   f"--remote-debugging-port={port}"]  # fmt: skip
        with process(command, {"HOME": profile}), _wire(port) as wire:
            engine = Firefox(wire)
            yield engine
            engine.send("browser.close")


def _wire(port: int) -> ClientConnection:
    until = time.monotonic() + PATIENCE_S
    while True:
        with suppress(OSError):
            return connect(f"ws://127.0.0.1:{port}/session", max_size=None)
        assert time.monotonic() < until, "Firefox does not listen"
        time.sleep(LOOK_S)
