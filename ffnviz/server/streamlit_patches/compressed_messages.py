"""Changes: what a page's socket sends is compressed where that helps, each message by itself.

Why: most of what a typed sentence sends are numbers that get no shorter. Streamlit's own switch
(server.enableWebsocketCompression) has uvicorn try, at zlib's usual level: 8 ms a sentence.
Gains: half of the bytes of most pages for half a millisecond (docs/performance.md).
For: Streamlit 1.64 to 1.67.
"""

import asyncio
import zlib
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions.base import Extension
from websockets.extensions.permessage_deflate import (
    PerMessageDeflate,
    ServerPerMessageDeflateFactory,
)
from websockets.frames import Frame
from websockets.typing import ExtensionParameter

from ffnviz.server.streamlit_patches.patch import expect, guarded

FAST = {"level": 1, "memLevel": 8}  # of zlib
SHORT = 512  # bytes of a message that goes as it is
PIECES = 8  # of so many bytes, which are tried of a message before all of it
SHARE = 0.7  # of their length, to which they must shrink


def is_worth_it(message: bytes | bytearray | memoryview) -> bool:
    """Whether a message gets much shorter, as far as some pieces of it tell."""
    if len(message) < 2 * PIECES * SHORT:
        return len(message) >= SHORT
    starts = range(0, len(message) - SHORT, len(message) // PIECES)
    tried = b"".join(message[start : start + SHORT] for start in starts)
    return len(zlib.compress(tried, FAST["level"])) < SHARE * len(tried)


class WhereItHelps(PerMessageDeflate):
    """The extension of RFC 7692, by which any message may be left as it is."""

    def encode(self, frame: Frame) -> Frame:
        """Compress a message, if it is worth it."""
        return super().encode(frame) if is_worth_it(frame.data) else frame


class WhereItHelpsFactory(ServerPerMessageDeflateFactory):
    """Offers it to browsers. Nothing is remembered between messages: a session keeps no memory."""

    def __init__(self) -> None:
        super().__init__(
            server_no_context_takeover=True, client_no_context_takeover=True, compress_settings=FAST
        )

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], WhereItHelps]:
        """What is agreed on with a browser."""
        agreed, plain = super().process_request_params(params, accepted_extensions)
        bits = plain.remote_max_window_bits, plain.local_max_window_bits
        return agreed, WhereItHelps(True, True, *bits, FAST)


class CompressedMessages(WebSocketsSansIOProtocol):
    """Uvicorn's protocol of a socket, with that extension."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.conn.available_extensions = [WhereItHelpsFactory()]


def check() -> None:
    """Whether sockets are still made as here, and Streamlit asks for them by this name."""
    from streamlit.web.server.starlette import starlette_server
    from websockets.server import ServerProtocol

    names = starlette_server._get_uvicorn_config_kwargs.__code__.co_names
    expect("_get_websocket_protocol" in names, "uvicorn is told _get_websocket_protocol")
    expect(hasattr(ServerProtocol(), "available_extensions"), "a socket has available_extensions")
    expect("conn" in WebSocketsSansIOProtocol.__init__.__code__.co_names, "uvicorn's has a conn")


def apply() -> None:
    """Have Streamlit's own server speak so."""
    from streamlit.web.server.starlette import starlette_server

    starlette_server._get_websocket_protocol = protocol  # type: ignore[assignment]


@guarded(otherwise="websockets-sansio")
def protocol() -> type[asyncio.Protocol]:
    """What uvicorn is told to make of a socket; its own, where this is left out."""
    check()
    return CompressedMessages
