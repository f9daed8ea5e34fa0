"""Joining a Ray cluster, or starting one on this machine.

Needs the extra `ray`. Whatever is wrong is reported before any work begins.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from ffnviz.models.config import install

ANSWERS_WITHIN_S = 10.0  # Ray itself tries for many minutes where nobody listens


class ClusterError(ValueError):
    """Ray, the cluster or places on it are missing; the message says what to do."""


@contextmanager
def joined(address: str | None = None) -> Iterator[None]:
    """Join a cluster for as long as the block runs; one started for it is then ended.

    Args:
        address: "auto" for the one that this machine is part of, or the head's "host:port"; None
            starts one on this machine alone.

    Raises:
        ClusterError: if Ray is not installed, or nothing answers at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise ClusterError(f"--engine ray needs Ray: {install('ray')}.") from error
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is sent to Ray's makers
    if ray.is_initialized():  # by the caller
        yield
        return
    _check_address(address)
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # or its core writes between our lines
    try:
        ray.init(
            address=address or "local", log_to_driver=False, logging_level="ERROR",
            **({} if address else {"include_dashboard": False}),
        )  # fmt: skip
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_cluster(address, str(error)) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_address(address: str | None) -> None:
    if address in (None, "auto"):
        return
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise _no_cluster(address, "it is no host:port")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWERS_WITHIN_S).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _no_cluster(address, why) from error


def _no_cluster(address: str | None, why: str) -> ClusterError:
    reason = why.strip().partition("\n")[0][:160].rstrip(".")
    if address is None:
        return ClusterError(f"Ray does not start on this machine ({reason}).")
    return ClusterError(
        f"--address {address}: no Ray cluster answers there ({reason}). Start one with `ray start "
        "--head`, and give “auto” on a machine that belongs to it, or its head's host:port."
    )


def check_places(workers: int, cpus: float, gpus: float) -> str | None:
    """Check that the joined cluster has places for so many workers.

    Args:
        workers: processes.
        cpus: cores of each.
        gpus: of each.

    Returns:
        A message for as long as others have the places; None if enough are free.

    Raises:
        ClusterError: if it has fewer places, free or not.
    """
    import ray

    wanted = _named(cpus, gpus)
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    places = sum(_places(node, cpus, gpus) for node in nodes)
    if places < workers:
        total = ray.cluster_resources()
        resources = _named(total.get("CPU", 0), total.get("GPU", 0))
        advice = f"Give --workers {places}, or less to each." if places else "Give less to each."
        raise ClusterError(
            f"--workers {workers} with {wanted} each do not fit: there is room for {places}. "
            f"{len(nodes)} node{'s' * (len(nodes) != 1)} with {resources} answered. {advice}"
        )
    free = _places(ray.available_resources(), cpus, gpus)
    if free >= workers:
        return None
    return (
        f"Others use the cluster now: {free} of {workers} workers can start, "
        "and the rest when there is room."
    )


def _places(resources: dict[str, float], cpus: float, gpus: float) -> int:
    shares = [(resources.get("CPU", 0.0), cpus), (resources.get("GPU", 0.0), gpus)]
    return min((int(total / each + 1e-9) for total, each in shares if each), default=2**16)


def _named(cpus: float, gpus: float) -> str:
    return f"{cpus:g} core{'s' * (cpus != 1)} and {gpus:g} GPU{'s' * (gpus != 1)}"
