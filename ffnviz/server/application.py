"""The page as a web application, Streamlit's with safe headers; served by one process or more."""

import asyncio
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial

import uvicorn
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope
from streamlit.starlette import App
from uvicorn.supervisors import Multiprocess

from ffnviz.jobs.memory import end_with_parent, freeze_loaded_objects, repeat
from ffnviz.lecture.classroom.hub import Hub
from ffnviz.lecture.classroom.store import server_store
from ffnviz.models.config import TOP, Config, use
from ffnviz.models.encoder.folder import FOLDER as WEIGHTS_FOLDER
from ffnviz.models.external.memory import give_back
from ffnviz.parts import PAGES
from ffnviz.server.classroom_routes import class_routes
from ffnviz.server.headers import ReadableMessages, SafeHeaders, content_security_policy
from ffnviz.server.metrics import EVERY_S, DirectOnly, ServerMetrics
from ffnviz.server.metrics import FOLDER as METRICS_FOLDER
from ffnviz.server.static import (
    ASKED_AGAIN,
    PackedFile,
    StaticFiles,
    file_at,
    font_at,
    pictures_script,
)
from ffnviz.server.streamlit_patches import apply_patches, page_script
from ffnviz.server.streamlit_patches.compressed_messages import protocol
from ffnviz.server.streamlit_patches.message_limits import MOST_BYTES
from ffnviz.server.streamlit_patches.patch import apply
from ffnviz.state.run_factory import load_networks

SCRIPT = TOP / "app.py"  # Streamlit runs it for every visit
STREAMLITS = ("_stcore/", "component/", "media/", "/")  # addresses that it answers by itself
NOWHERE = """<!doctype html><html lang="en"><title>ffnviz</title>
<meta name="viewport" content="width=device-width">
<body style="font: 1.2rem/1.4 system-ui; margin: 3rem"><p>There is no page at this address.
<a href="{up}">To the first page</a></p></body></html>"""
FRESH = {"Cache-Control": ASKED_AGAIN}


def application(config: Config) -> App:
    """The application that serves the pages; this process obeys the config from now on.

    Raises ValueError if its frame_ancestors are not what a Content-Security-Policy can have.
    """
    use(config)
    apply_patches()
    numbers = ServerMetrics()
    repeat("metrics", EVERY_S, numbers.write)
    policy = content_security_policy(_index(), config.frame_ancestors)
    origins, hosts = frozenset(config.origins), frozenset(config.hosts)
    hub = Hub(server_store()) if config.has_classes else None
    classes = class_routes(hub) if hub else []
    return App(
        SCRIPT,
        routes=[
            *our_routes(tuple(page.name for page in PAGES)),
            Route("/metrics", numbers.answer),
            *classes,
            Nowhere(_static_files()),
        ],
        lifespan=_ready(hub),
        middleware=[
            Middleware(SafeHeaders, policy=policy, origins=origins, hosts=hosts),
            Middleware(DirectOnly),
            Middleware(ReadableMessages),
        ],
    )


def _ready(hub: Hub | None) -> Callable[[App], AbstractAsyncContextManager[None]]:
    def load() -> None:
        load_networks()
        give_back()  # 60 MB of what reading them took

    @asynccontextmanager
    async def ready(_: App) -> AsyncIterator[None]:
        # Before anybody asks: with several workers, it may be another that draws the first chart.
        apply("plotly_file")
        freeze_loaded_objects()
        loading = asyncio.create_task(asyncio.to_thread(load))
        if hub is None:
            yield
        else:
            hub.close_with_the_server()
            sweeping = asyncio.create_task(hub.sweep())
            yield
            sweeping.cancel()
        await loading

    return ready


@cache
def _static_files() -> frozenset[str]:
    """The files of Streamlit's page, as paths below its address."""
    return frozenset(
        path.relative_to(page_script.STATIC).as_posix()
        for path in page_script.STATIC.rglob("*")
        if path.is_file()
    )


