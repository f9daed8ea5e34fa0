"""What is timed is the pass itself; medians, counts and convolutions are right."""

import itertools
from collections.abc import Callable

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from ffnviz.analysis import measuring as spread_module
from ffnviz.analysis.measuring import Spread, in_turn
from ffnviz.analysis.timing.growth import (
    LENGTHS,
    WIDTHS,
    as_convolution,
    grow_with_length,
    grow_with_width,
)
from ffnviz.analysis.timing.stages import stages, time_stages
from ffnviz.analysis.timing.throughput import throughput
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."


@pytest.fixture(params=["pre", "post"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, request.param)


def test_every_stage_gives_what_the_trace_recorded(model: Model) -> None:
    trace = model.trace(TEXT)
    with torch.inference_mode():
        found = {stage.name: stage.run() for stage in stages(model, trace)}
    assert found.pop("tokenise").ids == trace.ids.tolist()  # type: ignore[attr-defined]
    expected = {"embed": trace.embedding, "output": trace.logits}
    for number, block in enumerate(trace.blocks, start=1):
        post = model.encoder.config.norm == "post"
        summed = block.input + block.attention.output
        expected |= {
            f"block {number} norm 1": block.middle if post else block.attention.input,
            f"block {number} attention": block.attention.output,
            f"block {number} add 1": summed,
            f"block {number} norm 2": block.output if post else block.ffn.input,
            f"block {number} expand": block.ffn.pre_activation,
            f"block {number} φ": block.ffn.hidden,
            f"block {number} compress": block.ffn.output,
            f"block {number} add 2": block.middle + block.ffn.output,
        }
    if model.encoder.config.norm == "pre":
        expected["final norm"] = trace.final
    assert found.keys() == expected.keys()
    for name, value in found.items():
        value = getattr(value, "output", value)
        torch.testing.assert_close(value, expected[name], rtol=1e-5, atol=1e-6)


def test_stages_are_all_timed_with_the_whole(model: Model) -> None:
    trace = model.trace(TEXT)
    told: list[float] = []
    found = time_stages(model, trace, repeats=3, progress=told.append)
    assert list(found.times) == [stage.name for stage in stages(model, trace)]
    assert found.kinds.keys() == found.times.keys()
    assert all(spread.repeats == 3 and spread.median > 0 for spread in found.times.values())
    assert found.total == pytest.approx(sum(s.median for s in found.times.values()))
    assert told == sorted(told)
    assert told[-1] == 1


def test_medians_and_quartiles_of_a_known_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(1)

    def clock(work: Callable[[], object], _: torch.device) -> float:
        work()
        return float(next(ticks))

    monkeypatch.setattr(spread_module, "milliseconds", clock)
    order: list[str] = []
    found = in_turn(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=4, warm_up=1
    )
    assert "".join(order) == "abbaabbaab"
    # After the first round: b 3, a 4, a 5, b 6, b 7, a 8, a 9, b 10.
    assert (found["a"].median, found["b"].median) == (6.5, 6.5)
    assert (found["a"].least, found["b"].least) == (4, 3)
    assert Spread.of([1, 2, 3, 4, 5]) == Spread(3, 2, 4, 1, 5)


def test_the_products_count_what_the_flop_counter_counts(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    trace = model.trace(TEXT)
    found = throughput(model, trace, 1, repeats=2)
    block, record = model.encoder.blocks[1], trace.blocks[1]
    for run, names in (
        (lambda: block.attention(record.attention.input),
         ("W_Q, W_K, W_V", "scores and mixing", "W_O")),
        (lambda: block.ffn(record.ffn.input), ("W₁ (expand)", "W₂ (compress)")),
        (lambda: model.encoder.unembed(trace.final), ("output",)),
    ):  # fmt: skip
        with FlopCounterMode(display=False) as counter:
            run()
        counted = sum(p.multiply_adds for p in found.products if p.name in names)
        assert counted == counter.get_total_flops() // 2
    assert found.best.multiply_adds == 1_024**3
    assert found.best_per_second > 0
    product = found.products[0]
    rate = product.multiply_adds / product.time.median * 1_000
    assert product.per_second == pytest.approx(rate, rel=1e-12)


def test_growth_has_a_time_for_every_size_and_batch(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    length, width = grow_with_length(model, 0, 2), grow_with_width(model, 2)
    assert length.sizes == LENGTHS
    assert set(length.times) == {"FFN, batch 1", "FFN, batch 32", "attention, batch 1",
                                 "attention, batch 32"}  # fmt: skip
    assert width.sizes == WIDTHS
    for grown in (length, width):
        for spreads in grown.times.values():
            assert len(spreads) == len(grown.sizes)
            assert all(spread.repeats == 2 for spread in spreads)


def test_the_convolution_is_the_ffn(model: Model) -> None:
    trace = model.trace(TEXT)
    found = as_convolution(model, trace, 2, repeats=2)
    assert found.largest == pytest.approx(float(trace.blocks[2].ffn.output.abs().max()), rel=1e-5)
    assert found.difference <= 1e-5 * found.largest


def test_a_convolution_with_other_weights_is_found_out(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = model.trace(TEXT)
    monkeypatch.setattr(torch.nn.Conv1d, "forward", lambda self, x: 2 * self._conv_forward(
        x, self.weight, self.bias))  # fmt: skip
    assert as_convolution(model, trace, 0, repeats=1).difference > 1e-2
