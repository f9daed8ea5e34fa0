"""Numbers about the server for Prometheus; whichever worker is asked adds up those of all."""

import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ffnviz.jobs.job_pool import JOB_POOL, JobPool
from ffnviz.jobs.run_queue import RUN_QUEUE, RunCounts, RunQueue
from ffnviz.server.streamlit_patches.open_sessions import open_sessions

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's own
EVERY_S = 2.0
ADDRESSES = ("/metrics", "/_stcore/metrics")
FORWARDED = ("x-forwarded-for", "x-real-ip", "forwarded")
PID = re.compile(r"_(\d+)\.db$")


class ServerMetrics:
    """The metrics of this process, written anew every two seconds."""

    def __init__(self, run_queue: RunQueue = RUN_QUEUE, pool: JobPool = JOB_POOL) -> None:
        self.run_queue, self.pool = run_queue, pool
        self.registry = CollectorRegistry()
        self._before = RunCounts(0, 0.0, 0.0, 0)
        self._lock = threading.Lock()
        self.sessions = self._gauge("ffnviz_sessions", "Open pages.")
        self.waiting = self._gauge("ffnviz_page_queue", "Page runs that wait for their turn.")
        self.long_queue = self._gauge("ffnviz_long_queue", "Long computations that wait or run.")
        self.memory = self._gauge("ffnviz_resident_bytes", "Memory of the serving processes.")
        self.pause = self._gauge("ffnviz_typing_pause_ms", "Pause of the sentence box.", "livemax")
        self.runs = self._counter("ffnviz_page_runs", "Page runs that are finished.")
        self.seconds = self._counter("ffnviz_page_run_seconds", "Their seconds.")
        self.waited = self._counter("ffnviz_page_wait_seconds", "Seconds page runs waited.")
        self.overran = self._counter("ffnviz_page_overran", "Page runs longer than their slice.")

    def _gauge(self, name: str, what: str, together: str = "livesum") -> Gauge:
        mode: dict[str, str] = {"multiprocess_mode": together}
        return Gauge(name, what, registry=self.registry, **mode)  # type: ignore[arg-type]

    def _counter(self, name: str, what: str) -> Counter:
        return Counter(name, what, registry=self.registry)

    def write(self) -> None:
        """Write the current values."""
        with self._lock:
            now, before = self.run_queue.counted, self._before
            self.runs.inc(now.runs - before.runs)
            self.seconds.inc(now.seconds - before.seconds)
            self.waited.inc(now.waited - before.waited)
            self.overran.inc(now.overran - before.overran)
            self._before = now
            self.waiting.set(self.run_queue.queue)
            self.pause.set(self.run_queue.pause_ms)
            self.long_queue.set(self.pool.queue)
            self.sessions.set(open_sessions())
            self.memory.set(resident_bytes())

    def text(self) -> bytes:
        """The metrics of all workers together, as Prometheus reads them."""
        self.write()
        folder = os.environ.get(FOLDER)
        if not folder:
            return generate_latest(self.registry)
        remove_exited_workers(Path(folder))
        together = CollectorRegistry()
        MultiProcessCollector(together, folder)  # type: ignore[no-untyped-call]
        return generate_latest(together)

    async def answer(self, _: Request) -> Response:
        """Answer a request for the metrics."""
        return Response(self.text(), media_type=CONTENT_TYPE_LATEST)


@dataclass
class DirectOnly:
    """Hides the numbers, Streamlit's too, from whoever comes through a proxy.

    A proxy before the server, such as an ingress, says for whom it asks; Prometheus asks by itself.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http" and scope["path"] in ADDRESSES:
            headers = Headers(scope=scope)
            if any(name in headers for name in FORWARDED):
                await PlainTextResponse("Not Found", 404)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def remove_exited_workers(folder: Path) -> None:
    """Drop the gauges of workers that have ended; their counters still count."""
    pids = {int(match[1]) for path in folder.glob("*.db") if (match := PID.search(path.name))}
    for pid in pids:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]
        except PermissionError:
            pass  # it lives, and is somebody else's


def resident_bytes() -> int:
    """The resident memory of this process; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
