"""The limits of a pass are those that PyTorch counts and the file of weights has."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.timing.stages import Speed, Work, speed, work
from tests.analysis.networks import small_model


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_the_work_is_all_that_a_pass_multiplies_and_reads(
    tokenizer: Tokenizer, activation: str
) -> None:
    model = small_model(tokenizer, "pre", activation)
    trace = model.trace("The cat sat on the mat.")
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        assert model.encoder(trace.ids).logits.shape[0] == len(trace.tokens)
    parts = work(model, len(trace.tokens))
    assert sum(part.multiply_adds for part in parts) == counter.get_total_flops() // 2
    read = [
        weight.numel() * 4
        for name, weight in model.encoder.state_dict().items()
        if "norm" not in name and "position" not in name
    ]
    assert sum(part.weight_bytes for part in parts) == sum(read)


def test_the_larger_of_both_limits_holds() -> None:
    part = Work("FFN", weight_bytes=4_000_000, multiply_adds=24_000_000)
    assert part.least(Speed(4e9, 48e9)) == pytest.approx(1.0)  # 1 ms to read, half to multiply
    assert part.least(Speed(40e9, 12e9)) == pytest.approx(2.0)


def test_a_machine_reaches_something() -> None:
    told: list[float] = []
    found = speed(torch.device("cpu"), told.append)
    assert found.bytes > 1e8
    assert found.multiply_adds > 1e8
    assert told[-1] == 1
