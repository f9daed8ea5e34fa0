"""The routes of a class, which cost no page run: events, answers, sentences.

A browser sends the class's code in the path and who it is (a random text) in the body; in a header
the ticket that its page's session was given, or the lecturer's secret. No cookie is set or read.
"""

import asyncio
import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from starlette import responses
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route

from ffnviz.lecture.classroom import live_class
from ffnviz.lecture.classroom.hub import Hub
from ffnviz.server.headers import same_origin
from ffnviz.state.state import LARGEST_SCENE, class_code

MOST_ADDRESSES = 10_000
AT_ONCE = 100  # arrivals at one process; one address may be that of a whole lecture hall
EACH_S = 10.0  # so many more each second
FREE = 30  # wrong codes in a window that cost no delay
WINDOW_S = 60.0
WAIT_S = 1.0
MOST_WAITING = 16  # requests of one address; more are turned away at once


class RushError(RuntimeError):
    """More students arrive at once from one address than are let in."""


class _Recent(OrderedDict[str, tuple[float, float]]):
    """A time and a count for each of the most recent addresses."""

    def __setitem__(self, address: str, value: tuple[float, float]) -> None:
        super().__setitem__(address, value)
        while len(self) > MOST_ADDRESSES:
            self.popitem(last=False)


@dataclass
class Arrivals:
    """Recent arrivals by address: 300 students behind one are let in within 20 seconds."""

    clock: Callable[[], float] = time.monotonic
    _recent: _Recent = field(default_factory=_Recent)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, address: str) -> None:
        """Count an arrival; raises RushError if the student has to wait."""
        with self._lock:
            now = self.clock()
            before, n = self._recent.pop(address, (now, 0.0))
            n = max(0.0, n - EACH_S * (now - before))
            is_rush = n + 1 > AT_ONCE
            self._recent[address] = (now, n if is_rush else n + 1)
        if is_rush:
            raise RushError("Many are coming at once. Your page joins by itself in a moment.")


@dataclass
class WrongCodes:
    """The recent wrong codes of each address."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _recent: _Recent = field(default_factory=_Recent)
    _waiting: Counter[str] = field(default_factory=Counter)

    async def was_wrong(self, address: str) -> bool:
        """Count a wrong code and wait as long as its address has to; False turns it away."""
        now = self.clock()
        began, n = self._recent.pop(address, (now, 0))
        if now - began > WINDOW_S:
            began, n = now, 0
        self._recent[address] = (began, n + 1)
        if n < FREE:
            return True
        if self._waiting[address] >= MOST_WAITING:
            return False
        self._waiting[address] += 1
        try:
            await self.sleep(WAIT_S)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]
        return True


LONGEST_BODY = 8_000  # bytes
SECRET = "x-ffnviz-lecturer"  # noqa: S105  # a header's name
TICKET = "x-ffnviz-ticket"
FRESH = {"Cache-Control": "no-store"}
STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

NO_CODE = (
    "A code has letters and digits, such as K7M-Q2X; you may leave out the hyphen. Please type it "
    "again."
)
JOIN = """<!doctype html><html lang="en"><title>Join a class · ffnviz</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; font: 1.2rem/1.4 system-ui, sans-serif }}
body {{ margin: 12vh auto 0; max-width: 26rem; padding: 0 1.2rem }}
h1 {{ font-size: 1.6rem; margin: 0 0 .4rem }} p {{ margin: 0 0 1rem }}
form {{ display: flex; flex-wrap: wrap; gap: .6rem }}
input {{ flex: 1 1 9rem; min-width: 0; font: 600 1.8rem/1.2 ui-monospace, monospace;
  padding: .4rem .7rem; letter-spacing: .06em; text-transform: uppercase }}
button {{ font: inherit; font-weight: 650; min-height: 3rem; padding: 0 1.4rem }}
</style><body><h1>Join a class</h1><p>{said}</p>
<form action="class" method="get"><input name="code" aria-label="Code of the class" required
 maxlength="40" autofocus autocomplete="off" autocapitalize="characters" spellcheck="false">
<button>Join</button></form></body></html>"""
TOO_LATE = "The answer was shown before yours came, so yours does not count."
HOW = "Type the code that the lecturer shows. No account, no name."

Answer = Callable[[Request], Awaitable[responses.Response]]


class Refused(Exception):  # noqa: N818  # an answer, not an error
    """A request cannot be granted; the message says why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.answer = responses.JSONResponse({"why": why}, status)


