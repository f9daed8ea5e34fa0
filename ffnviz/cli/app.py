"""`ffnviz app`: serve the page."""

import errno
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from ffnviz.cli import app_checks
from ffnviz.cli.options import FILE, F, Number, dtype_option
from ffnviz.models.config import VARIABLES, Config, config_from_environment, use
from ffnviz.server.application import SCRIPT, application, serve_with
from ffnviz.server.headers import content_security_policy, hostname, own_address

LOCAL = ("localhost", "127.0.0.1", "::1")  # host names of this computer
shown_option = partial(click.option, show_default=True, show_envvar=True)


def free_address(host: str, port: int) -> str:
    """The numeric address of a host at which this computer can listen."""
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
                f"Nothing can listen on host “{host}” ({why}). --host takes an address of this "
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
            "whoever opens it can run computations on this computer, and see at /metrics how "
            "many people do so. They can read no files."
        )
    return "\n".join(lines)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def host_names(
    _: click.Context, option: click.Parameter, named: tuple[str, ...]
) -> tuple[str, ...]:
    """The names of --allowed-host, in lower case."""
    for name in named:
        if not name or hostname(name) != name.lower():
            raise click.BadParameter(
                f"“{name}” is not the name of a server. Give one such as ffnviz.example.org, "
                "without https:// and without a port.",
                param=option,
            )
    return tuple(name.lower() for name in named)


def page_addresses(_: click.Context, option: click.Parameter, addresses: str) -> str:
    """The addresses of --frame-ancestors, if a Content-Security-Policy can have them."""
    try:
        content_security_policy("", addresses)
    except ValueError as error:
        raise click.BadParameter(str(error), param=option) from error
    return addresses


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


def setting(flag: str, name: str = "", **how: Any) -> Callable[[F], F]:
    """An option for a field of Config, with its default and its variable."""
    name = name or flag[2:].replace("-", "_")
    default, variable = getattr(Config, name), VARIABLES[name][0] if name in VARIABLES else None
    return shown_option(
        flag, name, default=default, show_default=bool(default), envvar=variable, **how
    )


@click.command()
@shown_option(
    "--host",
    default="localhost",
    envvar="STREAMLIT_SERVER_ADDRESS",
    help="The address to listen on; 0.0.0.0 lets others on your network open the page.",
)
@shown_option(
    "--port", type=click.IntRange(1, 65_535), default=8_501, envvar="STREAMLIT_SERVER_PORT"
)
@shown_option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    envvar="FFNVIZ_WORKERS",
    help="Processes that serve; one for each processor core, if many people come.",
)
@setting(
    "--frame-ancestors",
    callback=page_addresses,
    help="Addresses, separated by spaces, whose pages may show this one in a frame.",
)
@setting(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    callback=host_names,
    help="A name that the page may be opened at, besides this computer's own. Repeatable. If left "
    "out: localhost alone where only this computer can open it, else any name.",
)
@setting(
    "--model",
    "networks",
    multiple=True,
    metavar="PATH_OR_ID[@REVISION]",
    help="Show this network too: a folder, or a name on the Hugging Face Hub. Repeatable; in the "
    "environment variable, several are separated by spaces.",
)
@click.option("--no-twins", is_flag=True, help="Show only what --model names.")
@dtype_option
@setting(
    "--lecture",
    type=app_checks.LectureFile(),
    callback=app_checks.checked_lecture,
    help="The lecture to begin with: a .toml file, as the page saves it, or “course”.",
)
@setting(
    "--index",
    "indexes",
    type=FILE,
    multiple=True,
    help="An index that `ffnviz index` made, shown on the page Neurons for its own network, in "
    f"place of the usual one. Repeatable; in the environment variable, “{os.pathsep}” separates "
    "several.",
)
@setting(
    "--descriptions",
    metavar="[NETWORK=]FILE",
    multiple=True,
    help="Descriptions of neurons by others, as Neuronpedia exports them (.jsonl, .jsonl.gz, or a "
    "folder of them), shown on the page Neurons for the network that they name, or for NETWORK. "
    "Repeatable; in the environment variable, several are separated by spaces.",
)
@setting(
    "--sae",
    "saes",
    metavar="[NETWORK=]FOLDER",
    multiple=True,
    help="A dictionary of features, as sae_lens saves it, shown on Neurons, Top activations, for "
    "the network that it names or that fits, or for NETWORK. Repeatable; in the environment "
    "variable, several are separated by spaces.",
)
@setting(
    "--class-store",
    metavar="FILE_OR_ADDRESS",
    callback=app_checks.address_of_store,
    help="Where classes are kept while they last: a file, or redis://HOST:PORT for servers that "
    "share them. If left out: a file of this user.",
)
@setting(
    "--train-minutes",
    type=Number(0, 60),
    help="Minutes of processor time that one training on the page Learn may take; 0 switches "
    "training off.",
)
def app(
    host: str,
    port: int,
    workers: int,
    networks: tuple[str, ...],
    no_twins: bool,
    dtype: str | None,
    indexes: tuple[Path, ...],
    descriptions: tuple[str, ...],
    saes: tuple[str, ...],
    **values: Any,  # of Config, as they are; the others need more than themselves
) -> None:
    """Serve the page, to this computer alone unless --host says otherwise.

    By now the package has imported PyTorch, so the first visitor need not wait for that. Networks
    of other people are opened and checked before anything is served.
    """
    if no_twins and not networks:
        raise click.BadParameter("then say what to show: --model", param_hint="--no-twins")
    address = free_address(host, port)
    learned = tempfile.TemporaryDirectory(prefix="ffnviz-learned-")
    values["hosts"] = allowed_hosts(address, values["hosts"])
    wanted = replace(
        config_from_environment(),
        networks=tuple(app_checks.requested_network(name, dtype) for name in networks),
        twins=not no_twins,
        indexes=tuple(path.resolve() for path in indexes),
        has_classes=not ip_address(address).is_loopback,
        learned=Path(click.get_current_context().with_resource(learned)),
        **values,
    )
    use(wanted)
    app_checks.check_class_store()
    if networks:
        app_checks.prove_networks()
    for path in indexes:
        click.echo(app_checks.opened_index(path))
    described, lines = app_checks.opened_paths(
        "--descriptions", descriptions, app_checks.look_at_descriptions
    )
    with_features, more_lines = app_checks.opened_paths("--sae", saes, app_checks.look_at_sae)
    wanted = replace(wanted, descriptions=described, saes=with_features)
    for line in (*lines, *more_lines, announcement(address, port)):
        click.echo(line)
    if workers > 1:
        serve_with(workers, host, port, wanted)
        return
    # Streamlit looks for its settings beside the script.
    sys.argv = [str(SCRIPT)]
    application(wanted).run(config={"server.address": host, "server.port": port})
