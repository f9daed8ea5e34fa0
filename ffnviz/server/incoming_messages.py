"""Checks what a page's socket sends: binary, readable, and of a bounded size."""

import logging
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ffnviz.server.streamlit_patches.message_limits import MOST_BYTES, is_message

UNREADABLE, NOT_BINARY, TOO_LARGE = 1002, 1003, 1009  # RFC 6455, section 7.4.1

log = logging.getLogger(__name__)


@dataclass
class ReadableMessages:
    """Closes a socket at the first message that Streamlit could not read.

    Attributes:
        app: what answers.
    """

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
        return UNREADABLE, f"{len(sent):,} bytes that are no message of Streamlit's"
    return None
