"""What is said of a training record follows from the record."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ffnviz.analysis.sparsity import record_of
from ffnviz.models.encoder.model import load
from ffnviz.parts.sparsity.awake import _sentence
from ffnviz.pictures.wording import as_text


@pytest.mark.parametrize(("shares", "rises"), [((0.5, 0.06, 0.07), True), ((0.5, 0.3, 0.2), False)])
def test_a_share_that_rises_again_is_said_to_have_been_lower(
    shares: tuple[float, ...], rises: bool
) -> None:
    record = replace(
        record_of(load("relu")),
        tokens=np.array([0, 4_400_000, 20_000_000]),
        above_zero=np.array(shares)[:, None],
    )
    run = SimpleNamespace(state=SimpleNamespace(block=0), card=SimpleNamespace(label="ReLU"))
    told = _sentence(record, run)  # type: ignore[arg-type]
    sentence = as_text(told)
    assert ("the least was 6.0%, at 4.4 million" in sentence) is rises
    assert sentence.endswith(". Nothing in the loss asks for this.")
