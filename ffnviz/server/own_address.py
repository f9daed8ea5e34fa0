"""The address of this computer in its network."""

import socket
from functools import cache


@cache
def own_address() -> str:
    """The IPv4 address of this computer; 127.0.0.1 if it has none. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("8.8.8.8", 1))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
