"""Trainings of several processes take turns at the cores."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ffnviz.jobs.learning import training_core
from ffnviz.models.config import config, use

LATER_S = 20.0
HOLDS = """
import sys, time
from dataclasses import replace
from pathlib import Path
from ffnviz.jobs.learning import training_core
from ffnviz.models.config import config, use
import os
os.cpu_count = lambda: 1
use(replace(config(), learned=Path(sys.argv[1])))
with training_core(time.monotonic() + 20):
    print("trains", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(replace(config(), learned=tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    return tmp_path


def test_a_training_waits_for_that_of_another_process_and_begins_when_it_dies(
    one_core: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(one_core)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "trains\n"
        began = time.monotonic()
        with training_core(began + 0.5):
            assert time.monotonic() - began >= 0.5  # it has waited as long as it may
        other.kill()
        other.wait()
    began = time.monotonic()
    with training_core(began + LATER_S):
        assert time.monotonic() - began < LATER_S


def test_as_many_train_at_once_as_there_are_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(replace(config(), learned=tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    until = time.monotonic() + 0.5
    with training_core(until), training_core(until):
        assert time.monotonic() < until
        with training_core(until):
            assert time.monotonic() >= until
