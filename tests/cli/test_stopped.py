"""Commands that are stopped or killed: what they keep, and that no process of theirs stays."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.served import free_port, started_by, wait_for
from tests.waiting import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux")
PATIENCE_S = 120

# `ffnviz index` in two processes, which says each time how many pieces are done.
INDEX = """
import importlib, signal, ffnviz.__main__
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
index = importlib.import_module("ffnviz.cli.index")
counted = index.counted
def said(job, pieces, engine, kept, show):
    return counted(job, pieces, engine, kept, lambda report: print(report.done, flush=True))
index.counted = said
ffnviz.__main__.main()
"""


def _wait_until_gone(pids: set[int]) -> None:
    """Until none is there, or is more than a name that its parent has not asked for."""

    def is_gone(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    until(lambda: all(map(is_gone, pids)), PATIENCE_S)


@contextmanager
def _running(*command: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(300):
        lines = [f"The cat had {number} dogs, and {n} of them ran home.\n" for n in range(150)]
        (folder / f"{number}.txt").write_text("".join(lines), encoding="utf-8")
    return folder


def _until_some_are_done(index: "subprocess.Popen[str]") -> set[int]:
    """Its processes, once a piece is counted."""
    assert index.stdout is not None
    assert any(int(line) > 0 for line in index.stdout)
    workers = set(started_by(index.pid))
    assert len(workers) >= 2
    return workers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_keeps_what_is_counted_as_ctrl_c_does(
    corpus: Path, tmp_path: Path, number: signal.Signals
) -> None:
    given = ["index", "--corpus", str(corpus), "--twin", "relu", "--out", str(tmp_path)]
    with _running("-c", INDEX, *given, "--workers", "2") as index:
        workers = _until_some_are_done(index)
        for pid in workers:  # as systemd does
            os.kill(pid, number)
        index.send_signal(number)
        _, errors = index.communicate()
        assert index.returncode == 128 + number
        _wait_until_gone(workers)
    assert errors.endswith("the same command goes on from there.\n\nStopped.\n")
    with np.load(tmp_path / "relu.part.npz") as part:
        assert part["about"].size


def test_the_processes_of_a_killed_run_end_with_it(corpus: Path, tmp_path: Path) -> None:
    given = ["index", "--corpus", str(corpus), "--twin", "relu", "--out", str(tmp_path)]
    with _running("-c", INDEX, *given, "--workers", "2") as index:
        workers = _until_some_are_done(index)
        index.kill()
        _wait_until_gone(workers)


WORKS = """
from ffnviz.jobs.job import Order, receive, send
from ffnviz.jobs.job_pool import start_worker
from ffnviz.models.config import config
from tests.jobs.works import computes_for_ever
worker = start_worker()
send(worker.stdin, config())
send(worker.stdin, Order(computes_for_ever, None, "cpu", {}))
receive(worker.stdout)
print(worker.pid, flush=True)
time.sleep(1e6)
"""


def test_the_worker_of_a_killed_server_ends_with_it_whatever_it_computes() -> None:
    with _running("-c", WORKS) as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        server.kill()
        _wait_until_gone({worker})


def test_the_processes_of_a_killed_server_end_with_it() -> None:
    port = free_port()
    with _running("-m", "ffnviz", "app", "--workers", "2", "--port", str(port)) as server:
        wait_for(f"http://localhost:{port}/_stcore/health")
        workers = set(started_by(server.pid))
        assert len(workers) >= 2
        server.kill()
        _wait_until_gone(workers)
