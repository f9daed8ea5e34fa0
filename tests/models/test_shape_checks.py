"""The import hook of tests/conftest.py is at work: a wrong shape or type cannot pass unseen."""

import pytest
import torch
from jaxtyping import TypeCheckError

from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, feed_forward


def test_a_record_whose_stages_do_not_fit_together_is_refused() -> None:
    x, wide, wider = torch.zeros(3, 4), torch.zeros(3, 8), torch.zeros(3, 9)
    with pytest.raises(TypeCheckError, match="hidden"):
        FeedForwardRecord(x, wide, wider, x)


def test_an_ffn_input_without_a_token_axis_is_refused() -> None:
    with pytest.raises(TypeCheckError, match="d_model"):
        feed_forward(4, 8, "relu")(torch.zeros(4))


def test_ids_that_are_not_whole_numbers_are_refused(tiny_encoder: Encoder) -> None:
    with pytest.raises(TypeCheckError, match="ids"):
        tiny_encoder(torch.zeros(3))
