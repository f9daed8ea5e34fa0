"""Metrics: what Prometheus reads, from one process and from several."""

import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ffnviz.jobs.job_pool import JobPool
from ffnviz.jobs.run_queue import RunQueue
from ffnviz.server.metrics import ServerMetrics

ONE = """
from ffnviz.jobs.job_pool import JobPool
from ffnviz.server.metrics import ServerMetrics
from ffnviz.jobs.run_queue import RunQueue
run_queue = RunQueue()
for _ in range(3):
    run_queue.end(run_queue.wait())
print(ServerMetrics(run_queue, JobPool()).text().decode())
"""


def values(text: str) -> dict[str, float]:
    families = text_string_to_metric_families(text)
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_runs_and_queues_are_told() -> None:
    run_queue = RunQueue()
    numbers = ServerMetrics(run_queue, JobPool())
    run_queue.end(run_queue.wait())
    inside = run_queue.wait()
    told = values(numbers.text().decode())
    assert told["ffnviz_page_runs_total"] == 1
    run_queue.end(inside)
    told = values(numbers.text().decode())
    assert told["ffnviz_page_runs_total"] == 2
    assert told["ffnviz_page_run_seconds_total"] > 0
    assert (told["ffnviz_sessions"], told["ffnviz_page_queue"], told["ffnviz_long_queue"]) == (
        0,
        0,
        0,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="workers are for Unix")
def test_workers_are_added_up_and_the_dead_hold_no_memory(tmp_path: Path) -> None:
    """Three processes, one after the other: all their runs count, only the last one's memory."""
    told: list[dict[str, float]] = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", ONE],
            env={"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(values(done.stdout))
    assert [each["ffnviz_page_runs_total"] for each in told] == [3, 6, 9]
    assert told[2]["ffnviz_resident_bytes"] < 1.5 * told[0]["ffnviz_resident_bytes"]
