"""--allowed-host: the names at which the page may be opened."""

from ipaddress import ip_address

import click

from ffnviz.headers import hostname

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
    """The names at which the page may be opened; none stands for any.

    Where only this computer can reach it, another name is one that somebody's page gave it.
    """
    own = (*LOCAL, address) if ip_address(address).is_loopback else ()
    return tuple(dict.fromkeys((*own, *named)))
