"""What every answer says a browser may do with it, and from which pages a session may be opened."""

import base64
import hashlib
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
POLICY_VIOLATION = 1008  # RFC 6455, section 7.4.1
SOURCE = re.compile(r"'self'|'none'|https?://[^\s;,]+")


def content_security_policy(html: str, frame_ancestors: str) -> str:
    """Everything comes from where the page came from; the scripts in it are known by their sums.

    Args:
        html: the page, whose own scripts may run.
        frame_ancestors: who may show the page in a frame: “'self'”, “'none'”, or addresses.

    Raises:
        ValueError: if that is something else.
    """
    sources = frame_ancestors.split()
    for source in sources:
        if not SOURCE.fullmatch(source):
            raise ValueError(
                f"“{source}” is no address that may frame the page. Give addresses such as "
                "https://moodle.example.org, with blanks between them, or 'self', or 'none'."
            )
    sums = " ".join(f"'sha256-{_sum(script)}'" for script in INLINE.findall(html))
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


def _sum(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def same_origin(origin: str | None, host: str | None) -> bool:
    """Whether a page of this server asks; programs that are no browser send no origin."""
    return origin is None or urlsplit(origin).netloc.lower() == (host or "").lower()


@dataclass
class SafeHeaders:
    """Adds the headers to every answer, and turns away sessions that another site's page opens.

    Attributes:
        app: what answers.
        policy: the Content-Security-Policy.
        origins: of other sites whose pages may open a session.
    """

    app: ASGIApp
    policy: str
    origins: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if not same_origin(origin, headers.get("host")) and origin not in self.origins:
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                answer["Content-Security-Policy"] = self.policy
                answer["X-Content-Type-Options"] = "nosniff"
                answer["Referrer-Policy"] = "same-origin"
            await send(message)

        await self.app(scope, receive, send_safely)