def class_routes(hub: Hub) -> list[Route]:
    """The routes of all classes of a store."""
    wrong, arrivals = WrongCodes(), Arrivals()

    def answered(answer: Callable[[Request, str], Awaitable[responses.Response]]) -> Answer:
        """A route with its errors in words, and with delays for whoever tries wrong codes."""

        @wraps(answer)
        async def safely(request: Request) -> responses.Response:
            headers = request.headers
            if not same_origin(headers.get("origin"), headers.get("host")):
                return responses.JSONResponse({"why": "Another site's page may not do this."}, 403)
            try:
                return await answer(request, class_code(request.path_params["code"]))
            except Refused as refused:
                return refused.answer
            except (live_class.FullClassError, RushError) as error:
                return responses.JSONResponse({"why": str(error)}, 503)
            except live_class.ClosedClassError as error:
                return responses.JSONResponse({"why": str(error)}, 403)
            except live_class.TicketError as error:  # the page asks its session for another
                return responses.JSONResponse({"why": str(error), "stale": True}, 403)
            except live_class.ClassStoreError:
                return responses.JSONResponse({"why": live_class.GONE}, 503)
            except (live_class.NotTheLecturerError, live_class.NoSuchClassError) as error:
                status = 403 if isinstance(error, live_class.NotTheLecturerError) else 404
                refusal = responses.JSONResponse({"why": str(error)}, status)
            if not await wrong.was_wrong(address_of(request)):
                return responses.JSONResponse({"why": "Too many wrong codes. Wait a minute."}, 429)
            return refusal

        return safely

    async def enter(request: Request) -> responses.Response:
        # Whether there is such a class, the page finds out: here nobody can try codes.
        typed = request.path_params["code"]
        code = class_code(typed)
        where = f"../?class={code}" if code else f"../class?{urlencode({'code': typed[:40]})}"
        return responses.RedirectResponse(where, 302, headers=FRESH)

    async def join(request: Request) -> responses.Response:
        typed = request.query_params.get("code", "")
        if code := class_code(typed):
            return responses.RedirectResponse(f"./?class={code}", 302, headers=FRESH)
        return responses.HTMLResponse(JOIN.format(said=NO_CODE if typed else HOW), headers=FRESH)

    async def check_lecturer(request: Request, code: str) -> None:
        secret = request.headers.get(SECRET, "")
        if not await asyncio.to_thread(hub.store.is_lecturer, code, secret):
            raise live_class.NotTheLecturerError("This browser is not the lecturer's.")

    async def events(request: Request, code: str) -> responses.Response:
        who = ""
        if request.headers.get(SECRET, ""):
            await check_lecturer(request, code)
        else:
            who, ticket = request.query_params.get("who", ""), request.headers.get(TICKET, "")
            admit = partial(arrivals.admit, address_of(request))
            await asyncio.to_thread(hub.store.come, code, who, ticket, admit)
        return responses.StreamingResponse(
            hub.events(code, who), media_type="text/event-stream", headers=STREAM
        )

    async def vote(request: Request, code: str) -> responses.Response:
        sent = await body(request)
        who, scene = who_of(sent.get("who")), number(sent.get("scene"))
        option = number(sent.get("option"))
        if not await asyncio.to_thread(hub.store.vote, code, who, scene, option):
            raise Refused(409, TOO_LATE)
        return responses.Response(status_code=204)

    async def say(request: Request, code: str) -> responses.Response:
        sent = await body(request)
        text = sent.get("text")
        if not isinstance(text, str):
            raise Refused(400, "There is no sentence in what was sent.")
        text = " ".join(text.encode(errors="replace").decode().split())
        longest = live_class.LONGEST_SENTENCE
        if len(text) > longest:
            raise Refused(400, f"That is too long: a sentence has at most {longest} characters.")
        await asyncio.to_thread(hub.store.say, code, who_of(sent.get("who")), text)
        return responses.Response(status_code=204)

    async def reveal(request: Request, code: str) -> responses.Response:
        sent, secret = await body(request), request.headers.get(SECRET, "")
        await asyncio.to_thread(hub.store.reveal, code, secret, number(sent.get("scene")))
        return responses.Response(status_code=204)

    async def sentences(request: Request, code: str) -> responses.Response:
        await check_lecturer(request, code)
        sent = await asyncio.to_thread(hub.store.sentences, code)
        return responses.JSONResponse([vars(each) for each in sent], headers=FRESH)

    async def wall(request: Request, code: str) -> responses.Response:
        sent, secret = await body(request), request.headers.get(SECRET, "")
        hidden = sent.get("hidden") is not False
        await asyncio.to_thread(hub.store.hide, code, secret, number(sent.get("number")), hidden)
        return responses.Response(status_code=204)

    async def join_below(_: Request) -> responses.Response:
        return responses.RedirectResponse("../class", 302, headers=FRESH)

    return [
        Route("/class", join, methods=["GET"]),
        Route("/class/", join_below, methods=["GET"]),
        Route("/class/{code}", enter, methods=["GET"]),
        Route("/class/{code}/events", answered(events), methods=["GET"]),
        Route("/class/{code}/vote", answered(vote), methods=["POST"]),
        Route("/class/{code}/sentence", answered(say), methods=["POST"]),
        Route("/class/{code}/sentences", answered(sentences), methods=["GET"]),
        Route("/class/{code}/wall", answered(wall), methods=["POST"]),
        Route("/class/{code}/reveal", answered(reveal), methods=["POST"]),
    ]


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


async def body(request: Request) -> dict[str, Any]:
    """The JSON object of a request; a form on another site's page cannot send one."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(415, "Only JSON is read here.")
    read = b""
    try:
        async for chunk in request.stream():
            read += chunk
            if len(read) > LONGEST_BODY:
                raise Refused(413, "That is too long.")
        sent = json.loads(read)
    except (ValueError, RecursionError, ClientDisconnect) as error:
        raise Refused(400, "The request is not JSON.") from error
    if not isinstance(sent, dict):
        raise Refused(400, "The request is not a JSON object.")
    return sent


def who_of(sent: object) -> str:
    """The student's id: a random text of their browser's own."""
    if isinstance(sent, str) and 16 <= len(sent) <= 64 and sent.isalnum() and sent.isascii():
        return sent
    raise Refused(400, "The request does not say who sends it.")


def number(sent: object) -> int:
    """A whole number of the request, which can be a scene or an option."""
    if isinstance(sent, bool) or not isinstance(sent, int) or not 0 <= sent <= LARGEST_SCENE:
        raise Refused(400, "A number is missing, or too large.")
    return sent
