"""Two servers behind a real nginx: fresh visits find all their files, and nobody loses a sentence.

    python -m benchmarks.behind_nginx [--visits 50] [--people 20] [--nginx /usr/sbin/nginx]

Counts answers of 400 and more over fresh visits in a browser; then opens pages, kills one of the
two servers (kill -9), and takes the time until everybody's page is back with their sentence.
"""

import argparse
import asyncio
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import websockets
from playwright.sync_api import Browser, Page, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.served import Server, served, started_by, wait_for

CONF = Path(__file__).parents[1] / "deploy" / "nginx.conf"
IN_BROWSER = 3  # of the people; the others are sockets that do what a browser does
TRY_AGAIN_S = 0.5  # as Streamlit's page does
PATIENCE_S = 60
FLAGS = ("--no-sandbox", "--disable-gpu")


@contextmanager
def nginx(program: str, port: int, upstreams: list[int]) -> Iterator[str]:
    """deploy/nginx.conf, on this port before servers at those."""
    servers = "\n".join(
        f"server 127.0.0.1:{each} max_fails=1 fail_timeout=2s;" for each in upstreams
    )
    conf = CONF.read_text(encoding="utf-8")
    conf, n_servers = re.subn(r"server app:8501[^;]*;", servers, conf)
    conf, n_listens = re.subn(r"listen 80 ", f"listen 127.0.0.1:{port} ", conf)
    assert (n_servers, n_listens) == (1, 1), "deploy/nginx.conf has changed: adapt this"
    with tempfile.TemporaryDirectory() as folder:
        conf = conf.replace("/tmp/nginx.pid", f"{folder}/nginx.pid")
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
            conf = conf.replace("http {", f"http {{\n    {kind}_temp_path {folder}/{kind};", 1)
        path = Path(folder) / "nginx.conf"
        path.write_text(conf, encoding="utf-8")
        process = subprocess.Popen(
            [program, "-p", folder, "-c", str(path), "-e", "stderr", "-g", "daemon off;"]
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def fresh_visit(browser: Browser, address: str, sentence: str) -> tuple[Page, list[str]]:
    """A page of a visitor who was never here, and what it asked for in vain."""
    page = browser.new_context().new_page()
    missing: list[str] = []
    page.on("response", lambda r: missing.append(r.url) if r.status >= 400 else None)
    page.goto(f"{address}/?text={sentence}")
    painted(page, sentence)
    return page, missing


def painted(page: Page, sentence: str) -> None:
    """Wait until the page shows the sentence, in the box and in its tokens."""
    box = page.get_by_role("textbox", name="Sentence", exact=True)
    page.wait_for_function(
        "(text) => document.querySelector('input[aria-label=Sentence]')?.value === text"
        " && document.querySelector('[data-test-script-state=notRunning]')",
        arg=sentence,
        timeout=PATIENCE_S * 1_000,
    )
    assert box.input_value() == sentence
    page.get_by_role("group", name="Tokens of the sentence").get_by_role("button").first.wait_for(
        timeout=PATIENCE_S * 1_000
    )


@dataclass
class Socket:
    """Somebody whose page comes back as Streamlit's does: try again, with the same address.

    Attributes:
        url: of the sessions.
        sentence: they look at.
        back_after: seconds from the break to the page; None if there was none.
        away: whether it is broken now.
    """

    url: str
    sentence: str
    back_after: float | None = None
    away: bool = False

    async def stay(self, opened: asyncio.Event, until: asyncio.Event) -> None:
        """Open the page; when its socket breaks, open it again."""
        broken: float | None = None
        while not until.is_set():
            try:
                async with websockets.connect(
                    self.url,
                    subprotocols=[websockets.Subprotocol("streamlit")],
                    max_size=None,
                    open_timeout=5,
                ) as socket:
                    message = BackMsg()
                    message.rerun_script.query_string = f"text={self.sentence.replace(' ', '+')}"
                    await socket.send(message.SerializeToString())
                    shown = ""
                    async for raw in socket:
                        told = ForwardMsg()
                        told.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
                        element = told.delta.new_element
                        if element.WhichOneof("type") == "text_input":
                            shown = element.text_input.value or element.text_input.default
                        if told.WhichOneof("type") == "script_finished":
                            assert shown == self.sentence, shown
                            opened.set()
                            if broken is not None:
                                self.back_after = time.perf_counter() - broken
                                broken, self.away = None, False
                        if until.is_set():
                            return
            except (OSError, websockets.WebSocketException):
                pass
            broken, self.away = broken or time.perf_counter(), True
            await asyncio.sleep(TRY_AGAIN_S)


async def killed(url: str, sentences: list[str], victim: Server) -> list[Socket]:
    """Everybody opens their page; one server dies; everybody comes back."""
    people = [Socket(url, sentence) for sentence in sentences]
    opened = [asyncio.Event() for _ in people]
    until = asyncio.Event()
    tasks = [
        asyncio.create_task(person.stay(event, until))
        for person, event in zip(people, opened, strict=True)
    ]
    for event in opened:
        await asyncio.wait_for(event.wait(), PATIENCE_S)
    kill(victim)
    await asyncio.sleep(10)
    away = [person.away for person in people]
    until.set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for person, gone in zip(people, away, strict=True):
        person.away = gone
    return people


def kill(server: Server) -> None:
    """kill -9, with all it started."""
    for pid in [*started_by(server.pid), server.pid]:
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Both trials, and their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=50)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--port", type=int, default=9_310)
    parser.add_argument("--nginx", default=shutil.which("nginx", path="/usr/sbin:/usr/bin"))
    chosen = parser.parse_args()
    if not chosen.nginx:
        print("There is no nginx here: Debian has it as nginx-light.")
        return
    first, second, front = chosen.port, chosen.port + 1, chosen.port + 2
    with (
        served(first) as victim,
        served(second),
        nginx(chosen.nginx, front, [first, second]) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=list(FLAGS)
        )
        missing: list[str] = []
        for visit in range(chosen.visits):
            page, asked_in_vain = fresh_visit(browser, address, f"Visit number {visit}.")
            missing += asked_in_vain
            page.context.close()
        print(f"{chosen.visits} fresh visits: {len(missing)} answers of 400 and more", *missing[:5])

        in_browser = min(IN_BROWSER, chosen.people)
        tabs = [
            fresh_visit(browser, address, f"Sentence of tab {n}.")[0] for n in range(in_browser)
        ]
        sentences = [f"Sentence of person {n}." for n in range(chosen.people - in_browser)]
        socket = f"ws{address[4:]}/_stcore/stream"
        with ThreadPoolExecutor(1) as thread:  # in this one Playwright has a loop of its own
            people = thread.submit(lambda: asyncio.run(killed(socket, sentences, victim))).result()
        back = [person.back_after for person in people if person.back_after is not None]
        for n, tab in enumerate(tabs):
            painted(tab, f"Sentence of tab {n}.")
            tab.get_by_role("textbox", name="Sentence", exact=True).fill(f"Tab {n} goes on.")
            tab.wait_for_url(re.compile("goes"), timeout=PATIENCE_S * 1_000)
        print(
            f"kill -9 of one of two: {len(back)} of {len(people)} sockets were back with their "
            f"sentence after {max(back, default=0):.1f} s at most, "
            f"{sum(person.away for person in people)} did not come back; "
            f"{len(tabs)} tabs in a browser have theirs, and go on"
        )
        browser.close()


if __name__ == "__main__":
    main()
