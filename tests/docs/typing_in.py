"""`ffnviz …` as a shell starts it, but in a process that has imported PyTorch already."""

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload([
    __name__, "tests.docs.preloaded", "ffnviz.app.main", "ffnviz.cli.index",
    "ffnviz.models.external.opening",
    "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto",
    "transformers.models.gpt2.modeling_gpt2",
])  # fmt: skip


def typed(
    words: Sequence[str], place: Path, variables: Mapping[str, str], output: Path
) -> BaseProcess:
    """A process that runs the command in a folder, and writes what it prints to a file.

    `app` ends where it would begin to serve: all is opened and checked by then.
    """
    given = (tuple(words), place, dict(variables), output)
    process = FORK.Process(target=_run, args=given)
    process.start()
    return process


def _run(words: tuple[str, ...], place: Path, variables: dict[str, str], output: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(written, 1)
    os.dup2(written, 2)
    sys.stdin = os.fdopen(0)  # multiprocessing has put another in its place
    os.chdir(place)
    os.environ.update(variables)
    sys.argv = ["ffnviz", *words]
    modules = ("ffnviz.analysis.lab", "ffnviz.cli.timing", "ffnviz.cli.app")
    lab, timing, app = map(import_module, modules)
    nothing = SimpleNamespace(run=lambda **_: None)
    with (
        patch.object(lab, "EXPERIMENTS", lab.EXPERIMENTS[:3]),
        patch.object(timing, "GROWTH_RUNS", 1),
        patch.object(app, "application", lambda _: nothing),
        patch.object(app, "serve_with", lambda *_: None),
        patch.dict("ffnviz.jobs.indexing.files.SECONDS", soon=1),
    ):
        runpy.run_module("ffnviz", run_name="__main__", alter_sys=True)
