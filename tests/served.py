"""A server of ours for a measurement, and what it holds: memory, file descriptors, threads."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_S = 120


@dataclass(frozen=True)
class Server:
    """One that runs."""

    url: str  # of its pages
    socket: str  # of its pages' sessions
    process: "subprocess.Popen[bytes]"  # or the one above its workers

    @property
    def pid(self) -> int:
        """Of its process."""
        return self.process.pid


@contextmanager
def served(
    port: int, workers: int = 1, log: Path | None = None, options: Sequence[str] = ()
) -> Iterator[Server]:
    """`ffnviz app` while the block runs.

    Raises:
        TimeoutError: if it does not answer.
    """
    command = [sys.executable, "-m", "ffnviz", "app", "--port", str(port), *options]
    if workers > 1:
        command += ["--workers", str(workers)]
    with (log or Path(os.devnull)).open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield Server(f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}/_stcore/stream", process)
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    """A TCP port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def wait_for(
    url: str, server: "subprocess.Popen[bytes] | None" = None, seconds: float = START_S
) -> None:
    """Wait until a URL answers; not for a server that has ended.

    Raises:
        TimeoutError: if it does not within `seconds`.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until and (server is None or server.poll() is None):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{url} does not answer.")


@dataclass(frozen=True)
class Usage:
    """What a process and those it started hold, all together."""

    mb: float  # resident memory in MB
    own_mb: float  # of it, what the process itself holds
    files: int  # open file descriptors
    threads: int  # threads

    def __str__(self) -> str:
        return (
            f"{self.mb:.0f} MB, {self.own_mb:.0f} of it the server itself, "
            f"{self.files} file descriptors, {self.threads} threads"
        )


def usage(pid: int) -> Usage:
    """Of a process and all it started (Linux)."""
    mb, own_mb, files, threads = 0.0, 0.0, 0, 0
    for each in [pid, *started_by(pid)]:
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{each}/status").read_text().splitlines()
        )
        held = int(status.get("VmRSS", "0").split()[0]) / 1_024
        mb += held
        own_mb += held * (each == pid)
        threads += int(status["Threads"])
        files += len(list(Path(f"/proc/{each}/fd").iterdir()))
    return Usage(mb, own_mb, files, threads)


def started_by(pid: int) -> list[int]:
    """The processes below one."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            found += [child, *started_by(child)]
    return found


@dataclass(frozen=True)
class Worked:
    """Seconds of processor time since the machine started."""

    server: float  # of a server and all it started
    here: float  # of this process
    machine: float  # of everything

    @classmethod
    def now(cls, pid: int) -> "Worked":
        """Until now (Linux)."""
        tick = os.sysconf("SC_CLK_TCK")
        server = 0.0
        for each in [pid, *started_by(pid)]:
            after_name = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            server += (int(after_name[11]) + int(after_name[12])) / tick
        total = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        busy = sum(total) - total[3] - total[4]  # without idle and waiting for a disk
        return cls(server, sum(os.times()[:2]), busy / tick)

    def others_since(self, before: "Worked") -> float:
        """What all others took since then, in seconds."""
        ours = self.server - before.server + self.here - before.here
        return max(0.0, self.machine - before.machine - ours)
