"""A server's process: its settings, and what it holds, collects and counts."""

import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from prometheus_client.parser import text_string_to_metric_families
from streamlit import config
from streamlit.web import bootstrap

from ffnviz.jobs.job_pool import JobPool
from ffnviz.jobs.run_queue import RunQueue
from ffnviz.server.idle_collection import AT_LEAST_EVERY_S, QUIET_FOR_S, IdleCollector
from ffnviz.server.metrics import ServerMetrics

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def test_this_streamlit_knows_every_setting_and_those_that_matter_are_in_place() -> None:
    settings = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    known = config.get_config_options(force_reparse=False)
    for section, values in settings.items():
        for key, value in values.items():  # one could vanish, and Streamlit would only log that
            assert f"{section}.{key}" in known or isinstance(value, dict)
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["logger"]["hideWelcomeMessage"], "it asks another host for our address"
    local = {"address": "localhost", "headless": True, "fileWatcherType": "none"}
    assert settings["server"] == local
    assert settings["client"]["showErrorDetails"] == "none", "never a stack trace"
    assert settings["client"]["toolbarMode"] == "viewer", "the menu has a developer's part"
    assert settings["client"]["allowedOrigins"] == []
    assert settings["runner"] == {"postScriptGC": False, "fastReruns": False}


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not for Windows")
def test_the_server_runs_on_uvloop() -> None:
    factory = bootstrap._get_uvloop_loop_factory()
    assert factory is not None
    loop = factory()
    try:
        assert type(loop).__module__.startswith("uvloop")
    finally:
        loop.close()


def test_garbage_is_collected_when_it_is_quiet_and_now_and_then_when_it_never_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, collect = SimpleNamespace(now=1_000.0), Mock()
    monkeypatch.setattr("ffnviz.server.idle_collection.time.monotonic", lambda: clock.now)
    monkeypatch.setattr("ffnviz.jobs.memory.threading.Thread.start", lambda _: None)
    monkeypatch.setattr("ffnviz.jobs.memory.gc.collect", collect)
    collector = IdleCollector()
    clock.now += 100
    assert not collector.collect_if_idle(), "no page has run"
    collector = IdleCollector()
    for n in (1, 2):
        collector.page_ran()
        clock.now += QUIET_FOR_S / 2
        assert not collector.collect_if_idle()
        clock.now += QUIET_FOR_S / 2 + 1
        assert collector.collect_if_idle()
        assert not collector.collect_if_idle()
        assert collect.call_count == n
    collector = IdleCollector()
    for _ in range(int(4 * AT_LEAST_EVERY_S)):
        clock.now += 1.0
        collector.page_ran()
        collector.collect_if_idle()
    assert collect.call_count == 2 + 4


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
    for queue in ("sessions", "page_queue", "long_queue"):
        assert told[f"ffnviz_{queue}"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="workers are for Unix")
def test_workers_are_added_up_and_the_dead_hold_no_memory(tmp_path: Path) -> None:
    """Two processes, one after the other: all their runs count, only the last one's memory."""
    told: list[dict[str, float]] = []
    command = [sys.executable, "-c", ONE]
    variables = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PYTHONPATH": "."}
    for _ in range(2):
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        told.append(values(done.stdout))
    assert [each["ffnviz_page_runs_total"] for each in told] == [3, 6]
    assert told[1]["ffnviz_resident_bytes"] < 1.5 * told[0]["ffnviz_resident_bytes"]


WITHOUT = {"pandas", "pyarrow", "transformers", "huggingface_hub", "ray", "redis"}
VISIT = f"""
import sys
import ffnviz.cli
import ffnviz.models.external.opening
from streamlit.testing.v1 import AppTest
from ffnviz.server.streamlit_patches import apply_patches
from ffnviz.models.config import TOP
apply_patches()
page = AppTest.from_file(str(TOP / "app.py"), default_timeout=120).run()
assert not page.exception
print(*sys.modules.keys() & {WITHOUT})
"""


WORK = """
import sys
import torch
from ffnviz.analysis.timing.memory import peak_of
from ffnviz.analysis.gradients import vector_jacobian
from ffnviz.models.torch_shortcuts import Adam, AdamW

for kind in (Adam, AdamW):
    layer = torch.nn.Linear(2, 2)
    optimizer = kind(layer.parameters())
    layer(torch.ones(2)).sum().backward()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    optimizer.load_state_dict(optimizer.state_dict())
x = torch.ones(2, requires_grad=True)
vector_jacobian(torch.ones(2), layer(x), [x])
assert peak_of(lambda: layer(x), []) > 0
print(*{"sympy", "torch._dynamo"} & sys.modules.keys())
"""


def test_no_process_loads_a_library_that_it_does_not_use() -> None:
    """Of these pandas and pyarrow alone hold 65 MB."""
    for program in (VISIT, WORK):
        command = [sys.executable, "-c", program]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ran.stdout.split() == []
