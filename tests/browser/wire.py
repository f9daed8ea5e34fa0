"""A wire between a browser and a server that counts what comes over its page's socket."""

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

PIECE = 2**16
STREAM = b"GET /_stcore/stream"


@dataclass
class Tap:
    """What has come over the socket.

    Attributes:
        address: of the wire's near end.
        n_bytes: from the server, as they were sent: compressed, with the frames around them.
    """

    address: str
    n_bytes: int = 0

    def take(self) -> int:
        """The bytes since it was last asked."""
        taken, self.n_bytes = self.n_bytes, 0
        return taken

    def carry(self, near: socket.socket, far: socket.socket) -> None:
        """Hand on what either end says, until one of them is closed."""
        is_stream = False
        with near, far, selectors.DefaultSelector() as ends:
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
def tapped(address: str) -> Iterator[Tap]:
    """A wire to the server at an address, while the block runs."""
    to = urlsplit(address)
    with socket.create_server(("localhost", 0)) as door:
        tap = Tap(f"http://localhost:{door.getsockname()[1]}")

        def let_in() -> None:
            while True:
                try:
                    near, _ = door.accept()
                except OSError:
                    return  # the block is left
                far = socket.create_connection((to.hostname or "localhost", to.port or 80))
                threading.Thread(target=tap.carry, args=(near, far), daemon=True).start()

        threading.Thread(target=let_in, daemon=True).start()
        yield tap
        door.shutdown(socket.SHUT_RDWR)
