"""Counting on a Ray cluster, which is joined, or started on this machine; needs the extra `ray`.

The items are stretches of files (`sources.Piece`), not rows that Ray has read: `read_text` and its
kin stop at, or silently drop, what `sources` counts and names; and which texts share a batch must
follow from the files alone, or the last bit of every value would depend on which worker read what.
Each worker opens its files itself, so texts never travel. Ray Data schedules, retries, moves parts.
"""

import json
import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from ffnviz.analysis.neurons.counting import IndexPart, merged
from ffnviz.jobs.indexing.files import File, Stored, StoreError
from ffnviz.jobs.indexing.run import IndexingJob, count, gatherer_of
from ffnviz.jobs.indexing.sources import Piece
from ffnviz.models.config import install

ANSWERS_WITHIN_S = 10.0  # Ray itself tries for many minutes where nobody listens


class ClusterError(ValueError):
    """Ray, the cluster or places on it are missing; the message says what to do."""


@contextmanager
def joined(address: str | None = None) -> Iterator[None]:
    """Join a cluster for as long as the block runs; one started for it is then ended.

    The address is "auto" for the cluster that this machine is part of, or the head's "host:port";
    None starts one on this machine alone. Raises ClusterError if Ray is not installed, or nothing
    answers at the address.
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
            address=address or "local",
            log_to_driver=False,
            logging_level="ERROR",
            **({} if address else {"include_dashboard": False}),
        )
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
        raise _no_cluster(address, "it isn't host:port")
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
    """Check that the joined cluster has places for so many workers of so many cores and GPUs.

    Returns a message for as long as others have the places, and None if enough are free. Raises
    ClusterError if it has fewer places, free or not.
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
        f"The cluster is in use now: {free} of {workers} workers can start, "
        "and the rest when there is room."
    )


def _places(resources: dict[str, float], cpus: float, gpus: float) -> int:
    shares = [(resources.get("CPU", 0.0), cpus), (resources.get("GPU", 0.0), gpus)]
    return min((int(total / each + 1e-9) for total, each in shares if each), default=2**16)


def _named(cpus: float, gpus: float) -> str:
    return f"{cpus:g} core{'s' * (cpus != 1)} and {gpus:g} GPU{'s' * (gpus != 1)}"


VERSION = version_of("ffnviz")
FAN_IN = 8  # parts that are added up on some node before they come here
MOST_ON_GPU = 8  # pieces that a task adds up: some minutes' work
MOST_ON_CPU = 2  # likewise
ROUNDS = 8  # tasks of each worker at least: little is lost with a node

Row = dict[str, Any]


def counting(batch: Row, job: IndexingJob, version: str, files: Sequence[File]) -> Row:
    """Count a batch of pieces and add them up, in any free process.

    A task, and no actor that keeps the network: any other process can repeat the work of a lost
    node, while Ray waits until a lost actor itself has a place again, which is for ever where all
    places are taken. Ray uses a process again for the next task, and it keeps the network (`hold`).
    A fault of a node is a row of its own, so that it arrives as the sentence it is.
    """
    if wrong := wrong_here(job, version, files):
        return {"wrong": [wrong]}
    pieces: list[Piece] = pickle.loads(batch["pieces"][0])  # noqa: S301, from `run_ray`
    try:
        part = merged([count(job, piece) for piece in pieces])
    except StoreError as error:
        return {"wrong": [str(error).rstrip(".")]}
    return _row([piece.number for piece in pieces], part)


def wrong_here(job: IndexingJob, version: str, files: Sequence[File]) -> str:
    """Why this process cannot count; empty if it can. `files` has one of each disk or store."""
    if version != VERSION:
        return f"it has ffnviz {VERSION}, and the work comes from ffnviz {version}"
    for file in files:
        if isinstance(file, Stored):
            try:
                file.address.check()
            except StoreError as error:
                return str(error).rstrip(".")
        elif not file.parent.is_dir():  # a file of it may vanish
            why = "all nodes must see the corpus under the same path"
            return f"it has no folder {file.parent}: {why}"
    try:
        gatherer_of(job)
    except Exception as error:  # of any kind: the person who waits is at another machine
        return f"the network {job.network} does not open there ({error})"
    return ""


