"""Where the page is served, who can open it, and under which host names."""

import errno
import socket
from ipaddress import ip_address

import click

from ffnviz.server.headers import hostname
from ffnviz.server.own_address import own_address

LOCAL = ("localhost", "127.0.0.1", "::1")  # host names of this computer


def free_address(host: str, port: int) -> str:
    """The numeric address of a host at which this computer can listen.

    Raises:
        ClickException: if it cannot; the message says why, and what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        if not host:
            raise OSError("it is empty")  # to a socket that means every network
        with socket.create_server((host, port), family=family) as listener:
            return str(listener.getsockname()[0])
    except (OSError, UnicodeError) as error:
        code = getattr(error, "errno", None)
        if code == errno.EADDRINUSE:
            message = f"Port {port} is taken: another program, perhaps another ffnviz, has it."
        elif code == errno.EACCES:
            message = f"Port {port} is not yours to open on this system."
        else:
            why = getattr(error, "strerror", None) or error
            raise click.ClickException(
                f"Nothing can listen at host “{host}” ({why}). --host takes an address of this "
                "computer: localhost, or 0.0.0.0 for all its networks."
            ) from error
        other = port + 1 if 1_023 < port < 65_535 else 8_501
        raise click.ClickException(f"{message} Choose another: --port {other}") from error


def announcement(address: str, port: int) -> str:
    """Where to open the page, and who can."""
    ip = ip_address(address)
    shown = "localhost" if address == "127.0.0.1" or ip.is_unspecified else address
    lines = [f"ffnviz: {_url(shown, port)} (Ctrl-C ends it)"]
    if not ip.is_loopback:
        own = (own_address() if ip.is_unspecified else None) or shown
        where = f", at {_url(own, port)}" if own != shown else ""
        lines.append(
            f"Others on your network can open it too{where}. Nobody is asked for a password: "
            "whoever opens it can run computations on this computer, and read at /metrics how "
            "many do. They can read no files."
        )
    return "\n".join(lines)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def host_names(
    _: click.Context, option: click.Parameter, named: tuple[str, ...]
) -> tuple[str, ...]:
    """The names of --allowed-host, without ports.

    Raises:
        BadParameter: if one is no host name.
    """
    for name in named:
        if not name or hostname(name) != name.lower():
            raise click.BadParameter(
                f"“{name}” is no name of a server. Give one such as ffnviz.example.org, without "
                "https:// and without a port.",
                param=option,
            )
    return named


def allowed_hosts(address: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """The names at which the page may be opened; () allows any.

    Where only this computer can reach it, another name is one that an attacker's page gave it.
    """
    if ip_address(address).is_loopback:
        return tuple(dict.fromkeys((*LOCAL, address, *named)))
    if not named:
        return ()
    # Nobody else can point an address here, and the links of classes have this computer's.
    return tuple(dict.fromkeys((*LOCAL, own_address(), *named)))
