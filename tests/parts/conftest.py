"""What the tests of the parts share."""

from functools import partial

import pytest

from ffnviz.analysis import lab
from ffnviz.analysis.lab.fitting import WIDTHS, approximate
from ffnviz.analysis.lab.width import try_width
from ffnviz.parts.block import against_rnn
from ffnviz.parts.dimensions import cost, forms, memory
from ffnviz.parts.lab import fit, summary
from ffnviz.parts.sparsity import keep

SHARES = (1.0, 0.1, 0.01)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer experiments, widths and runs than a page has, where any number of them will do."""
    monkeypatch.setattr(summary, "EXPERIMENTS", lab.EXPERIMENTS[:3])
    monkeypatch.setattr(lab, "EXPERIMENTS", lab.EXPERIMENTS[:3])
    monkeypatch.setattr(keep, "SHARES", SHARES)
    monkeypatch.setattr(keep, "try_width", partial(try_width, shares=SHARES))
    monkeypatch.setattr(fit, "approximate", partial(approximate, widths=WIDTHS[:9]))
    monkeypatch.setattr(forms, "BATCH", 2)
    for module in (against_rnn, cost, forms, memory):
        monkeypatch.setattr(module, "RUNS", 1)
