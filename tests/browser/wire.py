"""A wire between browsers and a server, which counts what comes over it and can be cut."""

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 2**16
STREAM = b"GET /_stcore/stream"


class Wire:
    """Carries what comes at its door to a server of this machine, and back.

    Attributes:
        port: of the door.
        n_bytes: what came from the server over the pages' sockets, as it was sent: compressed, with
            the frames around it.
        is_cut: whether it carries nothing, as when a phone loses its network.
    """

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._door = socket.create_server(("localhost", 0))
        self._taken: list[socket.socket] = []
        self.port: int = self._door.getsockname()[1]
        self.n_bytes = 0
        self.is_cut = False
        threading.Thread(target=self._let_in, daemon=True).start()

    def take(self) -> int:
        """The bytes since it was last asked."""
        taken, self.n_bytes = self.n_bytes, 0
        return taken

    def cut(self) -> None:
        """End all connections, and take no other."""
        self.is_cut = True
        for near in self._taken:
            with suppress(OSError):  # it has been closed
                near.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Take connections again."""
        self.is_cut = False

    def stop(self) -> None:
        """End all, for ever."""
        self.cut()
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _let_in(self) -> None:
        with suppress(OSError):  # stopped
            while True:
                near, _ = self._door.accept()
                if self.is_cut:
                    near.close()
                    continue
                self._taken.append(near)
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        """Hand on what either end says, until one of them is closed."""
        far = socket.create_connection(("localhost", self._server_port))
        is_stream = False
        with near, far, selectors.DefaultSelector() as ends, suppress(OSError):
            ends.register(near, selectors.EVENT_READ, far)
            ends.register(far, selectors.EVENT_READ, near)
            while True:
                for key, _ in ends.select():
                    piece = key.fileobj.recv(PIECE)  # type: ignore[union-attr]
                    if not piece:
                        return
                    is_stream |= piece.startswith(STREAM)
                    self.n_bytes += len(piece) * (is_stream and key.fileobj is far)
                    key.data.sendall(piece)


@contextmanager
def wired(server_port: int) -> Iterator[Wire]:
    """A wire to a server, while the block runs."""
    wire = Wire(server_port)
    try:
        yield wire
    finally:
        wire.stop()
