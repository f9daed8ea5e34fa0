"""Who hears whom, a few outputs at a time: the same numbers in little memory, and easy to stop."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from ffnviz.analysis import gradients as shares_module
from ffnviz.analysis.gradients import ROWS, input_slopes
from ffnviz.analysis.lab.influence import LONGEST_MAP, input_influence
from tests.analysis.lab.broken import subject


@pytest.mark.parametrize("rows", [1, 24, 60])
def test_pieces_give_what_all_outputs_at_once_give(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    tried = subject(model_folder)
    monkeypatch.setattr(shares_module, "ROWS", 10_000)
    whole = input_influence(tried, 12, 2)
    monkeypatch.setattr(shares_module, "ROWS", rows)
    pieces = input_influence(tried, 12, 2)
    for one, other in zip(whole.maps, pieces.maps, strict=True):
        np.testing.assert_allclose(other.share, one.share, atol=1e-6, err_msg=one.name)
        np.testing.assert_array_equal(other.share > 0, one.share > 0, err_msg=one.name)
    np.testing.assert_allclose(pieces.memory, whole.memory, atol=1e-6)


def test_a_layer_never_gets_more_tokens_than_it_may_hold() -> None:
    seen: list[torch.Size] = []

    def layer(v: Tensor) -> Tensor:
        seen.append(v.shape)
        return 2 * v

    told: list[float] = []
    slopes = input_slopes(layer, torch.ones(LONGEST_MAP, 5), told.append)
    assert max(copies * n for copies, n, _ in seen) <= ROWS
    assert sum(copies for copies, _, _ in seen) == LONGEST_MAP
    np.testing.assert_array_equal(slopes > 0, np.eye(LONGEST_MAP, dtype=bool))
    assert len(told) > len(seen) > 1
    assert told == sorted(told)
    assert told[-1] == 1


def test_whoever_is_told_the_progress_can_stop_it(model_folder: Path) -> None:
    told: list[float] = []

    def close_the_tab(share: float) -> None:
        told.append(share)
        raise ConnectionError("the tab was closed")

    with pytest.raises(ConnectionError):
        input_influence(subject(model_folder), progress=close_the_tab)
    assert len(told) == 1
    assert told[0] < 0.1
