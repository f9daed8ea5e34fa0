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
    words: Sequence[str], place: Path, variables: Mapping[str, str], output: Path, serves: bool
) -> BaseProcess:
    """A process that runs the command in a folder, and writes what it prints to a file.

    An `app` that does not serve ends where it would begin to: all is opened and checked by then.
    """
    given = (tuple(words), place, dict(variables), output, serves)
    process = FORK.Process(target=_run, args=given)
    process.start()
    return process


def _run(
    words: tuple[str, ...], place: Path, variables: dict[str, str], output: Path, serves: bool
) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(written, 1)
    os.dup2(written, 2)
    sys.stdin = os.fdopen(0)  # multiprocessing has put another in its place
    os.chdir(place)
    os.environ.update(variables)
    sys.argv = ["ffnviz", *words]
    lab, timing, app = map(
        import_module, ("ffnviz.analysis.lab", "ffnviz.cli.timing", "ffnviz.cli.app")
    )
    nothing = SimpleNamespace(run=lambda **_: None)
    with (
        patch.object(lab, "EXPERIMENTS", lab.EXPERIMENTS[:3]),
        patch.object(timing, "GROWTH_RUNS", 1),
        patch.object(app, "application", app.application if serves else lambda _: nothing),
        patch.object(app, "serve_with", app.serve_with if serves else lambda *_: None),
    ):
        runpy.run_module("ffnviz", run_name="__main__", alter_sys=True)
