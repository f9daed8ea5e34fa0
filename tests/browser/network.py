"""A way to a server that can be cut, as a telephone loses its network."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 65_536  # bytes


class Network:
    """Passes on what comes at its port, unless it is cut.

    Attributes:
        port: where it listens.
        is_cut: whether nothing is passed on.
    """

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self.is_cut = False
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()  # this thread's loop is the browser's
        listens = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(listens, self._loop).result()
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """End all connections, and take no other."""
        self.is_cut = True
        self._loop.call_soon_threadsafe(self._end_all)

    def mend(self) -> None:
        """Take connections again."""
        self.is_cut = False

    def stop(self) -> None:
        """End all, for ever."""
        self.cut()
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.call_later, 0.5, self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _end_all(self) -> None:
        for writer in tuple(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._open |= {writer, back}
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))
        self._open -= {writer, back}


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()


@contextmanager
def network_to(server_port: int) -> Iterator[Network]:
    """A network that leads to a server of this machine."""
    network = Network(server_port)
    try:
        yield network
    finally:
        network.stop()
