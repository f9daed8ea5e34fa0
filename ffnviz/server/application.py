"""The page as a web application: Streamlit's, with a script of ours before it, and safe headers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope
from streamlit.starlette import App

from ffnviz.jobs.memory import freeze_loaded_objects
from ffnviz.lecture.classroom.hub import Hub
from ffnviz.lecture.classroom.store import server_store
from ffnviz.models.config import TOP, Config, use
from ffnviz.models.external.memory import give_back
from ffnviz.parts import PAGES
from ffnviz.server.classroom_routes import class_routes
from ffnviz.server.headers import ReadableMessages, SafeHeaders, content_security_policy
from ffnviz.server.metrics import DirectOnly, ServerMetrics
from ffnviz.server.static import ASKED_AGAIN, PackedFile, StaticFiles, pictures_script
from ffnviz.server.streamlit_patches import apply_patches
from ffnviz.server.streamlit_patches.page_script import (
    GUARD,
    STATIC,
    guard_js,
    guarded_html,
    index_html,
)
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

    Raises:
        ValueError: if its frame_ancestors are not what a Content-Security-Policy can have.
    """
    use(config)
    apply_patches()
    numbers = ServerMetrics()
    numbers.write_for_ever()
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
    @asynccontextmanager
    async def ready(_: App) -> AsyncIterator[None]:
        # Before anybody asks: with several workers, it may be another that draws the first chart.
        apply("plotly_file")
        freeze_loaded_objects()
        loading = asyncio.create_task(asyncio.to_thread(_load_networks))
        if hub is None:
            yield
        else:
            hub.close_with_the_server()
            sweeping = asyncio.create_task(hub.sweep())
            yield
            sweeping.cancel()
        await loading

    return ready


def _load_networks() -> None:
    load_networks()
    give_back()  # 60 MB of what reading them took


@cache
def _static_files() -> frozenset[str]:
    """The files of Streamlit's page, as paths below its address."""
    return frozenset(
        path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()
    )


class Nowhere(Route):
    """Answers 404 where there is nothing: Streamlit would answer with its page.

    Attributes:
        files: the paths at which Streamlit has something.
    """

    def __init__(self, files: frozenset[str]) -> None:
        super().__init__("/{path:path}", _nothing_here)
        self.files = files

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether nothing is at an address."""
        match, child = super().matches(scope)
        path = child.get("path_params", {}).get("path", "")
        if path in self.files or path.startswith(STREAMLITS):
            return Match.NONE, {}
        return match, child


async def _nothing_here(request: Request) -> Response:
    up = "../" * request.path_params["path"].count("/") or "./"
    return HTMLResponse(NOWHERE.format(up=up), 404, headers=FRESH)


def _index() -> str:
    return guarded_html(index_html(), pictures_script().name)


def our_routes(pages: tuple[str, ...]) -> list[Route]:
    """The routes that answer before Streamlit's, given the names of the pages in the URL."""
    pictures = pictures_script()
    index = PackedFile.of(_index().encode(), "text/html", ASKED_AGAIN)
    code = (pictures.told + guard_js()).encode()
    guard = PackedFile.of(code, "text/javascript", ASKED_AGAIN)

    async def page(request: Request) -> Response:
        return index.answer(request)

    async def script(request: Request) -> Response:
        return guard.answer(request)

    routes = [
        Route("/", page),
        Route(f"/{GUARD}", script),
        *pictures.routes(),
        StaticFiles(STATIC, _static_files()),
    ]
    for name in pages:
        routes += [Route(f"/{name}", page), Route(f"/{name}/{{rest:path}}", up_to_the_page)]
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
