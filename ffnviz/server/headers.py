"""Security headers, and the origins and hosts that are answered."""

import base64
import hashlib
import logging
import re
import socket
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ffnviz.server.streamlit_patches.message_limits import MOST_BYTES, is_message

UNREADABLE, NOT_BINARY, TOO_LARGE = 1002, 1003, 1009  # RFC 6455, section 7.4.1

log = logging.getLogger(__name__)


@dataclass
class ReadableMessages:
    """Closes a socket at the first message that Streamlit could not read."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        closed = False

        async def receive_readable() -> Message:
            nonlocal closed
            message = await receive()
            fault = fault_of(message)
            if fault is None:
                return message
            code, why = fault
            address = (scope.get("client") or ["an unknown address"])[0]
            log.warning("A page's socket was closed: %s sent %s.", address, why)
            closed = True
            if message["type"] == "websocket.receive":
                await send({"type": "websocket.close", "code": code})
            return {"type": "websocket.disconnect", "code": code}

        async def send_while_open(message: Message) -> None:
            if not closed:
                await send(message)

        await self.app(scope, receive_readable, send_while_open)


def fault_of(message: Message) -> tuple[int, str] | None:
    """The code to close a socket with, and what was wrong with a message; None if nothing is."""
    if message["type"] == "websocket.disconnect" and message.get("code") == TOO_LARGE:
        return TOO_LARGE, f"more than {MOST_BYTES:,} bytes at once"  # the server has closed it
    if message["type"] != "websocket.receive":
        return None
    sent = message.get("bytes")
    if sent is None:
        return NOT_BINARY, "text where only binary messages are read"
    if not is_message(sent):
        return UNREADABLE, f"{len(sent):,} bytes that are not a Streamlit message"
    return None


@cache
def own_address() -> str:
    """The IPv4 address of this computer; 127.0.0.1 if it has none. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("8.8.8.8", 1))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
POLICY_VIOLATION = 1008  # RFC 6455, section 7.4.1
MISDIRECTED = 421  # RFC 9110, section 15.5.20
HEALTH = "/_stcore/health"  # asked by programs that know no name of the server; it says "ok"
# Parts of a page, 90 of them on a first visit, which obey the page's policy: half a kilobyte each.
PARTS = ("/static/js/", "/static/css/", "/fonts/")
SOURCE = re.compile(r"'self'|'none'|https?://[^\s;,]+")


def content_security_policy(html: str, frame_ancestors: str) -> str:
    """The policy that allows what this server serves, and the page's own scripts by their sums.

    `frame_ancestors` may show the page in a frame: “'self'”, “'none'”, or addresses. Raises
    ValueError if that is something else.
    """
    sources = frame_ancestors.split()
    for source in sources:
        if not SOURCE.fullmatch(source):
            raise ValueError(
                f"“{source}” is not the address of a site. Give addresses such as "
                "https://moodle.example.org, separated by spaces, or 'self', or 'none'."
            )
    digests = [hashlib.sha256(script.encode()).digest() for script in INLINE.findall(html)]
    sums = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    rules = {
        "default-src": "'self'",
        "script-src": f"'self' {sums}".strip(),
        "style-src": "'self' 'unsafe-inline'",  # Streamlit and plotly write styles as they go
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(sources) or "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def same_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from a page of this server, or from no browser at all."""
    return origin is None or urlsplit(origin).netloc.lower() == (host or "").lower()


def hostname(host: str | None) -> str:
    """The name in a Host header, in lower case and without its port; empty if there is none."""
    try:
        return (urlsplit(f"//{host or ''}").hostname or "").rstrip(".")
    except ValueError:  # such as half an IPv6 address
        return ""


@dataclass
class SafeHeaders:
    """Adds the headers to every answer, and refuses requests of other origins and hosts.

    A page of another site may give its own name our address (DNS rebinding): its browser then takes
    this server for that site. Only the Host header tells.
    """

    app: ASGIApp  # what answers
    policy: str  # the Content-Security-Policy
    origins: frozenset[str] = frozenset()  # of other sites whose pages may open a session
    hosts: frozenset[str] = frozenset()  # the names that it answers to; to any if there are none

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers()
        host, origin = headers.get("host"), headers.get("origin")
        known = not self.hosts or hostname(host) in self.hosts
        if scope["type"] == "websocket" and not (
            known and (same_origin(origin, host) or origin in self.origins)
        ):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                answer["X-Content-Type-Options"] = "nosniff"
                if message["status"] != 200 or not scope["path"].startswith(PARTS):
                    answer["Content-Security-Policy"] = self.policy
                    answer["Referrer-Policy"] = "same-origin"
            await send(message)

        if scope["type"] == "http" and not known and scope["path"] != HEALTH:
            why = "This server has another name. --allowed-host gives it one more.\n"
            await PlainTextResponse(why, MISDIRECTED)(scope, receive, send_safely)
            return
        await self.app(scope, receive, send_safely)
