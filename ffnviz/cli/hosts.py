"""--allowed-host: the names at which the page may be opened."""

from ipaddress import ip_address

import click

from ffnviz.server.headers import hostname
from ffnviz.server.own_address import own_address

LOCAL = ("localhost", "127.0.0.1", "::1")


def host_names(
    _: click.Context, option: click.Parameter, named: tuple[str, ...]
) -> tuple[str, ...]:
    """The names of --allowed-host, without ports.

    Raises:
        BadParameter: if one is something else.
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
    """The names at which the page may be opened; none means any.

    Where only this computer can reach it, another name is one that somebody's page gave it.
    """
    if ip_address(address).is_loopback:
        return tuple(dict.fromkeys((*LOCAL, address, *named)))
    if not named:
        return ()
    # An address is nobody else's to give away, and the links of classes have this computer's.
    return tuple(dict.fromkeys((*LOCAL, own_address(), *named)))
