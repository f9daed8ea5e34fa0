"""What a page's socket may send: readable, binary, of a bounded size. Else a line is logged."""

import logging
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette import starlette_server

MOST_BYTES = 2_000_000  # of one message; a lecture of the largest size fits
UNREADABLE, NOT_BINARY, TOO_LARGE = 1002, 1003, 1009  # RFC 6455, section 7.4.1

log = logging.getLogger(__name__)


def bound_messages() -> None:
    """Have Streamlit's own server refuse larger messages before it has all of one in memory.

    Streamlit takes the limit of what it sends, 200 MB, for what it receives, too.
    """
    starlette_server.get_max_message_size_bytes = lambda: MOST_BYTES  # type: ignore[attr-defined]


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
    try:
        BackMsg.FromString(sent)
    except DecodeError:
        return UNREADABLE, f"{len(sent):,} bytes that are no message of Streamlit's"
    return None
