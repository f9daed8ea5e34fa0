"""A gated FFN on a sentence, against PyTorch's own GLU and the signs that each φ can have."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from ffnviz.analysis.lab.zoo import NEAR, through_gate
from ffnviz.models.activations import ACTIVATIONS
from tests.analysis.lab.broken import subject

GATES = [name for name, each in ACTIVATIONS.items() if each.gated]


def test_glu_is_pytorchs(model_folder: Path) -> None:
    found = through_gate(subject(model_folder), "glu")
    value, gate = torch.from_numpy(found.value), torch.from_numpy(found.gate)
    torch.testing.assert_close(
        torch.from_numpy(found.hidden), F.glu(torch.cat([value, gate]), dim=0)
    )


@pytest.mark.parametrize("name", GATES)
def test_what_a_gate_closes_and_turns_is_what_its_phi_does_below_zero(
    model_folder: Path, name: str
) -> None:
    found = through_gate(subject(model_folder), name)
    below = float((found.gate < 0).mean())
    assert 0 < below < 1
    assert found.closed == (below if name == "reglu" else 0)
    assert found.turned == (below if name in ("geglu", "swiglu") else 0)
    assert found.near_zero == np.mean(np.abs(found.hidden) <= NEAR)


def test_all_gates_have_the_same_weights_and_the_token_decides(model_folder: Path) -> None:
    tried = subject(model_folder)
    first, second = (through_gate(tried, name) for name in ("glu", "swiglu"))
    np.testing.assert_array_equal(first.gate, second.gate)
    np.testing.assert_array_equal(first.value, second.value)
    other = through_gate(type(tried)(**{**vars(tried), "token": 0}), "glu")
    assert not np.array_equal(other.gate, first.gate)
