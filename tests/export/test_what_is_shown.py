"""What `show` and `view` say of what they cannot show."""

import subprocess
import sys
from pathlib import Path

import pytest

from ffnviz.export.notebook import view
from ffnviz.models.encoder.model import load
from ffnviz.models.network import network_of
from ffnviz.models.trace import Trace


def test_what_is_no_trace_of_one_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    trace = load("relu").trace("The cat.")
    with pytest.raises(TypeError, match=r"of joined ones, one of their `traces`"):
        network_of(Trace.cat([trace, trace]))
    with pytest.raises(TypeError, match=r"'The cat.': give the trace of one text"):
        network_of("The cat.")
    trace.save(tmp_path / "it")
    saved = next(tmp_path.iterdir())
    with pytest.raises(ValueError, match="saved or pickled"):
        network_of(Trace.load(saved))


@pytest.mark.parametrize("call", ["show", "view", "view.map", "view.neuron", "view.flow"])
def test_every_way_of_showing_says_it(call: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import ffnviz; ffnviz.{call}('The cat.')"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert "TypeError: trace = 'The cat.': give the trace of one text" in done.stderr


def test_a_view_without_a_kernel_tells_what_stays() -> None:
    pytest.importorskip("anywidget")
    said = repr(view(load("relu").trace("The cat.")))
    assert said.startswith("These pictures live while the kernel runs; those of")
    assert len(said) <= 110  # anywidget cuts a longer one