class Nowhere(Route):
    """Answers 404 where there is nothing: Streamlit would answer with its page.

    `files` are the paths at which Streamlit has something.
    """

    def __init__(self, files: frozenset[str]) -> None:
        async def nothing_here(request: Request) -> Response:
            up = "../" * request.path_params["path"].count("/") or "./"
            return HTMLResponse(NOWHERE.format(up=up), 404, headers=FRESH)

        super().__init__("/{path:path}", nothing_here)
        self.files = files

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether nothing is at an address."""
        match, child = super().matches(scope)
        path = child.get("path_params", {}).get("path", "")
        if path in self.files or path.startswith(STREAMLITS):
            return Match.NONE, {}
        return match, child


def _index() -> str:
    pictures = pictures_script()
    needed = {pictures.name: pictures.files[pictures.name].size}
    return page_script.guarded_html(page_script.index_html(), needed)


def our_routes(pages: tuple[str, ...]) -> list[Route]:
    """The routes that answer before Streamlit's, given the names of the pages in the URL."""
    pictures = pictures_script()
    index = PackedFile.of(_index().encode(), "text/html", ASKED_AGAIN)
    code = (pictures.told + page_script.guard_js()).encode()
    guard = PackedFile.of(code, "text/javascript", ASKED_AGAIN)

    routes = [
        file_at("/", index),
        file_at(f"/{page_script.GUARD}", guard),
        *pictures.routes(),
        *(font_at(page_script.FONTS / name) for name in page_script.PARTS.values()),
        StaticFiles(page_script.STATIC, _static_files(), page_script.style_sheets()),
    ]
    for name in pages:
        routes += [file_at(f"/{name}", index), Route(f"/{name}/{{rest:path}}", up_to_the_page)]
    return routes


async def up_to_the_page(request: Request) -> Response:
    """Redirect to the page itself, since below its address its files are not found.

    Streamlit's own code asks there, too, to find out at what address its server is: not at this.
    """
    if "_stcore" in request.path_params["rest"]:
        return Response(status_code=404)
    up = "../" * request.path_params["rest"].count("/") or "./"
    name = request.url.path.strip("/").split("/")[0]
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{up}../{name}{query}", 302, headers=FRESH)


SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # noqa: S105  # a name, not a secret
BACKLOG = 2_048
ALIVE_WITHIN_S = 60  # a worker that does not answer for so long is replaced


class Supervisor(Multiprocess):
    """Uvicorn's supervisor, which remembers whether Ctrl-C stopped it."""

    interrupted = False

    def handle_int(self) -> None:
        """Remember that it was Ctrl-C."""
        self.interrupted = True
        super().handle_int()


def _served(config: Config) -> App:
    end_with_parent()
    return application(config)


def serve_with(workers: int, host: str, port: int, config: Config) -> None:
    """Serve until stopped; a worker that ends is replaced. Raises KeyboardInterrupt on Ctrl-C.

    Streamlit and prometheus-client read what the workers must agree on from the environment.
    """
    os.environ["STREAMLIT_SERVER_ADDRESS"] = host
    os.environ["STREAMLIT_SERVER_PORT"] = str(port)
    os.environ.setdefault(SECRET, secrets.token_hex())
    with tempfile.TemporaryDirectory(prefix="ffnviz-workers-") as folder:
        os.environ[METRICS_FOLDER] = os.environ[WEIGHTS_FOLDER] = folder
        served = uvicorn.Config(
            partial(_served, config),
            factory=True,
            host=host,
            port=port,
            workers=workers,
            backlog=BACKLOG,
            ws=protocol(),
            ws_max_size=MOST_BYTES,
            ws_per_message_deflate=False,
            access_log=False,
            log_level="warning",
            timeout_worker_healthcheck=ALIVE_WITHIN_S,
        )
        supervisor = Supervisor(served, sockets=[served.bind_socket()])
        supervisor.run()
    if supervisor.interrupted:
        raise KeyboardInterrupt