def run_ray(
    job: IndexingJob,
    pieces: Sequence[Piece],
    _reading: Callable[[int], None],
    workers: int,  # processes, each with the network in it
    cpus: float = 1,  # that Ray keeps for each worker, though it computes with one thread
    gpus: float = 0,  # of each worker
) -> Iterator[tuple[list[int], IndexPart]]:
    """The numbers of the pieces that are done and their counts, as they come in.

    Parts are added up thrice: some pieces in a worker, some workers' sums on a node, the rest by
    the caller. Ray Data bounds what waits in memory. Every node must be able to open the network by
    its name, and see the files under the same paths or reach their store. Raises ClusterError if a
    node cannot count, or Ray gives up.
    """
    if not pieces:
        return
    import ray.data

    logging.getLogger("ray.data").setLevel(logging.ERROR)  # the caller reports progress
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.execution_no_progress_timeout_s = -1  # a large network's piece may take an hour
    # A worker starts in another folder.
    folder = Path(job.network)
    job = replace(job, network=str(folder.absolute())) if folder.exists() else job
    pieces = [
        piece if isinstance(piece.path, Stored) else replace(piece, path=piece.path.absolute())
        for piece in pieces
    ]
    items = [{"pieces": pickle.dumps(batch)} for batch in _batches(pieces, workers, job.device)]
    rows = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        counting,
        batch_size=1,
        num_cpus=cpus,
        num_gpus=gpus,
        fn_args=(job, VERSION, _one_of_each([piece.path for piece in pieces])),
        compute=ray.data.TaskPoolStrategy(size=workers),
        max_calls=0,  # a process with a GPU, too, is used again
    )
    if workers >= FAN_IN:
        tasks = ray.data.TaskPoolStrategy(size=workers // FAN_IN)
        rows = rows.map_batches(added_up, batch_size=FAN_IN, num_cpus=0, compute=tasks)
    try:
        for row in rows.iter_batches(batch_size=1):
            yield _read(row)
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        why = lines[-1].strip() if lines else type(error).__name__
        raise ClusterError(f"The cluster gave up: {why}") from error


def _one_of_each(files: Sequence[File]) -> list[File]:
    """One file of this machine and one of each address."""
    first: dict[object, File] = {}
    for file in files:
        first.setdefault(file.address if isinstance(file, Stored) else "here", file)
    return list(first.values())


def _batches(pieces: Sequence[Piece], workers: int, device: str) -> list[list[Piece]]:
    """Batches of neighbouring pieces, most often of one file."""
    most = MOST_ON_CPU if device == "cpu" else MOST_ON_GPU
    n = max(1, min(most, len(pieces) // (ROUNDS * workers)))
    return [list(pieces[start : start + n]) for start in range(0, len(pieces), n)]


def added_up(batch: Row) -> Row:
    """The sum of several parts, so that less is sent to the calling process."""
    for wrong in batch.get("wrong", ()):
        if wrong:
            return {"wrong": [wrong]}
    return _row(*_read(batch))


def _row(numbers: list[int], part: IndexPart) -> Row:
    """A part as a row with one column a block, since Arrow's values have at most 2 GB."""
    blocks = {f"block {n}": [pickle.dumps(block)] for n, block in enumerate(part.blocks)}
    rest = pickle.dumps(replace(part, blocks=()))
    return {"wrong": [""], "numbers": [json.dumps(numbers)], "part": [rest], **blocks}


def _read(batch: Row) -> tuple[list[int], IndexPart]:
    """The pieces' numbers and the sum of the parts in a batch of rows."""
    parts = []
    for place, wrong in enumerate(batch["wrong"]):
        if wrong:
            raise ClusterError(f"A node of the cluster cannot count: {wrong}.")
        rest = pickle.loads(batch["part"][place])  # noqa: S301, from `_row`
        names = [f"block {n}" for n in range(sum(name.startswith("block ") for name in batch))]
        blocks = tuple(pickle.loads(batch[name][place]) for name in names)  # noqa: S301
        parts.append(replace(rest, blocks=blocks))
    numbers = [number for each in batch["numbers"] for number in json.loads(each)]
    return numbers, merged(parts)
